import { writeSync } from 'node:fs'

export const logLevels = ['debug', 'info', 'warn', 'error'] as const
export type LogLevel = (typeof logLevels)[number]

/** Which requests are logged: none, those with status 400 or more, or all. */
export type AccessLogging = 'off' | 'errors' | 'all'

/** The fields of a log line. Never a key, a body or a query string. */
export type LogFields = Readonly<Record<string, unknown>>

/** The place of a run in a distributed trace. */
export type TraceFields = { trace_id: string; span_id: string; trace_flags: string }

/** One request. Null means absent or unknown. */
export type AccessLine = {
  requestId: string
  method: string
  /** Without the query string, which may contain secrets. */
  path: string
  status: number
  durationMs: number | null
  /** Size of the response body in bytes. */
  bytes: number | null
  keyId: string | null
  /** The account of a request with a session. */
  userId: string | null
  workflowId: string | null
  executionId: string | null
  code: string | null
}

export type LoggerOptions = {
  level: LogLevel
  access: AccessLogging
  now: () => number
  /** Writes one line including its line break; standard error by default. */
  write?: (line: string) => void
}

/**
 * Writes log lines as JSON, one object per line. Never throws: a full disk or a closed pipe loses lines, not requests.
 */
export class Logger {
  /** The lowest status that is logged. Check it before building a line. */
  readonly accessFrom: number
  readonly #rank: number
  readonly #now: () => number
  readonly #write: (line: string) => void
  #redact: ((jsonText: string) => string) | undefined
  #traceOf: ((executionId: string) => TraceFields) | undefined

  constructor({ level, access, now, write = writeToStandardError }: LoggerOptions) {
    this.accessFrom = { off: Number.POSITIVE_INFINITY, errors: 400, all: 0 }[access]
    this.#rank = logLevels.indexOf(level)
    this.#now = now
    this.#write = write
  }

  /** Applies `redact` to the message and field values of all further lines. */
  redactWith(redact: (jsonText: string) => string): void {
    this.#redact = redact
  }

  /** Adds `traceOf` to all further lines that have an `executionId`. */
  traceWith(traceOf: (executionId: string) => TraceFields): void {
    this.#traceOf = traceOf
  }

  debug(message: string, fields?: LogFields): void {
    this.#line('debug', message, fields)
  }

  info(message: string, fields?: LogFields): void {
    this.#line('info', message, fields)
  }

  warn(message: string, fields?: LogFields): void {
    this.#line('warn', message, fields)
  }

  /** A `cause` field is written with its stack and its own causes. */
  error(message: string, fields?: LogFields): void {
    this.#line('error', message, fields)
  }

  /** Independent of the log level, because access logging has its own setting. */
  access(line: AccessLine): void {
    if (line.status >= this.accessFrom) this.#put(line.status >= 500 ? 'error' : 'info', 'request', line)
  }

  #line(level: LogLevel, message: string, fields: LogFields | undefined): void {
    if (logLevels.indexOf(level) >= this.#rank) this.#put(level, message, fields)
  }

  #put(level: LogLevel, message: string, fields: LogFields | undefined): void {
    const time = new Date(this.#now()).toISOString()
    let text: string
    try {
      text = this.#text({ time, level }, { message, ...fields, ...this.#traceIn(fields) })
    } catch (error) {
      text = this.#text({ time, level }, { message, unwritable: String(error) })
    }
    try {
      this.#write(`${text}\n`)
    } catch {
      // There is no other place to report it.
    }
  }

  #traceIn(fields: LogFields | undefined): TraceFields | undefined {
    const executionId = this.#traceOf && fields?.['executionId']
    return typeof executionId === 'string' ? this.#traceOf?.(executionId) : undefined
  }

  /** Writes one object. `own` holds members without user data; field names contain none either. */
  #text(own: LogFields, fields: LogFields): string {
    const plain = JSON.stringify({ ...own, ...fields }, plainly)
    if (!this.#redact) return plain
    const given = Object.entries(fields).filter(([, value]) => value !== undefined)
    const values = JSON.stringify(
      given.map(([, value]) => value),
      plainly,
    )
    const redacted = this.#redact(values)
    if (redacted === values) return plain
    const shown = JSON.parse(redacted) as unknown[]
    return JSON.stringify({ ...own, ...Object.fromEntries(given.map(([name], index) => [name, shown[index]])) })
  }
}

function writeToStandardError(line: string): void {
  writeSync(2, line)
}

/** Deeper causes add nothing and may be circular. */
const causesMax = 5

function plainly(_name: string, value: unknown): unknown {
  if (value instanceof Error) return describeError(value, 0)
  return typeof value === 'bigint' ? value.toString() : value
}

function describeError(error: Error, depth: number): Record<string, unknown> {
  const { name, message, stack, cause } = error
  const code = 'code' in error ? { code: error.code } : {}
  return { name, message, ...code, stack, ...(cause === undefined ? {} : { cause: describeCause(cause, depth + 1) }) }
}

function describeCause(cause: unknown, depth: number): unknown {
  if (!(cause instanceof Error)) return cause
  return depth < causesMax ? describeError(cause, depth) : cause.message
}
