import { AppError } from '../../domain/errors.ts'

/** Seconds that callers are asked to wait. */
const retryAfterS = 1

export function unavailable(message: string, cause?: unknown): AppError {
  return new AppError('STORAGE_UNAVAILABLE', message, { retryAfterS, cause })
}

export function silent(): AppError {
  return unavailable('PostgreSQL does not answer. The service continues by itself.')
}

/** The error that callers of the store get; undefined when neither the database nor its input caused it. */
export function storageError(error: unknown): AppError | undefined {
  const { state, code } = codesOf(error)
  if (state === undefined && code === undefined) return undefined
  if (isTlsProblem(error)) {
    const problem = (error as Error).message
    const message = `PostgreSQL cannot be reached with TLS as MILLRACE_STORE demands: ${problem}. Check sslmode and sslrootcert.`
    return unavailable(message, error)
  }
  const says = `(${[state, (error as Error).message].filter(Boolean).join(': ')})`
  if (state === '53100') {
    return unavailable(
      `The disk of the PostgreSQL server is full ${says}. Free space; the service continues by itself.`,
      error,
    )
  }
  if (isReadOnly(error)) {
    return unavailable(
      `The PostgreSQL server accepts no changes ${says}. Name all servers in MILLRACE_STORE: the service uses the primary.`,
      error,
    )
  }
  const denied = state === undefined ? undefined : accessProblems[state]
  if (denied) return unavailable(`PostgreSQL refused the connection: ${denied} ${says}`, error)
  if (isForgotten(error)) return unavailable(noPreparing, error)
  if (state === '22021' || state === '22P05') {
    return new AppError('INVALID_INPUT', 'A text contains the character U+0000, which PostgreSQL cannot store.', {
      cause: error,
    })
  }
  if (isConflict(error)) {
    return unavailable(`Other transactions changed the same rows again and again ${says}.`, error)
  }
  if (state === undefined ? code?.startsWith('ERR_POSTGRES_') : unavailableStates.test(state)) {
    return unavailable(`PostgreSQL is not available ${says}. The service continues by itself.`, error)
  }
  return undefined
}

/** Whether the error comes from the address, and does not go away by itself. */
export function isMistake(error: unknown): boolean {
  const { state = '' } = codesOf(error)
  return isTlsProblem(error) || isForgotten(error) || accessProblems[state] !== undefined
}

function isTlsProblem(error: unknown): boolean {
  const { state, code } = codesOf(error)
  return state === undefined && code !== undefined && tlsProblem.test(code)
}

/** Whether a prepared statement is missing, or belongs to another client of a pooler. */
function isForgotten(error: unknown): boolean {
  const { state } = codesOf(error)
  return state === '26000' || state === '42P05'
}

/** Whether PostgreSQL refused a transaction because of a concurrent one, so that it can be repeated. */
export function isConflict(error: unknown): boolean {
  const { state } = codesOf(error)
  return state === '40001' || state === '40P01'
}

/** Whether the server accepts no changes: it is a standby server. */
export function isReadOnly(error: unknown): boolean {
  return codesOf(error).state === '25006'
}

/** Whether the error comes from the server, and not from a connection that does not work. */
export function isAnswer(error: unknown): boolean {
  return codesOf(error).state !== undefined
}

/** Whether the server is gone or has become a standby server, so that another one may have taken over. */
export function isLost(error: unknown): boolean {
  const { state, code } = codesOf(error)
  if (state === undefined) return code?.startsWith('ERR_POSTGRES_') ?? false
  return isReadOnly(error) || state.startsWith('57P') || state.startsWith('08')
}

/** Whether a lock was not available within `lock_timeout`. */
export function isLockTimeout(error: unknown): boolean {
  return codesOf(error).state === '55P03'
}

/** Whether a row breaks a rule of its table. The statement has then changed nothing. */
export function isRefusedRow(error: unknown): boolean {
  return codesOf(error).state?.startsWith('23') ?? false
}

/** Whether the unique index or primary key of this name refused a row. */
export function isDuplicate(error: unknown, index: string): boolean {
  return codesOf(error).state === '23505' && (error as { constraint?: unknown }).constraint === index
}

/** Mistakes in the address, by SQLSTATE. */
const accessProblems: Readonly<Record<string, string>> = {
  '28000': 'correct the user, sslmode, sslcert and sslkey in MILLRACE_STORE, or the rules in pg_hba.conf.',
  '28P01': 'correct the password in MILLRACE_STORE.',
  '3D000': 'correct the name of the database in MILLRACE_STORE, or create it.',
  '42501': 'give the user the rights that the documentation lists.',
}

const noPreparing =
  'The pooler in front of PostgreSQL does not keep prepared statements. Write MILLRACE_STORE with the parameter ' +
  'prepare=false, such as postgres://USER:PASSWORD@HOST:PORT/DATABASE?prepare=false.'

/** Codes about certificates, such as `DEPTH_ZERO_SELF_SIGNED_CERT`, and about servers without TLS. */
const tlsProblem = /TLS|CERT|ISSUER|SIGNATURE/

/** Connections, resources, shutdowns, the server's disk, and what an administrator or a time limit ended. */
const unavailableStates = /^(08|25P03|53|57014|57P|58|XX)/

function codesOf(error: unknown): { state?: string; code?: string } {
  if (!(error instanceof Error) || error instanceof AppError) return {}
  const { code, errno } = error as Error & { code?: unknown; errno?: unknown }
  return {
    // The client puts the server's SQLSTATE into `errno`.
    ...(typeof errno === 'string' && { state: errno }),
    ...(typeof code === 'string' && { code }),
  }
}
