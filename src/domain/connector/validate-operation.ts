import type { ErrorDetail } from '../errors.ts'
import { isObject } from '../run/input.ts'
import { connectorBounds } from './bounds.ts'
import { type Connector, type Operation, parameterEncodings, parameterPlaces, placeOf } from './connector.ts'

/** Everything that is wrong with an operation; `path` from the operation on. */
export function operationFaults(operation: Operation, connector: Connector): ErrorDetail[] {
  const properties = isObject(operation.parameters) ? operation.parameters['properties'] : {}
  const parameters = operation.parameters
  if (parameters !== undefined && (!isObject(parameters) || !isObject(properties ?? {}))) {
    return [{ path: 'parameters', message: 'parameters must be the JSON Schema of an object, with its properties.' }]
  }
  const names = Object.keys(properties ?? {})
  if (names.length > connectorBounds.parametersMax) {
    const message = `An operation has at most ${connectorBounds.parametersMax} parameters, not ${names.length}.`
    return [{ path: 'parameters.properties', message }]
  }
  const schemas = [
    ...(parameters === undefined ? [] : schemaFaults(parameters, 'parameters', 1)),
    ...(operation.output === undefined ? [] : schemaFaults(operation.output, 'output', 1)),
  ]
  if (schemas.length > 0) return schemas
  return [
    ...pathFaults(operation),
    ...bodyFaults(operation),
    ...ruleFaults(operation),
    ...choiceFaults(operation, connector),
    ...headerFaults(operation),
    ...requiredFaults(operation, names),
  ]
}

const types = new Set(['string', 'integer', 'number', 'boolean', 'array', 'object'])
const keywords = new Set([
  ...['type', 'title', 'description', 'enum', 'const', 'default', 'examples', 'format', 'items', 'properties'],
  ...['required', 'additionalProperties', 'minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems'],
  ...['in', 'encode', 'join', 'name'],
])

/** The faults of a schema of a parameter or a result. A keyword that the service would ignore is a fault. */
function schemaFaults(schema: unknown, path: string, level: number): ErrorDetail[] {
  if (!isObject(schema)) return [{ path, message: 'must be a JSON Schema.' }]
  if (level > connectorBounds.depthMax) {
    return [{ path, message: `The schema has more than ${connectorBounds.depthMax} levels.` }]
  }
  const faults: ErrorDetail[] = []
  const complain = (name: string, message: string) => void faults.push({ path: `${path}.${name}`, message })
  const unknown = Object.keys(schema).find((keyword) => !keywords.has(keyword))
  if (unknown !== undefined) complain(unknown.slice(0, 100), 'is a keyword that connectors do not have.')
  const { type, enum: choices, items, properties, additionalProperties: more, required } = schema
  if (type !== undefined && !types.has(type as string)) complain('type', `must be one of ${[...types].join(', ')}.`)
  if (choices !== undefined && (!Array.isArray(choices) || choices.length === 0 || choices.length > 1_000)) {
    complain('enum', 'must be a list of 1 to 1,000 values.')
  }
  if (required !== undefined && !isTexts(required)) complain('required', 'must be a list of names.')
  for (const name of ['title', 'description', 'format', 'join', 'name']) {
    if (schema[name] !== undefined && typeof schema[name] !== 'string') complain(name, 'must be a text.')
  }
  for (const name of ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems']) {
    if (schema[name] !== undefined && typeof schema[name] !== 'number') complain(name, 'must be a number.')
  }
  complainUnlessOneOf('in', schema['in'], parameterPlaces)
  complainUnlessOneOf('encode', schema['encode'], parameterEncodings)
  if (items !== undefined) faults.push(...schemaFaults(items, `${path}.items`, level + 1))
  if (properties !== undefined && !isObject(properties)) complain('properties', 'must be an object of schemas.')
  for (const [name, member] of Object.entries(isObject(properties) ? properties : {})) {
    if (faults.length >= 20) break
    faults.push(...schemaFaults(member, `${path}.properties.${name.slice(0, 100)}`, level + 1))
  }
  if (more !== undefined && typeof more !== 'boolean') {
    faults.push(...schemaFaults(more, `${path}.additionalProperties`, level + 1))
  }
  return faults

  function complainUnlessOneOf(name: string, value: unknown, allowed: readonly string[]) {
    if (value !== undefined && !allowed.includes(value as string))
      complain(name, `must be one of ${allowed.join(', ')}.`)
  }
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}

