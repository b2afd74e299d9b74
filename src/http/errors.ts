import { type Static, Type as t } from '@sinclair/typebox'
import { AppError, type ErrorCode, errorCodes } from '../domain/errors.ts'
import { oneOf } from '../domain/one-of.ts'

/** The one place where codes become statuses: it does not compile with one missing. */
const statuses: Record<ErrorCode, number> = {
  INVALID_JSON: 400,
  INVALID_INPUT: 400,
  INVALID_PARAMETERS: 400,
  INVALID_CURSOR: 400,
  API_KEY_REQUIRED: 401,
  INVALID_API_KEY: 401,
  INVALID_SIGNATURE: 401,
  SIGN_IN_REQUIRED: 401,
  INVALID_CREDENTIALS: 401,
  USAGE_LIMIT_EXCEEDED: 402,
  WORKFLOW_NOT_DEPLOYED: 403,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  CONFLICT: 409,
  PAYLOAD_TOO_LARGE: 413,
  RATE_LIMIT_EXCEEDED: 429,
  INTERNAL: 500,
  EXECUTION_FAILED: 500,
  OVERLOADED: 503,
  STORAGE_UNAVAILABLE: 503,
  EXECUTION_TIMEOUT: 504,
}

export function statusOf(code: ErrorCode): number {
  return statuses[code]
}

/** Every response that is no success, on every route. */
export const ErrorResponse = t.Object({
  error: t.String({ description: 'What is wrong, for people.' }),
  code: oneOf(errorCodes, { description: 'What is wrong, for programs.' }),
  details: t.Optional(
    t.Array(t.Object({ path: t.String(), message: t.String() }), {
      description: 'Every single thing that is wrong.',
    }),
  ),
})
export type ErrorResponse = Static<typeof ErrorResponse>

export function errorBody({ message, code, details }: AppError): ErrorResponse {
  return details ? { error: message, code, details: [...details] } : { error: message, code }
}

/** Seconds that a caller is asked to wait when an outage names no time itself. */
const outageRetryAfterS = 5

/** The headers that belong to an error whatever the route. */
export function errorHeaders({ code, retryAfterS }: AppError): Record<string, string> {
  const wait = retryAfterS ?? (statuses[code] === 503 ? outageRetryAfterS : undefined)
  return wait === undefined ? {} : { 'retry-after': String(wait) }
}

/**
 * An error as the response of a route that does its own work with `Response`s (the execute endpoint): the same body and
 * headers that a thrown one gets.
 */
export function errorResponse(error: AppError, headers: Record<string, string>): Response {
  return new Response(JSON.stringify(errorBody(error)), {
    status: statusOf(error.code),
    headers: { 'content-type': 'application/json', ...errorHeaders(error), ...headers },
  })
}

/**
 * What was thrown, as an error for the caller. Elysia's own errors are recognised by their code; anything unknown is a
 * bug of ours, and its message stays inside (it is the `cause`).
 */
export function toAppError(thrown: unknown): AppError {
  if (thrown instanceof AppError) return thrown
  const { code, type } = (typeof thrown === 'object' && thrown !== null ? thrown : {}) as {
    code?: unknown
    type?: unknown
  }
  switch (code) {
    case 'NOT_FOUND':
      return new AppError('NOT_FOUND', 'There is nothing at this address.', { cause: thrown })
    case 'PARSE':
      return new AppError('INVALID_JSON', 'The body could not be read as JSON.', { cause: thrown })
    case 'VALIDATION':
      // A *response* that breaks its schema arrives here too, and is no fault of the caller.
      if (type === 'response') break
      return new AppError(type === 'body' ? 'INVALID_INPUT' : 'INVALID_PARAMETERS', `The ${type} is not valid.`, {
        cause: thrown,
      })
    case 'INVALID_COOKIE_SIGNATURE':
      return new AppError('INVALID_PARAMETERS', 'A cookie of this request is not valid.', { cause: thrown })
    case 'INVALID_FILE_TYPE':
      return new AppError('INVALID_INPUT', 'A file of this request has a type that is not taken.', { cause: thrown })
  }
  return new AppError('INTERNAL', 'Internal error', { cause: thrown })
}
