import type { ValueSchema } from '../../domain/connector/connector.ts'
import { isObject } from '../../domain/run/input.ts'
import type { OpenApiContext } from './schema.ts'

const levelsMax = 4
const membersMax = 30
const types = new Set(['string', 'integer', 'number', 'boolean', 'array', 'object'])

/**
 * The outline of an operation's result: names, types and formats, without descriptions and limits. Undefined when the
 * document does not describe a JSON response. The editor shows results by it, and nothing is checked against it.
 */
export function importedOutput(responses: unknown, context: OpenApiContext): ValueSchema | undefined {
  if (!isObject(responses)) return undefined
  const status = ['200', '201', '2XX', '202', 'default'].find((each) => responses[each] !== undefined)
  const response = status === undefined ? undefined : target(responses[status], context)
  if (!isObject(response)) return undefined
  const content = isObject(response['content']) ? Object.entries(response['content']) : []
  const json = content.find(([type]) => /[/+]json\b/.test(type))?.[1]
  const schema = context.isSwagger ? response['schema'] : isObject(json) ? json['schema'] : undefined
  const outline = outlineOf(schema, context, levelsMax)
  return outline.type === undefined ? undefined : outline
}

function outlineOf(written: unknown, context: OpenApiContext, levels: number): ValueSchema {
  context.partsLeft -= 1
  if (context.partsLeft < 0) return {}
  const schema = merged(target(written, context), context)
  const named = Array.isArray(schema['type'])
    ? (schema['type'] as unknown[]).find((each) => each !== 'null')
    : schema['type']
  const type = named ?? (isObject(schema['properties']) ? 'object' : undefined)
  if (typeof type !== 'string' || !types.has(type)) return {}
  if (type === 'array') {
    return levels === 1 ? { type } : { type, items: outlineOf(schema['items'], context, levels - 1) }
  }
  if (type === 'object') {
    const members = isObject(schema['properties']) ? Object.entries(schema['properties']).slice(0, membersMax) : []
    if (levels === 1 || members.length === 0) return { type }
    const properties = Object.fromEntries(members.map(([name, each]) => [name, outlineOf(each, context, levels - 1)]))
    return { type, properties }
  }
  const { format } = schema
  return { type, ...(format === 'date-time' || format === 'uri' ? { format } : {}) }
}

/** The members of `allOf` in one schema; of `oneOf` and `anyOf`, the first choice that is not null. */
function merged(schema: unknown, context: OpenApiContext): Record<string, unknown> {
  if (!isObject(schema)) return {}
  const { allOf, oneOf, anyOf } = schema
  if (Array.isArray(allOf)) {
    const parts = [...(allOf as unknown[]).slice(0, 20).map((part) => target(part, context)), schema].filter(isObject)
    const properties = Object.assign({}, ...parts.map((part) => part['properties'])) as object
    const type = parts.find((part) => part['type'] !== undefined)?.['type']
    return { ...schema, type, properties: Object.keys(properties).length > 0 ? properties : undefined }
  }
  const choices = Array.isArray(oneOf) ? (oneOf as unknown[]) : Array.isArray(anyOf) ? (anyOf as unknown[]) : []
  const first = choices.map((each) => target(each, context)).find((each) => isObject(each) && each['type'] !== 'null')
  return isObject(first) ? first : schema
}

/** The target of a reference, and of a reference to a reference. */
function target(value: unknown, { resolve }: OpenApiContext): unknown {
  let current = value
  for (let step = 0; step < 5 && isObject(current) && typeof current['$ref'] === 'string'; step += 1) {
    current = resolve(current['$ref'])
  }
  return current
}
