import { isRecord, own, sameValue } from '../../domain/edits/same-value.ts'
import type { Slices } from '../../domain/slices.ts'

type Schema = Readonly<Record<string, unknown>>

/**
 * Checks a value against the schema of an author. Returns undefined if the value matches, or else the first mistake.
 * Without patterns and references, the time depends only on the sizes of the value and the schema. It runs in slices,
 * so that a large value cannot block other work.
 */
export function* schemaFault(schema: Schema, value: unknown, path = ''): Slices<string | undefined> {
  yield
  const place = path === '' ? 'The value' : path
  const fault = ownFault(schema, value)
  if (fault !== undefined) return `${place} ${fault}.`
  for (const [inner, at, innerPath] of innerValues(schema, value, path)) {
    if (inner === false) return `${innerPath} is not allowed.`
    const deeper = isRecord(inner) ? yield* schemaFault(inner, at, innerPath) : undefined
    if (deeper !== undefined) return deeper
  }
  return yield* alternativesFault(schema, value, place, path)
}

/** Reports keywords that this check does not support. To ignore them would let wrong values pass. */
export function unknownKeywords(schema: unknown): { path: string; message: string }[] {
  const unknown: { path: string; message: string }[] = []
  const waiting: [path: string, schema: unknown][] = [['', schema]]
  for (let next = waiting.pop(); next && unknown.length < unknownMax; next = waiting.pop()) {
    const [path, at] = next
    if (!isRecord(at)) continue
    for (const [keyword, value] of Object.entries(at)) {
      const place = path === '' ? keyword : `${path}.${keyword}`
      if (keyword === 'properties' && isRecord(value)) {
        for (const [name, each] of Object.entries(value)) waiting.push([`${place}.${name}`, each])
      } else if (keyword === 'anyOf' || keyword === 'allOf') {
        for (const [index, each] of (Array.isArray(value) ? value : []).entries())
          waiting.push([`${place}.${index}`, each])
      } else if (keyword === 'items' || keyword === 'additionalProperties') waiting.push([place, value])
      else if (!known.has(keyword)) {
        const message = `JSON schema: guardrails do not support the keyword "${keyword}". Remove it.`
        unknown.push({ path: place, message })
      }
    }
  }
  return unknown
}

/** Nobody reads more findings than this. */
const unknownMax = 20

const known: ReadonlySet<string> = new Set([
  ...['type', 'enum', 'const', 'minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'minLength', 'maxLength'],
  ...['minItems', 'maxItems', 'required', 'properties', 'additionalProperties', 'items', 'anyOf', 'allOf'],
  // Annotations, which do not affect the result.
  ...['title', 'description', 'default', 'examples', 'deprecated', '$schema', '$id', '$comment'],
])

function ownFault(schema: Schema, value: unknown): string | undefined {
  const { type, enum: choices, required } = schema
  const types = type === undefined ? [] : Array.isArray(type) ? type : [type]
  if (types.length > 0 && !types.some((name) => hasType(value, name)))
    return `must be of the type ${types.join(' or ')}`
  if (Array.isArray(choices) && !choices.some((choice) => sameValue(choice, value)))
    return 'is not one of the allowed values'
  if (Object.hasOwn(schema, 'const') && !sameValue(schema['const'], value)) return 'does not have the required value'
  if (isRecord(value) && Array.isArray(required)) {
    const missing = required.find((name) => !Object.hasOwn(value, String(name)))
    if (missing !== undefined) return `has no "${missing}"`
  }
  const size = typeof value === 'number' ? value : undefined
  const length = typeof value === 'string' || Array.isArray(value) ? value.length : undefined
  const [least, most] = typeof value === 'string' ? ['minLength', 'maxLength'] : ['minItems', 'maxItems']
  const limit = (name: string) => (typeof schema[name] === 'number' ? (schema[name] as number) : undefined)
  if (isLess(size, limit('minimum'))) return `must be at least ${limit('minimum')}`
  if (isLess(limit('maximum'), size)) return `must be at most ${limit('maximum')}`
  if (isLess(size, limit('exclusiveMinimum'), true)) return `must be more than ${limit('exclusiveMinimum')}`
  if (isLess(limit('exclusiveMaximum'), size, true)) return `must be less than ${limit('exclusiveMaximum')}`
  if (isLess(length, limit(least))) return `must have a length of at least ${limit(least)}`
  if (isLess(limit(most), length)) return `must have a length of at most ${limit(most)}`
  return undefined
}

function isLess(a: number | undefined, b: number | undefined, orEqual = false): boolean {
  return a !== undefined && b !== undefined && (orEqual ? a <= b : a < b)
}

function hasType(value: unknown, name: unknown): boolean {
  switch (name) {
    case 'null':
      return value === null
    case 'array':
      return Array.isArray(value)
    case 'object':
      return isRecord(value)
    case 'integer':
      return Number.isInteger(value)
    default:
      return typeof value === name
  }
}

/** The values inside a value, each with its schema and its path. */
function* innerValues(schema: Schema, value: unknown, path: string): Generator<[unknown, unknown, string], void> {
  const { properties, additionalProperties, items } = schema
  if (Array.isArray(value) && items !== undefined) {
    for (const [at, item] of value.entries()) yield [items, item, `${path}[${at}]`]
  }
  if (!isRecord(value) || (properties === undefined && additionalProperties === undefined)) return
  for (const [name, member] of Object.entries(value)) {
    const inner = (isRecord(properties) ? own(properties, name) : undefined) ?? additionalProperties
    if (inner !== undefined) yield [inner, member, path === '' ? name : `${path}.${name}`]
  }
}

function* alternativesFault(
  { allOf, anyOf }: Schema,
  value: unknown,
  place: string,
  path: string,
): Slices<string | undefined> {
  for (const inner of Array.isArray(allOf) ? allOf : []) {
    const fault = isRecord(inner) ? yield* schemaFault(inner, value, path) : undefined
    if (fault !== undefined) return fault
  }
  if (!Array.isArray(anyOf)) return undefined
  for (const inner of anyOf) {
    if (inner === true || (isRecord(inner) && (yield* schemaFault(inner, value, path)) === undefined)) return undefined
  }
  return `${place} matches none of the alternatives.`
}
