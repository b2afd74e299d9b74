import { messageOf } from '../domain/errors.ts'
import { OutboundError, type OutboundFailure } from '../domain/outbound-request.ts'
import { brokenEncoding } from './body-reader.ts'
import type { Target } from './target.ts'

/** What messages about a request name. */
export type Named = Pick<Target, 'host' | 'port' | 'name'>

/**
 * What became of a request, told from what `fetch` or a connection threw. Their own messages show the pinned address and the query, and
 * advise to pass options; these are for people who wrote a URL.
 */
export function failureOf(error: unknown, target: Named): OutboundError {
  if (error instanceof OutboundError) return error
  const code = codeOf(error)
  const { name } = target
  const connecting = connectingFailures.get(code)
  if (connecting) return new OutboundError('CONNECTION_FAILED', `${target.host}:${target.port} ${connecting}`, error)
  const malformed = malformedAnswers.get(code)
  if (malformed) return new OutboundError('INVALID_RESPONSE', `${name} sent ${malformed}`, error)
  if (code === 'ECONNRESET' || code === 'EPIPE')
    return new OutboundError('CONNECTION_FAILED', `${name} closed the connection before its answer was complete`, error)
  if (/CERT|SELF_SIGNED|UNABLE_TO|TLS|SSL|CRL/.test(code))
    return new OutboundError('CONNECTION_FAILED', `The certificate of ${target.host} was not accepted: ${code}`, error)
  return new OutboundError('CONNECTION_FAILED', `The request to ${name} failed: ${code || 'no reason given'}`, error)
}

/** The outcome of a request that ended like this. */
export function failedOutcome(error: unknown): OutboundFailure {
  if (error instanceof OutboundError) return { ok: false, code: error.code, message: error.message }
  return { ok: false, code: 'CONNECTION_FAILED', message: messageOf(error) }
}

/** Whether there was never a connection: another address of the same name may do better, and nothing was sent. */
export function neverConnected(error: unknown): boolean {
  return connectingFailures.has(codeOf(error))
}

/**
 * Whether a kept connection had been closed by its peer before this request, which failed `tookMs` after it was sent: then a
 * reset comes within a round trip. One that comes later is of a peer that has read the request.
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
  ['ETIMEDOUT', 'did not take the connection in time'],
  ['FailedToOpenSocket', 'is not reachable'],
])

const malformedAnswers: ReadonlyMap<string, string> = new Map([
  ['InvalidHTTPResponse', 'an answer that is not HTTP'],
  ['Malformed_HTTP_Response', 'an answer that is not HTTP, or has more than 250 headers'],
  ['InvalidContentLength', 'an answer of a length that is none'],
  ['UnrequestedUpgrade', 'a switch of protocols that nobody asked for'],
  ['ResponseHeadersTooLarge', 'headers that are too large'],
  [brokenEncoding, 'a body that is not compressed as its headers say'],
])