function pathFaults(operation: Operation): ErrorDetail[] {
  const { path, parameters } = operation
  const faults: ErrorDetail[] = []
  if (path !== '' && !path.startsWith('/')) faults.push({ path: 'path', message: 'path must begin with /.' })
  if (/[?#\s]/.test(path)) faults.push({ path: 'path', message: 'path must have no query, no # and no spaces.' })
  for (const [name, schema] of Object.entries(parameters?.properties ?? {})) {
    if (placeOf(name, schema, operation) !== 'path' || path.includes(`{${name}}`)) continue
    faults.push({ path: `parameters.properties.${name}`, message: `The path has no {${name}} for this parameter.` })
  }
  return faults
}

function bodyFaults(operation: Operation): ErrorDetail[] {
  const { method, body, bodyTemplate, parameters } = operation
  const hasNone = method === 'GET' || method === 'DELETE'
  const inBody = Object.entries(parameters?.properties ?? {}).filter(
    ([name, schema]) => placeOf(name, schema, operation) === 'body',
  )
  if (hasNone && (body !== undefined || bodyTemplate !== undefined || inBody.length > 0)) {
    return [{ path: 'method', message: `A ${method} request has no body: use in: query for its parameters.` }]
  }
  if (body === 'raw' && inBody.length > 1) {
    return [{ path: 'body', message: 'A raw body is the value of one parameter, but several are in the body.' }]
  }
  if (bodyTemplate === undefined) return []
  if (body !== undefined && body !== 'json') return [{ path: 'body', message: 'A bodyTemplate is JSON.' }]
  const known = parameters?.properties ?? {}
  return paramsIn(bodyTemplate)
    .filter((name) => !Object.hasOwn(known, name))
    .map((name) => ({ path: 'bodyTemplate', message: `There is no parameter "${name.slice(0, 100)}".` }))
}

/** The parameters that a body template names. */
function paramsIn(template: unknown): string[] {
  if (Array.isArray(template)) return template.flatMap(paramsIn)
  if (!isObject(template)) return []
  const { $param: name } = template
  return typeof name === 'string' ? [name] : Object.values(template).flatMap(paramsIn)
}

function ruleFaults({ error }: Operation): ErrorDetail[] {
  if (!error) return []
  const hasOne =
    (error.when !== undefined) !== (error.exists !== undefined) && ('is' in error || error.when === undefined)
  if (hasOne || (error.when === undefined && error.exists === undefined && error.message !== undefined)) return []
  const message = 'An error rule has when and is, or exists, or only message.'
  return [{ path: 'error', message }]
}

function choiceFaults({ choices = {}, parameters }: Operation, connector: Connector): ErrorDetail[] {
  return Object.entries(choices).flatMap(([name, { operation }]) => {
    const faults: ErrorDetail[] = []
    if (!Object.hasOwn(parameters?.properties ?? {}, name)) {
      faults.push({ path: `choices.${name.slice(0, 100)}`, message: 'There is no parameter of this name.' })
    }
    if (!Object.hasOwn(connector.operations, operation)) {
      const message = `The connector has no operation "${operation.slice(0, 100)}".`
      faults.push({ path: `choices.${name.slice(0, 100)}.operation`, message })
    }
    return faults
  })
}

function headerFaults({ headers = {} }: Operation): ErrorDetail[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    const isSendable = /^[!#$%&'*+.^_`|~0-9A-Za-z-]{1,100}$/.test(name) && !/[\r\n\0]/.test(value)
    return isSendable ? [] : [{ path: `headers.${name.slice(0, 100)}`, message: 'HTTP cannot send this header.' }]
  })
}

function requiredFaults({ parameters }: Operation, names: readonly string[]): ErrorDetail[] {
  const absent = (parameters?.required ?? []).find((name) => !names.includes(name))
  if (absent === undefined) return []
  return [{ path: 'parameters.required', message: `There is no parameter "${absent.slice(0, 100)}".` }]
}
