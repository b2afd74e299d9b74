/** An error in a JSON schema. `path` is like `properties.city.type`; empty for the schema itself. */
export type SchemaFault = { path: string; message: string }

/**
 * Finds errors that every draft of JSON Schema would reject: unknown types, and members that are not schemas. A schema
 * with such an error would match no value, or would not constrain a model at all.
 */
export function schemaFaults(schema: unknown): SchemaFault[] {
  const faults: SchemaFault[] = []
  const waiting: { path: string; schema: unknown }[] = [{ path: '', schema }]
  for (let at = waiting.pop(); at && faults.length < faultsMax; at = waiting.pop()) {
    if (typeof at.schema === 'boolean' && at.path !== '') continue
    if (!isRecord(at.schema)) {
      faults.push({ path: at.path, message: 'A schema must be a JSON object.' })
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

/** More findings than this do not help the reader. */
const faultsMax = 20

const typeNames = ['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']
const ofSchemas = new Set(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'])
const oneSchema = new Set(['additionalProperties', 'not', 'if', 'then', 'else', 'contains', 'propertyNames'])
const listOfSchemas = new Set(['allOf', 'anyOf', 'oneOf', 'prefixItems'])
const counts = new Set(['minLength', 'maxLength', 'minItems', 'maxItems', 'minProperties', 'maxProperties'])

/** The schemas in the value of a keyword, with their paths; or a message that explains what is wrong. */
function innerSchemas(keyword: string, value: unknown): string | (readonly [name: string, schema: unknown])[] {
  if (ofSchemas.has(keyword)) {
    return isRecord(value) ? Object.entries(value) : `"${keyword}" must be an object with a schema for each name.`
  }
  if (oneSchema.has(keyword)) return [['', value]]
  if (keyword === 'items') return Array.isArray(value) ? numbered(value) : [['', value]]
  if (listOfSchemas.has(keyword)) {
    return Array.isArray(value) && value.length > 0 ? numbered(value) : `"${keyword}" must be a list of schemas.`
  }
  return complaint(keyword, value) ?? []
}

function complaint(keyword: string, value: unknown): string | undefined {
  if (keyword === 'type') {
    const unknown = (Array.isArray(value) ? value : [value]).find((name) => !typeNames.includes(name as string))
    return unknown === undefined
      ? undefined
      : `Unknown type ${JSON.stringify(unknown)}. Types: ${typeNames.join(', ')}.`
  }
  if (keyword === 'required') {
    const isList = Array.isArray(value) && value.every((name) => typeof name === 'string')
    return isList ? undefined : '"required" is a list of names.'
  }
  if (keyword === 'enum') return Array.isArray(value) ? undefined : '"enum" is a list of values.'
  if (counts.has(keyword)) {
    return Number.isInteger(value) && (value as number) >= 0 ? undefined : `"${keyword}" must be a number of 0 or more.`
  }
  return undefined
}

function numbered(list: readonly unknown[]): (readonly [string, unknown])[] {
  return list.map((each, index) => [String(index), each] as const)
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
