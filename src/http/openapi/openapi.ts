import type { ErrorCode } from '../../domain/errors.ts'
import { isObject } from '../../domain/run/input.ts'
import { isExternal, isV2 } from '../access/door.ts'
import { sessionCookie } from '../access/session-cookie.ts'
import { ErrorResponse, statusOf } from '../errors.ts'
import { errorResponsesV2 } from './errors-v2.ts'
import { RunFailureResponse } from './execute-operation.ts'
import { errorsMember, formBodyMember, optionalBodyMember, tags } from './operation.ts'
import { parameterText } from './parameter-texts.ts'
import { type Json, mapValues, type NamedSchemas, objectOf, plainSchema } from './plain-schema.ts'
import { describeWebhooks, webhookOperations } from './webhook-openapi.ts'

/** The parts of an OpenAPI document that this file changes. */
export type OpenApi = { openapi: string; paths: Record<string, PathItem>; components?: Json; [member: string]: unknown }
type PathItem = Record<string, Json>

/** Examples: per operation, by name; per error, by code. */
export type Examples = {
  operations: Readonly<Record<string, OperationExamples>>
  errors: Readonly<Record<ErrorCode, unknown>>
}
export type OperationExamples = { request?: unknown; responses?: Readonly<Record<number, unknown>> }

type Place = { path: string; named: NamedSchemas; examples: Examples }

/**
 * Turns the swagger plugin's output into a valid OpenAPI 3.1.0 document. The plugin declares 3.0.3 but writes 3.1
 * schemas, lists three content types for everything, omits required descriptions, and puts members of schemas on
 * responses. This also adds each route's errors and examples, and what all routes have in common.
 */
export function repairOpenApi(document: OpenApi, examples: Examples): OpenApi {
  const named: NamedSchemas = {}
  // The document of a single workflow's endpoint has no example for these, and does not list them.
  const exampleOf = (operation: string) => examples.operations[operation]?.request
  const hasWebhooks = exampleOf(webhookOperations.completed) !== undefined
  const repairItem = (item: PathItem, path: string) =>
    mapValues(item, (operation) => repairOperation(operation, { path, named, examples }))
  const paths = mapValues(document.paths, repairItem)
  return {
    ...document,
    openapi: '3.1.0',
    servers: [{ url: '/' }],
    tags: tagsIn(document),
    paths,
    ...(hasWebhooks ? { webhooks: describeWebhooks(named, exampleOf) } : {}),
    components: {
      ...document.components,
      schemas: { ...named, Error: plainSchema(ErrorResponse, named) },
      headers: usedHeaders(paths),
      securitySchemes: {
        apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'Begins with mrk_.' },
        session: {
          type: 'apiKey',
          in: 'cookie',
          name: sessionCookie,
          description: "A session of the dashboard. Changes are accepted from the service's own pages only.",
        },
      },
    },
  }
}

/** The tags that operations use. */
function tagsIn({ paths }: OpenApi): Json[] {
  const used = new Set(
    Object.values(paths).flatMap((item) => Object.values(item).flatMap((each) => each['tags'] ?? [])),
  )
  return Object.entries(tags).flatMap(([name, description]) => (used.has(name) ? [{ name, description }] : []))
}

function repairOperation(operation: Json, place: Place): Json {
  const {
    [errorsMember]: errors,
    [optionalBodyMember]: optional,
    [formBodyMember]: isForm,
    parameters,
    requestBody,
    responses,
    ...rest
  } = operation
  const { request, responses: exampleResponses = {} } =
    place.examples.operations[String(operation['operationId'])] ?? {}
  const codes = new Set((errors ?? []) as ErrorCode[])
  const listed = mapValues(objectOf(responses), (response, status) =>
    repairResponse(response, status, exampleResponses[Number(status)], place),
  )
  return {
    ...rest,
    ...(Array.isArray(parameters) && parameters.length > 0
      ? { parameters: parameters.map((parameter) => repairParameter(parameter, place)) }
      : {}),
    ...(isObject(requestBody)
      ? {
          requestBody: {
            ...requestBody,
            ...(optional === true ? { required: false } : {}),
            content: asForm(repairContent(requestBody['content'], request, place), isForm === true),
          },
        }
      : {}),
    responses: { ...listed, ...errorResponses(codes, place) },
  }
}

/** The content of a body that is a form instead of JSON. */
function asForm(content: Json, isForm: boolean): Json {
  return isForm ? { 'application/x-www-form-urlencoded': content['application/json'] } : content
}

function repairParameter(parameter: Json, { path, named }: Place): Json {
  const { in: where, name, required, description, schema } = parameter
  const { description: inner, ...rest } = plainSchema(schema, named)
  const text = description ?? inner ?? (where === 'path' ? parameterText(path, String(name)) : undefined)
  return {
    name,
    in: where,
    required: where === 'path' || required === true,
    ...(text === undefined ? {} : { description: text }),
    schema: rest,
  }
}

