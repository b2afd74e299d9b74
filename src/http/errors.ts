import { type Static, Type as t } from '@sinclair/typebox'
import { AppError, boundedDetails, clip, type ErrorCode, errorCodes } from '../domain/errors.ts'
import { oneOf } from '../domain/one-of.ts'

/** Maps error codes to HTTP statuses. A missing code is a compile error. */
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
  RUN_ID_CONFLICT: 409,
  ALREADY_RESUMED: 409,
  EXPIRED: 409,
  CANCELLED: 409,
  IDEMPOTENCY_IN_PROGRESS: 409,
  IDEMPOTENCY_MISMATCH: 422,
  PAYLOAD_TOO_LARGE: 413,
  RATE_LIMIT_EXCEEDED: 429,
  WORKFLOW_LIMIT: 429,
  INTERNAL: 500,
  EXECUTION_FAILED: 500,
  OVERLOADED: 503,
  STORAGE_UNAVAILABLE: 503,
  EXECUTION_TIMEOUT: 504,
}

export function statusOf(code: ErrorCode): number {
  return statuses[code]
}

const pauseOutcomes = ['resumed', 'expired', 'cancelled'] as const
/** By the code of the error. */
const outcomes: { readonly [code in ErrorCode]?: (typeof pauseOutcomes)[number] } = {
  ALREADY_RESUMED: 'resumed',
  EXPIRED: 'expired',
  CANCELLED: 'cancelled',
}

/** The body of every error response. */
export const ErrorResponse = t.Object({
  error: t.String({ description: 'What is wrong, for people.' }),
  code: oneOf(errorCodes, { description: 'What is wrong, for programs.' }),
  details: t.Optional(
    t.Array(t.Object({ path: t.String(), message: t.String() }), {
      description: 'One entry per problem.',
    }),
  ),
  outcome: t.Optional(oneOf(pauseOutcomes, { description: 'How a pause has ended that can no longer be answered.' })),
})
export type ErrorResponse = Static<typeof ErrorResponse>

/** The body of the 202 response to a start that the limits of the workflow skip. */
export const SkippedResponse = t.Object({ success: t.Literal(true), status: t.Literal('skipped') }, { $id: 'Skipped' })
export const skippedText = JSON.stringify({ success: true, status: 'skipped' } satisfies Static<typeof SkippedResponse>)

/** Bounded here once for every error, because messages and details may repeat what the caller sent. */
export function errorBody({ message, code, details }: AppError): ErrorResponse {
  const error = clip(message, messageCharsMax)
  const outcome = outcomes[code]
  return {
    ...{ error, code },
    ...(details && { details: boundedDetails(details) }),
    ...(outcome && { outcome }),
  }
}

const messageCharsMax = 10_000

/** `Retry-After` of an outage that does not give a time itself. */
const outageRetryAfterS = 5

/** The headers of an error, on every route. */
export function errorHeaders({ code, retryAfterS }: AppError): Record<string, string> {
  const wait = retryAfterS ?? (statuses[code] === 503 ? outageRetryAfterS : undefined)
  return {
    'content-type': 'application/json',
    'x-content-type-options': 'nosniff',
    ...(wait === undefined ? {} : { 'retry-after': String(wait) }),
  }
}

/**
 * An error as a finished `Response`, for the case that no route can produce one: the same body and headers as for a
 * thrown error.
 */
export function errorResponse(error: AppError, headers: Record<string, string>): Response {
  return new Response(JSON.stringify(errorBody(error)), {
    status: statusOf(error.code),
    headers: { ...errorHeaders(error), ...headers },
  })
}

/**
 * Turns whatever was thrown into an error for the caller. Elysia's errors are recognised by their code. Anything
 * unknown is a bug: its message stays internal, as the `cause`.
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
      // A *response* that does not match its schema arrives here too. It is not the caller's fault.
      if (type === 'response') break
      return new AppError(type === 'body' ? 'INVALID_INPUT' : 'INVALID_PARAMETERS', `The ${type} is not valid.`, {
        cause: thrown,
      })
    case 'INVALID_COOKIE_SIGNATURE':
      return new AppError('INVALID_PARAMETERS', 'A cookie of this request is not valid.', { cause: thrown })
    case 'INVALID_FILE_TYPE':
      return new AppError('INVALID_INPUT', 'A file of this request has a type that is not accepted.', { cause: thrown })
  }
  return new AppError('INTERNAL', 'Internal error', { cause: thrown })
}
