import { connectorBounds } from '../../domain/connector/bounds.ts'
import type { ValueSchema } from '../../domain/connector/connector.ts'
import { isObject } from '../../domain/run/input.ts'
import { firstLine, type Leftovers, shortText } from './imported.ts'

/** Finds the target of a `$ref` in the document. */
export type Resolve = (reference: string) => unknown

/** `partsLeft`: documents whose schemas refer to each other can describe more than any memory holds. */
export type SchemaContext = { resolve: Resolve; leftovers: Leftovers; partsLeft: number }
type Context = SchemaContext
export type OpenApiContext = SchemaContext & { document: Record<string, unknown>; isSwagger: boolean }

/**
 * A schema of an OpenAPI or Discovery document in the subset that connectors have. References are replaced by their
 * targets; one that leads back to itself, or too deep, accepts any value.
 */
export function importedSchema(schema: unknown, path: string, context: Context): ValueSchema {
  return convert(schema, path, context, [])
}

/** `inside`: the references on the way. */
function convert(written: unknown, path: string, context: Context, inside: readonly string[]): ValueSchema {
  if (!isObject(written)) return {}
  context.partsLeft -= 1
  if (context.partsLeft < 0) {
    if (context.partsLeft === -1)
      context.leftovers.add(path, 'The schemas are too large: from here on, values are not checked.')
    return {}
  }
  if (inside.length + 1 >= connectorBounds.depthMax) return {}
  const { $ref: reference } = written
  if (typeof reference === 'string') {
    if (inside.includes(reference)) return {}
    const target = context.resolve(reference)
    if (!isObject(target)) context.leftovers.add(path, `The reference ${reference.slice(0, 200)} leads nowhere.`)
    return convert(target, path, context, [...inside, reference])
  }
  const merged = withAllOf(written, context, inside)
  const choice = choiceOf(merged)
  if (choice !== undefined) {
    if (choice === null) {
      context.leftovers.add(path, 'Values of several types are not checked.')
      return facts(merged)
    }
    return { ...convert(choice, path, context, [...inside, '']), ...facts(merged) }
  }
  const type = typeOf(merged)
  return {
    ...(type === undefined ? {} : { type }),
    ...facts(merged),
    ...limits(merged),
    ...(type === 'array' ? { items: convert(merged['items'], `${path}.items`, context, [...inside, '']) } : {}),
    ...(type === 'object' ? membersOf(merged, path, context, inside) : {}),
  }
}

/** The members of `allOf` in one schema. */
function withAllOf(
  schema: Record<string, unknown>,
  context: Context,
  inside: readonly string[],
): Record<string, unknown> {
  const { allOf, ...own } = schema
  if (!Array.isArray(allOf)) return own
  let whole: Record<string, unknown> = {}
  for (const part of [...(allOf as unknown[]).slice(0, 50), own]) {
    const found = target(part, context, inside)
    if (!isObject(found)) continue
    const each = Array.isArray(found['allOf']) && found !== own ? withAllOf(found, context, [...inside, '']) : found
    const properties = { ...objectOf(whole['properties']), ...objectOf(each['properties']) }
    const required = [...listOf(whole['required']), ...listOf(each['required'])]
    whole = { ...whole, ...each }
    if (Object.keys(properties).length > 0) whole = { ...whole, properties, type: 'object' }
    if (required.length > 0) whole['required'] = [...new Set(required)]
    if (inside.length > connectorBounds.depthMax) break
  }
  return whole
}

function target(part: unknown, { resolve }: Context, inside: readonly string[]): unknown {
  if (!isObject(part) || typeof part['$ref'] !== 'string') return part
  return inside.includes(part['$ref']) ? undefined : resolve(part['$ref'])
}

/**
 * The only choice of `oneOf` or `anyOf` that is not null; null when there are several, and undefined without such a
 * keyword.
 */
function choiceOf({ oneOf, anyOf }: Record<string, unknown>): unknown {
  const choices = Array.isArray(oneOf) ? (oneOf as unknown[]) : Array.isArray(anyOf) ? (anyOf as unknown[]) : undefined
  if (!choices) return undefined
  const others = choices.filter((each) => !isObject(each) || each['type'] !== 'null')
  return others.length === 1 ? others[0] : null
}

function typeOf({ type, properties, items, enum: choices }: Record<string, unknown>): string | undefined {
  // OpenAPI 3.1 has lists of types, such as text or null.
  const named = Array.isArray(type) ? (type as unknown[]).filter((each) => each !== 'null') : [type]
  if (named.length > 1) return undefined
  const [name] = named
  // Swagger 2 sends files in forms.
  if (name === 'file') return undefined
  if (typeof name === 'string' && types.has(name)) return name
  if (properties !== undefined) return 'object'
  if (items !== undefined) return 'array'
  return Array.isArray(choices) && choices.every((each) => typeof each === 'string') ? 'string' : undefined
}

const types = new Set(['string', 'integer', 'number', 'boolean', 'array', 'object'])

function facts(schema: Record<string, unknown>): ValueSchema {
  const title = firstLine(schema['title'], 200)
  const description = shortText(schema['description'], 1_000)
  const choices = Array.isArray(schema['enum']) ? (schema['enum'] as unknown[]).filter((each) => each !== null) : []
  const { format, const: fixed } = schema
  return {
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(choices.length > 0 && choices.length <= 1_000 ? { enum: choices } : {}),
    ...(fixed !== undefined ? { enum: [fixed] } : {}),
    ...(typeof format === 'string' ? { format: format.slice(0, 100) } : {}),
  }
}

function limits(schema: Record<string, unknown>): ValueSchema {
  const names = ['minimum', 'maximum', 'minLength', 'maxLength', 'minItems', 'maxItems']
  // Discovery documents write numbers as text.
  const found = names.flatMap((name) => {
    const value = typeof schema[name] === 'string' ? Number(schema[name]) : schema[name]
    return typeof value === 'number' && Number.isFinite(value) ? [[name, value] as const] : []
  })
  return Object.fromEntries(found) as ValueSchema
}

function membersOf(
  schema: Record<string, unknown>,
  path: string,
  context: Context,
  inside: readonly string[],
): ValueSchema {
  const properties = Object.entries(objectOf(schema['properties'])).flatMap(([name, member]) => {
    // The service itself sets members that can only be read.
    if (isObject(member) && member['readOnly'] === true) return []
    return [[name, convert(member, `${path}.${name}`, context, [...inside, ''])] as const]
  })
  const known = new Set(properties.map(([name]) => name))
  const required = listOf(schema['required']).filter((name) => known.has(name))
  const more = schema['additionalProperties']
  return {
    ...(properties.length > 0 ? { properties: Object.fromEntries(properties) } : {}),
    ...(required.length > 0 ? { required } : {}),
    ...(isObject(more) ? { additionalProperties: convert(more, `${path}.*`, context, [...inside, '']) } : {}),
  }
}

function objectOf(value: unknown): Record<string, unknown> {
  return isObject(value) ? value : {}
}

function listOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each): each is string => typeof each === 'string') : []
}

/** Parts of schemas in one import. */
export const schemaPartsMax = 50_000
