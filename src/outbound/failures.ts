import { messageOf } from '../domain/errors.ts'
import { OutboundError, type OutboundFailure } from '../domain/outbound-request.ts'
import { brokenEncoding } from './body-reader.ts'
import type { Target } from './target.ts'

/** The parts of a target that messages name. */
export type Named = Pick<Target, 'host' | 'port' | 'name'>

/**
 * The error of a request that failed in `fetch`. The messages of `fetch` show the pinned address and the query, and
 * advise to pass options. These are for users who wrote a URL.
 */
export function failureOf(error: unknown, target: Named): OutboundError {
  if (error instanceof OutboundError) return error
  const code = codeOf(error)
  const { name } = target
  const connecting = connectingFailures.get(code)
  if (connecting) return new OutboundError('CONNECTION_FAILED', `${target.host}:${target.port} ${connecting}`, error)
  const malformed = malformedResponses.get(code)
  if (malformed) return new OutboundError('INVALID_RESPONSE', `${name} sent ${malformed}`, error)
  if (code === 'ECONNRESET' || code === 'EPIPE')
    return new OutboundError(
      'CONNECTION_FAILED',
      `${name} closed the connection before its response was complete`,
      error,
    )
  if (/CERT|SELF_SIGNED|UNABLE_TO|TLS|SSL|CRL/.test(code))
    return new OutboundError('CONNECTION_FAILED', `The certificate of ${target.host} was not accepted: ${code}`, error)
  return new OutboundError('CONNECTION_FAILED', `The request to ${name} failed: ${code || 'no reason given'}`, error)
}

/** The outcome of a request that failed with this error. */
export function failedOutcome(error: unknown): OutboundFailure {
  if (error instanceof OutboundError) return { ok: false, code: error.code, message: error.message }
  return { ok: false, code: 'CONNECTION_FAILED', message: messageOf(error) }
}

/** Whether no connection was made. Nothing was sent, so another address of the name can be tried. */
export function neverConnected(error: unknown): boolean {
  return connectingFailures.has(codeOf(error))
}

/**
 * Whether the peer had closed a reused connection before this request, which failed `tookMs` after it was sent. In that
 * case, the reset arrives within a round trip. A later reset comes from a peer that may have read the request.
 */
export function wasClosedBefore(error: unknown, tookMs: number): boolean {
  const code = codeOf(error)
  return (code === 'ECONNRESET' || code === 'EPIPE') && tookMs < resetMsMax
}

const resetMsMax = 2_000

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : ''
}

const connectingFailures: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'refused the connection'],
  ['ConnectionRefused', 'refused the connection'],
  ['EHOSTUNREACH', 'is not reachable'],
  ['ENETUNREACH', 'is not reachable'],
  ['EADDRNOTAVAIL', 'is not reachable from this machine'],
  ['EAFNOSUPPORT', 'is not reachable from this machine'],
  ['ETIMEDOUT', 'did not accept the connection in time'],
  ['FailedToOpenSocket', 'is not reachable'],
])

const malformedResponses: ReadonlyMap<string, string> = new Map([
  ['InvalidHTTPResponse', 'a response that is not HTTP'],
  ['Malformed_HTTP_Response', 'a response that is not HTTP, or has more than 250 headers'],
  ['InvalidContentLength', 'a response with an invalid Content-Length'],
  ['UnrequestedUpgrade', 'a protocol switch that was not requested'],
  ['ResponseHeadersTooLarge', 'headers that are too large'],
  [brokenEncoding, 'a body that does not match its Content-Encoding'],
])
