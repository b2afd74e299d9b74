import { type Connector, type Operation, placeOf, type ValueSchema } from '../../domain/connector/connector.ts'
import { fittedTo, isSet, valueFaults } from '../../domain/connector/value-faults.ts'
import { valueAt } from '../../domain/pagination/value-path.ts'
import { isObject } from '../../domain/run/input.ts'
import { asText } from '../../domain/workflow/reference.ts'
import { BlockError } from '../../engine/block.ts'
import type { ApiCall } from '../api/call.ts'
import { filledTemplate } from './body-template.ts'
import { type EncodeContext, encodedValue } from './encode.ts'

/** How an operation is called, apart from its parameters. */
export type CallSettings = Pick<ApiCall, 'timeoutMs' | 'retries'> & {
  credential: string
  /** The fields of the credential, which a base URL may name. */
  fields: Readonly<Record<string, unknown>>
  limits: { maxPages?: number; maxItems?: number }
}

type Pair = { key: string; value: unknown }
type Parts = { pathParams: Record<string, unknown>; params: Pair[]; headers: Pair[]; body: Map<string, unknown> }

/**
 * The call of the API block that an operation describes. Throws `BlockError` when the parameters do not fit the
 * operation.
 */
export async function callOf(
  connector: Connector,
  operation: Operation,
  given: Readonly<Record<string, unknown>>,
  settings: CallSettings,
  context: EncodeContext,
): Promise<ApiCall> {
  const { timeoutMs, retries, credential, fields, limits } = settings
  const { parts, values } = await partsOf(operation, given, timeoutMs, context)
  const { pagination, expect, method, path, headers = {} } = operation
  const written = Object.entries(headers).map(([key, value]) => ({ key, value }))
  return {
    ...{ url: baseUrlOf(connector, fields, credential) + path, method, timeoutMs, retries, credential },
    ...{ params: parts.params, headers: [...written, ...parts.headers], pathParams: parts.pathParams },
    ...bodyOf(operation, parts.body, values),
    ...(pagination ? { pagination: { ...pagination, ...limits } } : {}),
    ...(expect ? { expect } : {}),
    ...{ responseType: 'auto' as const, followRedirects: 5 },
    judge: (data, status) => problemIn(operation, data, status),
  }
}

async function partsOf(
  operation: Operation,
  given: Readonly<Record<string, unknown>>,
  timeoutMs: number,
  context: EncodeContext,
): Promise<{ parts: Parts; values: ReadonlyMap<string, unknown> }> {
  const schema = operation.parameters ?? { properties: {} }
  const complete: Record<string, unknown> = { ...given }
  for (const [name, { default: usual, const: fixed }] of Object.entries(schema.properties)) {
    if (fixed !== undefined) complete[name] = fixed
    else if (!isSet(complete[name]) && usual !== undefined) complete[name] = usual
  }
  const [fault] = valueFaults({ ...schema, type: 'object', additionalProperties: false }, complete)
  if (fault) throw new BlockError('INVALID_PARAMETER', `The parameter ${fault.path} ${fault.message}.`)
  const fitted = fittedTo({ ...schema, type: 'object' }, complete) as Record<string, unknown>
  const parts: Parts = { pathParams: {}, params: [], headers: [], body: new Map() }
  const values = new Map<string, unknown>()
  for (const [name, property] of Object.entries(schema.properties)) {
    if (!Object.hasOwn(fitted, name) || !isSet(fitted[name])) continue
    const value = await encodedValue(name, property, fitted[name], context, timeoutMs)
    values.set(name, value)
    place(name, property, value, operation, parts)
  }
  return { parts, values }
}

function place(name: string, schema: ValueSchema, value: unknown, operation: Operation, parts: Parts): void {
  const key = schema.name ?? name
  switch (placeOf(name, schema, operation)) {
    case 'path':
      parts.pathParams[name] = value
      break
    case 'query':
      parts.params.push(...queryPairs(key, value))
      break
    case 'header':
      parts.headers.push({ key, value })
      break
    case 'body':
      parts.body.set(key, value)
      break
  }
}

/** A list repeats its parameter, and the members of an object are parameters of their own. */
function queryPairs(key: string, value: unknown): Pair[] {
  if (Array.isArray(value)) return value.map((each: unknown) => ({ key, value: each }))
  if (isObject(value)) return Object.entries(value).flatMap(([name, each]) => queryPairs(name, each))
  return [{ key, value }]
}

function bodyOf(
  { method, body: type = 'json', bodyTemplate }: Operation,
  members: ReadonlyMap<string, unknown>,
  values: ReadonlyMap<string, unknown>,
): Pick<ApiCall, 'bodyType' | 'body' | 'file'> {
  if (method === 'GET' || method === 'DELETE') return { bodyType: 'json' }
  if (bodyTemplate !== undefined) return { bodyType: 'json', body: filledTemplate(bodyTemplate, values) }
  if (type === 'raw') {
    const [value] = [...members.values()]
    const isFile = isObject(value) && typeof value['url'] === 'string'
    return isFile ? { bodyType: 'file', file: value } : { bodyType: 'text', body: value }
  }
  if (type === 'multipart') return { bodyType: 'multipart', body: [...members].flatMap(formEntries) }
  if (type === 'form') return { bodyType: 'form', body: [...members].flatMap(([key, value]) => formPairs(key, value)) }
  return { bodyType: 'json', body: Object.fromEntries(members) }
}

/** The members of an object are `key[member]`. A list of plain values repeats its key. */
function formPairs(key: string, value: unknown): Pair[] {
  if (isObject(value)) return Object.entries(value).flatMap(([name, each]) => formPairs(`${key}[${name}]`, each))
  if (!Array.isArray(value)) return [{ key, value }]
  return value.flatMap((each: unknown, index) => formPairs(isObject(each) ? `${key}[${index}]` : key, each))
}

function formEntries([key, value]: [string, unknown]): object[] {
  if (Array.isArray(value)) return value.flatMap((each: unknown) => formEntries([key, each]))
  const isFile = isObject(value) && typeof value['url'] === 'string'
  return [isFile ? { key, file: value } : { key, value }]
}

/** The base URL with the fields of the credential. Throws `BlockError`. */
function baseUrlOf(
  { baseUrl, name }: Connector,
  fields: Readonly<Record<string, unknown>>,
  credential: string,
): string {
  const filled = baseUrl.replaceAll(/\{(\w+)\}/g, (_, field: string) => {
    const value = fields[field]
    if (typeof value === 'string' && value !== '') return value.trim()
    const message =
      credential === ''
        ? `${name} runs at an address of its own: choose a credential that has it in the field ${field}.`
        : `The credential "${credential}" has no field ${field}, which ${name} needs in its address.`
    throw new BlockError('INVALID_PARAMETER', message)
  })
  return filled.replace(/\/+$/, '')
}

/** The failure in a response, according to the operation's error rule; undefined when there is none. */
function problemIn({ error: rule }: Operation, data: unknown, status: number): string | undefined {
  const said = rule?.message === undefined ? '' : asText(valueAt(data, rule.message))
  if (status >= 400) return said
  if (!rule) return undefined
  const isFailure =
    rule.exists === undefined
      ? rule.when !== undefined && valueAt(data, rule.when) === rule.is
      : isPresent(valueAt(data, rule.exists))
  return isFailure ? said || 'the response says that the request failed' : undefined
}

function isPresent(value: unknown): boolean {
  return isSet(value) && value !== false && !(Array.isArray(value) && value.length === 0)
}
