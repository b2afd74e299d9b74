import type { ErrorCode } from '../domain/errors.ts'
import { isObject } from '../domain/input.ts'
import { ErrorAnswer, statusOf } from './errors.ts'
import { errorsMember, tags } from './operation.ts'

/** As much of an OpenAPI document as is touched here. */
export type OpenApi = { openapi: string; paths: Record<string, PathItem>; components?: Json; [member: string]: unknown }
type PathItem = Record<string, Json>
type Json = Record<string, unknown>

/**
 * Makes a valid OpenAPI 3.1.0 document of what the swagger plugin writes. The plugin declares 3.0.3 and writes 3.1
 * schemas, lists three content types for everything, leaves out descriptions that must be there, and puts members of
 * schemas on responses. Also writes out the errors of each route, and what every route has in common.
 */
export function repairOpenApi(document: OpenApi): OpenApi {
  return {
    ...document,
    openapi: '3.1.0',
    servers: [{ url: '/' }],
    tags: Object.entries(tags).map(([name, description]) => ({ name, description })),
    paths: mapValues(document.paths, (item, path) => mapValues(item, (operation) => repairOperation(operation, path))),
    components: {
      ...document.components,
      schemas: {
        ...mapValues(objectOf(document.components?.['schemas']), repairSchema),
        Error: repairSchema(ErrorAnswer),
      },
      headers,
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'Begins with mrk_.' },
      },
    },
  }
}

function repairOperation(operation: Json, path: string): Json {
  const { [errorsMember]: errors, parameters, requestBody, responses, operationId, ...rest } = operation
  const codes = (errors ?? []) as ErrorCode[]
  const listed = mapValues(objectOf(responses), (response, status) => repairResponse(response, status, path))
  return {
    ...rest,
    // Identifiers become names of methods in generated clients.
    operationId: String(operationId).replaceAll(/[^A-Za-z0-9]+(.)?/g, (_, next: string | undefined) =>
      (next ?? '').toUpperCase(),
    ),
    ...(Array.isArray(parameters) && parameters.length > 0 ? { parameters: parameters.map(repairParameter) } : {}),
    ...(isObject(requestBody)
      ? { requestBody: { ...requestBody, content: repairContent(requestBody['content']) } }
      : {}),
    responses: { ...errorResponses(codes, path), ...listed },
  }
}

function repairParameter(parameter: Json): Json {
  const { in: place, name, required, description, schema } = parameter
  const { description: inner, ...rest } = repairSchema(schema)
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

function repairResponse(response: unknown, status: string, path: string): Json {
  const { description, content } = objectOf(response)
  const repaired = repairContent(content)
  return {
    description: description ?? successTexts[status] ?? 'Another answer.',
    headers: headersOf(path),
    ...(status === '204' || Object.keys(repaired).length === 0 ? {} : { content: repaired }),
  }
}

/** JSON only, wherever JSON is among the choices. */
function repairContent(content: unknown): Json {
  const types = objectOf(content)
  const kept = 'application/json' in types ? { 'application/json': types['application/json'] } : types
  return mapValues(kept, (media) => ({ ...objectOf(media), schema: repairSchema(objectOf(media)['schema']) }))
}

/** The answers of a route that are no success: one for each status, naming the codes it comes with. */
function errorResponses(codes: readonly ErrorCode[], path: string): Json {
  const byStatus = new Map<number, ErrorCode[]>()
  for (const code of codes) byStatus.set(statusOf(code), [...(byStatus.get(statusOf(code)) ?? []), code])
  const responses: Json = {}
  for (const [status, list] of [...byStatus].sort(([a], [b]) => a - b)) {
    const waits = status === 429 || status === 503
    responses[status] = {
      description: list.map((code) => `\`${code}\``).join(' or '),
      headers: {
        ...headersOf(path),
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

function headersOf(path: string): Json {
  const names = Object.keys(headers).filter((name) =>
    name.startsWith('X-RateLimit') ? path.startsWith('/api/v1/') : name === 'X-Request-Id',
  )
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

/** Members of schemas that mean something to this program only. */
const ownMembers = new Set(['noValidate', 'expected', '$id'])

/** A schema as JSON Schema 2020-12, recursively: TypeBox's records and unions of literals in their usual form. */
export function repairSchema(schema: unknown): Json {
  if (!isObject(schema)) return {}
  const repaired: Json = {}
  for (const [name, value] of Object.entries(schema)) {
    if (ownMembers.has(name) || value === undefined) continue
    repaired[name] = repairMember(name, value)
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

function repairMember(name: string, value: unknown): unknown {
  switch (name) {
    case 'properties':
    case 'patternProperties':
      return mapValues(objectOf(value), repairSchema)
    case 'items':
    case 'additionalProperties':
    case 'not':
      return isObject(value) ? repairSchema(value) : value
    case 'anyOf':
    case 'allOf':
    case 'oneOf':
      return Array.isArray(value) ? value.map(repairSchema) : value
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
