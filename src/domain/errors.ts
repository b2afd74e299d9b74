/** The error codes that callers can receive. The HTTP statuses are in `http/errors.ts`. */
export const errorCodes = [
  'INVALID_JSON',
  'INVALID_INPUT',
  'INVALID_PARAMETERS',
  'INVALID_CURSOR',
  'API_KEY_REQUIRED',
  'INVALID_API_KEY',
  'INVALID_SIGNATURE',
  'SIGN_IN_REQUIRED',
  'INVALID_CREDENTIALS',
  'USAGE_LIMIT_EXCEEDED',
  'WORKFLOW_NOT_DEPLOYED',
  'FORBIDDEN',
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'CONFLICT',
  'PAYLOAD_TOO_LARGE',
  'RATE_LIMIT_EXCEEDED',
  'INTERNAL',
  'OVERLOADED',
  'STORAGE_UNAVAILABLE',
  'EXECUTION_FAILED',
  'EXECUTION_TIMEOUT',
] as const

export type ErrorCode = (typeof errorCodes)[number]

/** One finding about what the caller sent. `path` names the field, the parameter or the block. */
export type ErrorDetail = { path: string; message: string }

export type AppErrorOptions = { details?: readonly ErrorDetail[]; retryAfterS?: number; cause?: unknown }

/** A problem that the caller caused, or an announced outage. Anything else that is thrown is a bug: `INTERNAL`. */
export class AppError extends Error {
  readonly code: ErrorCode
  readonly details: readonly ErrorDetail[] | undefined
  /** Seconds after which the caller may retry; sent as the `Retry-After` header. */
  readonly retryAfterS: number | undefined

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = 'AppError'
    this.code = code
    this.details = options.details
    this.retryAfterS = options.retryAfterS
  }
}

/** Whether the disk or a queue refused the work for now and will accept it later. Such a run is not recorded. */
export function isRefusedForNow(error: unknown): boolean {
  return error instanceof AppError && (error.code === 'STORAGE_UNAVAILABLE' || error.code === 'OVERLOADED')
}

/** The message of anything that was thrown, for people. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}
