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
  'RUN_ID_CONFLICT',
  'ALREADY_RESUMED',
  'EXPIRED',
  'CANCELLED',
  'IDEMPOTENCY_IN_PROGRESS',
  'IDEMPOTENCY_MISMATCH',
  'PAYLOAD_TOO_LARGE',
  'RATE_LIMIT_EXCEEDED',
  'WORKFLOW_LIMIT',
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

/** The most problems that an error lists. More do not help the reader, and cost memory for each mistake of a caller. */
export const problemsMax = 20
const messageCharsMax = 500
const pathCharsMax = 200

/**
 * An error about several problems. Its message joins theirs. Everything is bounded: a list of problems may have one row
 * for each of a million values, and a message may quote a value of megabytes.
 */
export function problemsError(
  code: ErrorCode,
  problems: readonly ErrorDetail[],
  options: Omit<AppErrorOptions, 'details'> = {},
): AppError {
  const details = boundedDetails(problems)
  return new AppError(code, details.map(({ message }) => message).join(' '), { ...options, details })
}

/**
 * The first problems, and one row that counts the others. A list that is already bounded stays as it is, because every
 * error is bounded again when it becomes a response.
 */
export function boundedDetails(problems: readonly ErrorDetail[]): ErrorDetail[] {
  const isShort = problems.length <= problemsMax + 1
  const shown = problems.slice(0, isShort ? problems.length : problemsMax).map(({ path, message }) => ({
    path: clip(path, pathCharsMax),
    message: clip(message, messageCharsMax),
  }))
  return isShort ? shown : [...shown, { path: '', message: `And ${problems.length - problemsMax} more.` }]
}

/** At most `charsMax` characters of a text, which is marked when it is cut. */
export function clip(text: string, charsMax: number): string {
  return text.length <= charsMax ? text : `${text.slice(0, charsMax - 1)}…`
}

/** Whether the disk or a queue refused the work for now and will accept it later. Such a run is not recorded. */
export function isRefusedForNow(error: unknown): boolean {
  return error instanceof AppError && (error.code === 'STORAGE_UNAVAILABLE' || error.code === 'OVERLOADED')
}

/** Thrown when the limits of a workflow skip a start. This is not an error of the caller, who gets 202. */
export class StartSkipped extends Error {
  constructor() {
    super('The limits of the workflow skip this start')
    this.name = 'StartSkipped'
  }
}

/** Whether no run was started or recorded, so its input, such as files, must be deleted. */
export function startedNothing(error: unknown): boolean {
  if (error instanceof StartSkipped || isRefusedForNow(error)) return true
  return error instanceof AppError && (error.code === 'WORKFLOW_LIMIT' || error.code === 'EXECUTION_TIMEOUT')
}

/** The message of anything that was thrown, for people. */
export function messageOf(thrown: unknown): string {
  return thrown instanceof Error ? thrown.message : String(thrown)
}
