import { Type as t } from '@sinclair/typebox'
import type { AppError, ErrorCode } from '../domain/errors.ts'
import { oneOf } from '../domain/one-of.ts'
import { errorBody, errorHeaders } from './errors.ts'
import { privateNoStore } from './responses/v2/envelope.ts'

/** The error codes of `/api/v2` and their statuses. All except METHOD_NOT_ALLOWED are codes of Sim's API. */
const statuses = {
  BAD_REQUEST: 400,
  UNAUTHORIZED: 401,
  USAGE_LIMIT_EXCEEDED: 402,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  CONFLICT: 409,
  PAYLOAD_TOO_LARGE: 413,
  RATE_LIMITED: 429,
  INTERNAL_ERROR: 500,
  SERVICE_UNAVAILABLE: 503,
} as const
export type CodeV2 = keyof typeof statuses

/** The code that `/api/v2` uses for each code of the service. */
const codes: Record<ErrorCode, CodeV2> = {
  INVALID_JSON: 'BAD_REQUEST',
  INVALID_INPUT: 'BAD_REQUEST',
  INVALID_PARAMETERS: 'BAD_REQUEST',
  INVALID_CURSOR: 'BAD_REQUEST',
  API_KEY_REQUIRED: 'UNAUTHORIZED',
  INVALID_API_KEY: 'UNAUTHORIZED',
  INVALID_SIGNATURE: 'UNAUTHORIZED',
  SIGN_IN_REQUIRED: 'UNAUTHORIZED',
  INVALID_CREDENTIALS: 'UNAUTHORIZED',
  USAGE_LIMIT_EXCEEDED: 'USAGE_LIMIT_EXCEEDED',
  WORKFLOW_NOT_DEPLOYED: 'FORBIDDEN',
  FORBIDDEN: 'FORBIDDEN',
  NOT_FOUND: 'NOT_FOUND',
  METHOD_NOT_ALLOWED: 'METHOD_NOT_ALLOWED',
  CONFLICT: 'CONFLICT',
  RUN_ID_CONFLICT: 'CONFLICT',
  ALREADY_RESUMED: 'CONFLICT',
  EXPIRED: 'CONFLICT',
  CANCELLED: 'CONFLICT',
  IDEMPOTENCY_IN_PROGRESS: 'CONFLICT',
  IDEMPOTENCY_MISMATCH: 'CONFLICT',
  PAYLOAD_TOO_LARGE: 'PAYLOAD_TOO_LARGE',
  RATE_LIMIT_EXCEEDED: 'RATE_LIMITED',
  WORKFLOW_LIMIT: 'RATE_LIMITED',
  INTERNAL: 'INTERNAL_ERROR',
  EXECUTION_FAILED: 'INTERNAL_ERROR',
  OVERLOADED: 'SERVICE_UNAVAILABLE',
  STORAGE_UNAVAILABLE: 'SERVICE_UNAVAILABLE',
  // The caller waited too long for the limits of the workflow. Nothing has run.
  EXECUTION_TIMEOUT: 'SERVICE_UNAVAILABLE',
}

export function codeV2Of(code: ErrorCode): CodeV2 {
  return codes[code]
}

export function statusV2Of(code: ErrorCode): number {
  return statuses[codes[code]]
}

/** The body of every error below `/api/v2`. */
export const ErrorV2 = t.Object(
  {
    error: t.Object({
      code: oneOf(Object.keys(statuses) as CodeV2[]),
      message: t.String({ description: 'A text for people: the mistake and the remedy.' }),
      details: t.Optional(
        t.Union([
          t.Array(
            t.Object({
              path: t.Array(t.String(), { description: 'The path of the wrong member or parameter.' }),
              message: t.String(),
            }),
            { description: 'All mistakes.' },
          ),
          t.Object({
            code: t.String({ description: 'The more precise code that the other routes of the service use.' }),
          }),
        ]),
      ),
    }),
  },
  { $id: 'ErrorV2' },
)
export type ErrorV2 = {
  error: { code: CodeV2; message: string; details?: { path: string[]; message: string }[] | { code: ErrorCode } }
}

export function errorBodyV2(error: AppError): ErrorV2 {
  const { error: message, details } = errorBody(error)
  const code = codes[error.code]
  if (details) {
    const rows = details.map((row) => ({ path: row.path === '' ? [] : row.path.split('.'), message: row.message }))
    return { error: { code, message, details: rows } }
  }
  return { error: { code, message, ...(saysMore(error.code, code) && { details: { code: error.code } }) } }
}

/** Whether the service's own code is more precise than the code of version 2. */
function saysMore(code: ErrorCode, codeV2: CodeV2): boolean {
  return code !== codeV2 && code !== 'INTERNAL' && code !== 'RATE_LIMIT_EXCEEDED'
}

export function errorHeadersV2(error: AppError): Record<string, string> {
  return {
    ...errorHeaders(error),
    'cache-control': privateNoStore,
    ...(codes[error.code] === 'UNAUTHORIZED' && { 'www-authenticate': 'ApiKey realm="API", header="x-api-key"' }),
    ...(error.code === 'EXECUTION_TIMEOUT' && { 'retry-after': '1' }),
  }
}
