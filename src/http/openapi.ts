import type { ErrorCode } from '../domain/errors.ts'
import { isObject } from '../domain/input.ts'
import { ErrorAnswer, statusOf } from './errors.ts'
import { errorsMember, tags } from './operation.ts'

/** As much of an OpenAPI document as is touched here. */
export type OpenApi = { openapi: string; paths: Record<string, PathItem>; components?: Json; [member: string]: unknown }
type PathItem = Record<string, Json>
type Json = Record<string, unknown>

/** Schemas with a name (`$id`), gathered while the document is repaired. */
type Named = Record<string, Json>
type Place = { path: string; named: Named }

/**
 * Makes a valid OpenAPI 3.1.0 document of what the swagger plugin writes. The plugin declares 3.0.3 and writes 3.1
 * schemas, lists three content types for everything, leaves out descriptions that must be there, and puts members of
 * schemas on responses. Also writes out the errors of each route, and what every route has in common.
 */
export function repairOpenApi(document: OpenApi): OpenApi {
  const named: Named = {}
  const repairItem = (item: PathItem, path: string) =>
    mapValues(item, (operation) => repairOperation(operation, { path, named }))
  return {
    ...document,
    openapi: '3.1.0',
    servers: [{ url: '/' }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths: mapValues(document.paths, repairItem),
    components: {
      ...document.components,
      schemas: { ...named, Error: repairSchema(ErrorAnswer, named) },
      headers,
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'Begins with mrk_.' },
      },
    },
  }
}

function repairOperation(operation: Json, place: Place): Json {
  const { [errorsMember]: errors, parameters, requestBody, responses, operationId, ...rest } = operation
  const codes = (errors ?? []) as ErrorCode[]
  const listed = mapValues(objectOf(responses), (response, status) => repairResponse(response, status, place))
  return {
    ...rest,
    // Identifiers become names of methods in generated clients.
    operationId: String(operationId).replaceAll(/[^A-Za-z0-9]+(.)?/g, (_, next: string | undefined) =>
      (next ?? '').toUpperCase(),
    ),
    ...(Array.isArray(parameters) && parameters.length > 0
      ? { parameters: parameters.map((parameter) => repairParameter(parameter, place)) }
      : {}),
    ...(isObject(requestBody)
      ? { requestBody: { ...requestBody, content: repairContent(requestBody['content'], place) } }
      : {}),
    responses: { ...errorResponses(codes, place), ...listed },
  }
}

function repairParameter(parameter: Json, { named }: Place): Json {
  const { in: place, name, required, description, schema } = parameter
  const { description: inner, ...rest } = repairSchema(schema, named)
  const text = description ?? inner
  return {
    name,
    in: place,
    required: place === 'path' || required === true,
    ...(text === undefined ? {} : { description: text }),
    schema: rest,
  }
}

const successTexts: Record<string, string> = {
  200: 'Done.',
  201: 'Created.',
  202: 'Accepted.',
  204: 'Done; there is nothing to say.',
}

function repairResponse(response: unknown, status: string, place: Place): Json {
  // The plugin leaves a schema's name here, outside the schema.
  const { description, content, $id } = objectOf(response)
  const repaired = repairContent(content, place, $id)
  return {
    description: description ?? successTexts[status] ?? 'Another answer.',
    headers: headersOf(place),
    ...(status === '204' || Object.keys(repaired).length === 0 ? {} : { content: repaired }),
  }
}

/** JSON only, wherever JSON is among the choices. */
function repairContent(content: unknown, { named }: Place, $id?: unknown): Json {
  const types = objectOf(content)
  const kept = 'application/json' in types ? { 'application/json': types['application/json'] } : types
  return mapValues(kept, (media) => {
    const schema = objectOf(objectOf(media)['schema'])
    return { ...objectOf(media), schema: repairSchema($id === undefined ? schema : { ...schema, $id }, named) }
  })
}

/** The answers of a route that are no success: one for each status, naming the codes it comes with. */
function errorResponses(codes: readonly ErrorCode[], place: Place): Json {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of codes) byStatus.set(statusOf(code), [...(byStatus.get(statusOf(code)) ?? []), code])
  const responses: Json = {}
  for (const [status, list] of [...byStatus].sort(([a], [b]) => a - b)) {
    const waits = status === 429 || status === 503
    responses[status] = {
      description: list.map((code) => `\`${code}\``).join(' or '),
      headers: {
        ...headersOf(place),
        ...(waits ? { 'Retry-After': { $ref: '#/components/headers/Retry-After' } } : {}),
      },
      content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
    }
  }
  return responses
}

const headers = {
  'X-Request-Id': { description: "The request's id: the caller's own, or a new one.", schema: { type: 'string' } },
  'Retry-After': { description: 'Seconds to wait before another attempt.', schema: { type: 'integer' } },
  'X-RateLimit-Limit': { description: 'Requests in a window.', schema: { type: 'integer' } },
  'X-RateLimit-Remaining': { description: 'Requests left in this window.', schema: { type: 'integer' } },
  'X-RateLimit-Reset': { description: 'When the window ends.', schema: { type: 'string', format: 'date-time' } },
}

function headersOf({ path }: Place): Json {
  const names = Object.keys(headers).filter((name) =>
    name.startsWith('X-RateLimit') ? path.startsWith('/api/v1/') : name === 'X-Request-Id',
  )
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

/** Members of schemas that mean something to this program only. */
const ownMembers = new Set(['noValidate', 'expected'])

/**
 * A schema as JSON Schema 2020-12, recursively: TypeBox's records and unions of literals in their usual form. One with a
 * name goes to `named`, and a reference stands in its place.
 */
export function repairSchema(schema: unknown, named: Named): Json {
  if (!isObject(schema)) return {}
  const { $id, ...unnamed } = schema
  if (typeof $id !== 'string') return repairUnnamed(unnamed, named)
  named[$id] ??= repairUnnamed(unnamed, named)
  return { $ref: `#/components/schemas/${$id}` }
}

function repairUnnamed(schema: Json, named: Named): Json {
  const repaired: Json = {}
  for (const [name, value] of Object.entries(schema)) {
    if (!ownMembers.has(name) && value !== undefined) repaired[name] = repairMember(name, value, named)
  }
  const { patternProperties, anyOf, type, ...rest } = repaired
  if (type === 'void') return {}
  if (isObject(patternProperties)) {
    return { ...rest, type: 'object', additionalProperties: Object.values(patternProperties)[0] ?? {} }
  }
  if (Array.isArray(anyOf) && anyOf.every((each) => isObject(each) && typeof each['const'] === 'string')) {
    return { ...rest, type: 'string', enum: anyOf.map((each: Json) => each['const']) }
  }
  return repaired
}

function repairMember(name: string, value: unknown, named: Named): unknown {
  const repair = (each: unknown) => repairSchema(each, named)
  switch (name) {
    case 'properties':
    case 'patternProperties':
      return mapValues(objectOf(value), repair)
    case 'items':
    case 'additionalProperties':
    case 'not':
      return isObject(value) ? repair(value) : value
    case 'anyOf':
    case 'allOf':
    case 'oneOf':
      return Array.isArray(value) ? value.map(repair) : value
  }
  return value
}

function objectOf(value: unknown): Json {
  return isObject(value) ? value : {}
}

function mapValues<Value, Result>(
  values: Record<string, Value>,
  map: (value: Value, name: string) => Result,
): Record<string, Result> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value, name)]))
}
