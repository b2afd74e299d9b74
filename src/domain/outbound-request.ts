/** The shapes of requests to addresses that users choose, and of their outcomes. `outbound/` sends them. */

import type { Redactor } from './redaction/redactor.ts'

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
  /** A redirect would have sent a secret to another origin. */
  'REDIRECT_REFUSED',
  /** The credential may not be sent to the host of the request. */
  'CREDENTIAL_HOST',
  /** Nobody has signed in with the credential, or someone must do so again. */
  'CREDENTIAL_SIGN_IN',
  /** The credential cannot be used: a part of it is missing, or its server issues no token. */
  'CREDENTIAL_FAILED',
  'CANCELLED',
] as const

export type OutboundFailureCode = (typeof outboundFailureCodes)[number]

export type OutboundRequest = {
  url: string
  method: string
  /** In order, as the author wrote them; names are case-insensitive and may repeat. */
  headers: readonly (readonly [name: string, value: string])[]
  /** A `Blob` must be readable more than once, for another attempt or after a redirect. */
  body?: string | Uint8Array<ArrayBuffer> | FormData | Blob
  /** The most redirects to follow; with 0, a 3xx is the response. */
  followRedirects: number
  /** From waiting for a free slot to the last byte of the response. */
  timeoutMs: number
  /** Bytes of the response body, after decompression. */
  responseBytesMax: number
  signal: AbortSignal
  /** The credential that the request is sent with. */
  authorization?: RequestAuthorization | undefined
  /** Knows the workspace's secrets, which no redirect carries to another origin. */
  redactor?: Redactor | undefined
  /** The workspace that sends the request. Workspaces share the slots for requests in flight. */
  workspaceId?: string
  /** The block that sends it. */
  blockName?: string
  /** How often such requests may be sent. The wait for the request's turn does not count towards `timeoutMs`. */
  pace?: Pace
  /** The request goes out at once. For those that requests with a slot wait for. */
  takesNoSlot?: true
  /** The memory that the response body takes. Without it, only `responseBytesMax` limits the body. */
  memory?: OutboundMemory
}

/**
 * Authenticates a request and its redirects with a credential. One object serves one request and its repetitions. No
 * part of the credential is sent to a URL that it does not cover: a request to one is refused, and a redirect to one
 * goes without.
 */
export type RequestAuthorization = {
  /** For messages. */
  name: string
  /** The settings of the credential that are not secret. */
  fields?: Readonly<Record<string, unknown>>
  covers(url: URL): boolean
  /** Adds the credential to a request that is about to be sent. May wait for a token. Throws `OutboundError`. */
  authorize(request: UnauthorizedRequest): void | Promise<void>
  /** Whether the request is to be authorized and sent once more after a response. */
  repeatsAfter?(response: Pick<OutboundResponse, 'status' | 'headers'>): boolean | Promise<boolean>
  /** Called with the status of a response that is not repeated. */
  responded?(status: number): void
  /** A URL that reads an object without the credential, for so many seconds. Throws `OutboundError`. */
  presign?(url: URL, expiresS: number): Promise<string>
  /** For the connection, in PEM. */
  tls?: { ca?: string; cert?: string; key?: string; passphrase?: string }
}

/** `url` and `headers` may be changed. */
export type UnauthorizedRequest = {
  readonly method: string
  readonly url: URL
  readonly headers: Headers
  readonly body: OutboundRequest['body']
}

/**
 * The requests a second that a workspace sends with the credential `of`, or to one host when `of` is empty. All blocks
 * with the same credential or host wait in one line.
 */
export type Pace = { perSecond: number; of: string }

/** The body of a response is not read further while there is no room, until the request's deadline. */
export type OutboundMemory = {
  /** Counts bytes that arrived. */
  add(bytes: number): void
  hasRoom(): boolean
}

export type OutboundResponse = {
  status: number
  /** Lower-case names; repeated ones joined by `, `, `set-cookie` a list. */
  headers: Record<string, string | string[]>
  body: Uint8Array<ArrayBuffer>
  /** The URL of the response after redirects, without credentials. */
  url: string
}

/** `status` and `headers` are set when a response had begun (its body was too large, or broke off). */
export type OutboundFailure = {
  ok: false
  code: OutboundFailureCode
  message: string
  status?: number
  headers?: Record<string, string | string[]>
}

export type OutboundOutcome = { ok: true; response: OutboundResponse } | OutboundFailure

/** Never throws: a failure is an outcome. */
export type OutboundFetch = (request: OutboundRequest) => Promise<OutboundOutcome>

/** A response whose body is still arriving. */
export type OutboundStream = Omit<OutboundResponse, 'body'> & { body: OutboundBody }

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

/** Like `OutboundFetch`, but resolves as soon as the response has begun. Never throws. */
export type OutboundOpen = (
  request: OutboundRequest,
) => Promise<{ ok: true; response: OutboundStream } | OutboundFailure>

/** Why the body of an `OutboundStream` did not arrive completely. */
export class OutboundError extends Error {
  readonly code: OutboundFailureCode

  constructor(code: OutboundFailureCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'OutboundError'
    this.code = code
  }
}

/** A request of which only the response's status and the beginning of its body are read. Redirects are not followed. */
export type OutboundPost = {
  url: string
  headers: readonly (readonly [name: string, value: string])[]
  body: string
  /** From looking up the address to the end of the response, or of the part that is read. */
  timeoutMs: number
  /** At most this many bytes of the response body are read. */
  responseBytesMax: number
  signal: AbortSignal
}

/** `retryAfter`: the header, if there is one. `responseStart`: the beginning of the body, as far as it was read. */
export type OutboundPosted =
  | { ok: true; status: number; retryAfter: string | undefined; responseStart: Uint8Array }
  | OutboundFailure