const successTexts: Record<string, string> = {
  200: 'Success.',
  201: 'Created.',
  202: 'Accepted.',
  204: 'Success, without content.',
  400: 'A refusal in the shape of OAuth.',
}

function repairResponse(response: unknown, status: string, example: unknown, place: Place): Json {
  // The plugin leaves a schema's name here, outside the schema.
  const { description, content, $id } = objectOf(response)
  const repaired = repairContent(content, example, place, $id)
  return {
    description: description ?? successTexts[status] ?? 'Another response.',
    headers: headersOf(place, status),
    ...(status === '204' || Object.keys(repaired).length === 0 ? {} : { content: repaired }),
  }
}

/** Removes the content types that the plugin lists besides JSON on every route. */
function repairContent(content: unknown, example: unknown, { named }: Place, $id?: unknown): Json {
  const types = objectOf(content)
  const isJson = 'application/json' in types
  const kept = Object.entries(types).filter(([type]) => !isJson || !addedTypes.has(type))
  return mapValues(Object.fromEntries(kept), (media, type) => {
    const { schema, ...rest } = objectOf(media)
    const shown = type === 'text/event-stream' ? undefined : example
    return {
      ...(shown === undefined ? {} : { example: shown }),
      ...rest,
      schema: plainSchema($id === undefined ? schema : { ...objectOf(schema), $id }, named),
    }
  })
}

const addedTypes: ReadonlySet<string> = new Set(['multipart/form-data', 'text/plain'])

/** The error responses of a route: one per status, naming its codes. */
function errorResponses(codes: ReadonlySet<ErrorCode>, place: Place): Json {
  if (isV2(place.path)) return errorResponsesV2(codes, place, (status) => headersOf(place, String(status)))
  const byStatus = Map.groupBy(codes, statusOf)
  const responses: Json = {}
  for (const [status, list] of [...byStatus].sort(([a], [b]) => a - b)) {
    const schemas = new Set(list.flatMap(shapesOf)).values().map((ofRun) => (ofRun ? runFailure(place) : error))
    const [schema, ...others] = [...schemas]
    responses[status] = {
      description: list.map((code) => `\`${code}\``).join(' or '),
      headers: headersOf(place, String(status)),
      content: {
        'application/json': {
          schema: others.length === 0 ? schema : { anyOf: [schema, ...others] },
          examples: Object.fromEntries(list.map((code) => [code, { value: place.examples.errors[code] }])),
        },
      },
    }
  }
  return responses
}

const error = { $ref: '#/components/schemas/Error' }

function runFailure({ named }: Place): Json {
  return plainSchema(RunFailureResponse, named)
}

/** Whether a response with this code is about a run that started. A timeout can also come before the start. */
function shapesOf(code: ErrorCode): boolean[] {
  if (code === 'EXECUTION_TIMEOUT') return [true, false]
  return [code === 'EXECUTION_FAILED']
}

const headers = {
  'X-Request-Id': { description: "The request's id: the caller's own, or a new one.", schema: { type: 'string' } },
  'X-Execution-Id': { description: 'The id of the run; present when a run was started.', schema: { type: 'string' } },
  'X-Run-Id': { description: 'The id of the run; present when a run was started.', schema: { type: 'string' } },
  'Retry-After': { description: 'Seconds to wait before another attempt.', schema: { type: 'integer' } },
  'X-RateLimit-Limit': {
    description: 'Requests allowed in the window. Executions show it once the key was accepted.',
    schema: { type: 'integer' },
  },
  'X-RateLimit-Remaining': { description: 'Requests left in this window.', schema: { type: 'integer' } },
  'X-RateLimit-Reset': { description: 'When the window ends.', schema: { type: 'string', format: 'date-time' } },
} as const

/** The document of a single workflow's endpoint does not have all of them. */
function usedHeaders(paths: Record<string, PathItem>): Json {
  const text = JSON.stringify(paths)
  return Object.fromEntries(Object.entries(headers).filter(([name]) => text.includes(`/headers/${name}"`)))
}

function headersOf(place: Place, status: string): Json {
  const ofRun = isExecution(place)
  const showsWindow = ofRun || isExternal(place.path)
  const carries: Record<keyof typeof headers, boolean> = {
    'X-Request-Id': true,
    'X-Execution-Id': ofRun && !isV2(place.path),
    'X-Run-Id': ofRun && isV2(place.path) && status < '300',
    'Retry-After': status === '429' || status === '503',
    'X-RateLimit-Limit': showsWindow,
    'X-RateLimit-Remaining': showsWindow,
    'X-RateLimit-Reset': showsWindow,
  }
  const names = Object.entries(carries).flatMap(([name, isCarried]) => (isCarried ? [name] : []))
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]))
}

/** The execute endpoint, whose responses carry the run's id and the window of executions. */
function isExecution({ path }: Place): boolean {
  return path.endsWith('/execute')
}
