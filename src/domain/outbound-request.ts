/** The shape of every request to an address that a user chose, and of what became of it. `outbound/` carries it out. */

export const outboundFailureCodes = [
  'TIMEOUT',
  'CONNECTION_FAILED',
  'NAME_NOT_FOUND',
  'ADDRESS_REFUSED',
  'INVALID_URL',
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
  body?: string | Uint8Array<ArrayBuffer> | FormData
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

export type OutboundOutcome =
  | { ok: true; answer: OutboundAnswer }
  /** `status` and `headers` are there when an answer had begun (its body was too large, or broke off). */
  | {
      ok: false
      code: OutboundFailureCode
      message: string
      status?: number
      headers?: Record<string, string | string[]>
    }

/** Never throws: what goes wrong is an outcome. */
export type OutboundFetch = (request: OutboundRequest) => Promise<OutboundOutcome>
