import { isObject } from '../../domain/run/input.ts'

export type Json = Record<string, unknown>

/** Named schemas (`$id`), collected while a document is repaired. */
export type NamedSchemas = Record<string, Json>

/** Members of schemas that only this program uses. */
const ownMembers = new Set(['noValidate', 'expected'])

/**
 * Converts a schema to JSON Schema 2020-12, recursively, with TypeBox's records and unions of literals in their usual
 * form. A named schema goes to `named` and is replaced by a reference.
 */
export function plainSchema(schema: unknown, named: NamedSchemas): Json {
  if (!isObject(schema)) return {}
  const { $id, ...unnamed } = schema
  if (typeof $id !== 'string') return plainUnnamed(unnamed, named)
  named[$id] ??= plainUnnamed(unnamed, named)
  return { $ref: `#/components/schemas/${$id}` }
}

function plainUnnamed(schema: Json, named: NamedSchemas): Json {
  const plain: Json = {}
  for (const [name, value] of Object.entries(schema)) {
    if (!ownMembers.has(name) && value !== undefined) plain[name] = plainMember(name, value, named)
  }
  const { patternProperties, anyOf, type, ...rest } = plain
  if (type === 'void') return {}
  if (isObject(patternProperties)) {
    return { ...rest, type: 'object', additionalProperties: Object.values(patternProperties)[0] ?? {} }
  }
  if (Array.isArray(anyOf) && anyOf.every((each) => isObject(each) && typeof each['const'] === 'string')) {
    return { ...rest, type: 'string', enum: anyOf.map((each: Json) => each['const']) }
  }
  return plain
}

function plainMember(name: string, value: unknown, named: NamedSchemas): unknown {
  const plain = (each: unknown) => plainSchema(each, named)
  switch (name) {
    case 'properties':
    case 'patternProperties':
      return mapValues(objectOf(value), plain)
    case 'items':
    case 'additionalProperties':
    case 'not':
      return isObject(value) ? plain(value) : value
    case 'anyOf':
    case 'allOf':
    case 'oneOf':
      return Array.isArray(value) ? value.map(plain) : value
  }
  return value
}

export function objectOf(value: unknown): Json {
  return isObject(value) ? value : {}
}

export function mapValues<Value, Result>(
  values: Record<string, Value>,
  map: (value: Value, name: string) => Result,
): Record<string, Result> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value, name)]))
}
