/** The shape of every request to an address that a user chose, and of what became of it. `outbound/` carries it out. */

export const outboundFailureCodes = [
  'TIMEOUT',
  'CONNECTION_FAILED',
  'NAME_NOT_FOUND',
  'ADDRESS_REFUSED',
  'INVALID_URL',
  /** A method or header that HTTP cannot carry. */
  'INVALID_REQUEST',
  'RESPONSE_TOO_LARGE',
  'INVALID_RESPONSE',
  'TOO_MANY_REDIRECTS',
  'CANCELLED',
] as const

export type OutboundFailureCode = (typeof outboundFailureCodes)[number]

export type OutboundRequest = {
  url: string
  method: string
  /** In order, as the author wrote them; names are case-insensitive and may repeat. */
  headers: readonly (readonly [name: string, value: string])[]
  /** A `Blob` has to be one that can be read again, for another attempt or after a redirect. */
  body?: string | Uint8Array<ArrayBuffer> | FormData | Blob
  /** Redirects followed at most; 0 makes the 3xx the answer. */
  followRedirects: number
  /** From waiting for a free place to the last byte of the answer. */
  timeoutMs: number
  /** Bytes of the answer's body, after decompression. */
  answerBytesMax: number
  signal: AbortSignal
}

export type OutboundAnswer = {
  status: number
  /** Lower-case names; repeated ones joined by `, `, `set-cookie` a list. */
  headers: Record<string, string | string[]>
  body: Uint8Array<ArrayBuffer>
  /** The address that answered in the end, without credentials. */
  url: string
}

/** `status` and `headers` are there when an answer had begun (its body was too large, or broke off). */
export type OutboundFailure = {
  ok: false
  code: OutboundFailureCode
  message: string
  status?: number
  headers?: Record<string, string | string[]>
}

export type OutboundOutcome = { ok: true; answer: OutboundAnswer } | OutboundFailure

/** Never throws: what goes wrong is an outcome. */
export type OutboundFetch = (request: OutboundRequest) => Promise<OutboundOutcome>

/** An answer whose body is still arriving. */
export type OutboundStream = Omit<OutboundAnswer, 'body'> & { body: OutboundBody }

/** The request keeps its slot among those in flight until the body was read to its end, failed or was closed. */
export type OutboundBody = {
  /**
   * The next part; undefined at the end. Rejects with an `OutboundError` when the body broke off, grew too large,
   * passed the deadline or was closed.
   */
  read(): Promise<Uint8Array<ArrayBuffer> | undefined>
  /** Ends the request; the rest of its response is not read. */
  close(): void
}

/** Like `OutboundFetch`, but resolves as soon as the answer has begun. Never throws. */
export type OutboundOpen = (request: OutboundRequest) => Promise<{ ok: true; answer: OutboundStream } | OutboundFailure>

/** Why the body of an `OutboundStream` did not arrive as a whole. */
export class OutboundError extends Error {
  readonly code: OutboundFailureCode

  constructor(code: OutboundFailureCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'OutboundError'
    this.code = code
  }
}

/**
 * A request whose answer is taken note of, and no more: of its body the beginning is read. Redirects are not
 * followed.
 */
export type OutboundPost = {
  url: string
  headers: readonly (readonly [name: string, value: string])[]
  body: string
  /** From looking up the address to the end of the answer, or to as much of it as is read. */
  timeoutMs: number
  /** Bytes of the answer's body that are read. */
  answerBytes: number
  signal: AbortSignal
}

/** `retryAfter`: the header, where there is one. */
export type OutboundPosted =
  | { ok: true; status: number; retryAfter: string | undefined; answer: Uint8Array }
  | OutboundFailure
