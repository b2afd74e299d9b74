/** A place in a JSON schema (`properties.city.type`; empty: the whole) and what cannot be meant there. */
export type SchemaFault = { path: string; message: string }

/**
 * What is certainly wrong with a JSON schema, whichever draft it follows: a type that there is not, members that are no
 * schemas. A schema with such a fault would fit nothing, or hold a model to nothing.
 */
export function schemaFaults(schema: unknown): SchemaFault[] {
  const faults: SchemaFault[] = []
  const waiting: { path: string; schema: unknown }[] = [{ path: '', schema }]
  for (let at = waiting.pop(); at && faults.length < faultsMax; at = waiting.pop()) {
    if (typeof at.schema === 'boolean' && at.path !== '') continue
    if (!isRecord(at.schema)) {
      faults.push({ path: at.path, message: 'A schema is a JSON object.' })
      continue
    }
    for (const [keyword, value] of Object.entries(at.schema)) {
      const path = at.path === '' ? keyword : `${at.path}.${keyword}`
      const inner = innerSchemas(keyword, value)
      if (typeof inner === 'string') faults.push({ path, message: inner })
      else
        for (const [name, each] of inner) waiting.push({ path: name === '' ? path : `${path}.${name}`, schema: each })
    }
  }
  return faults
}

/** Findings beyond this number tell nobody more. */
const faultsMax = 20

const typeNames = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']
const ofSchemas = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])
const oneSchema = new Set(['additionalProperties', 'not', 'if', 'then', 'else', 'contains', 'propertyNames'])
const listOfSchemas = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems'])
const counts = new Set(['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'])

/** The schemas in a keyword's value, with where they stand; or what is wrong with it. */
function innerSchemas(keyword: string, value: unknown): string | (readonly [name: string, schema: unknown])[] {
  if (ofSchemas.has(keyword)) {
    return isRecord(value) ? Object.entries(value) : `"${keyword}" is an object that has a schema for each name.`
  }
  if (oneSchema.has(keyword)) return [['', value]]
  if (keyword === 'items') return Array.isArray(value) ? numbered(value) : [['', value]]
  if (listOfSchemas.has(keyword)) {
    return Array.isArray(value) && value.length > 0 ? numbered(value) : `"${keyword}" is a list of schemas.`
  }
  return complaint(keyword, value) ?? []
}

function complaint(keyword: string, value: unknown): string | undefined {
  if (keyword === 'type') {
    const unknown = (Array.isArray(value) ? value : [value]).find((name) => !typeNames.includes(name as string))
    return unknown === undefined ? undefined : `There is no type ${JSON.stringify(unknown)}: ${typeNames.join(', ')}.`
  }
  if (keyword === 'required') {
    const isList = Array.isArray(value) && value.every((name) => typeof name === 'string')
    return isList ? undefined : '"required" is a list of names.'
  }
  if (keyword === 'enum') return Array.isArray(value) ? undefined : '"enum" is a list of values.'
  if (counts.has(keyword)) {
    return Number.isInteger(value) && (value as number) >= 0 ? undefined : `"${keyword}" is a number of 0 or more.`
  }
  return undefined
}

function numbered(list: readonly unknown[]): (readonly [string, unknown])[] {
  return list.map((each, index) => [String(index), each] as const)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
