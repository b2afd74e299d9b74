import type { RunFailure } from '../domain/run/log.ts'
import type { ResponseHeaders } from '../engine/block.ts'
import type { RunEnd } from '../engine/run/runner.ts'
import { statusOf } from './errors.ts'
import { isoTime } from './responses.ts'
import { isSessionPair } from './session-cookie.ts'

/** The HTTP response of a run that ended: its envelope, or what its `response` block says. */
export function runResponse({ record, response }: RunEnd, headers: Record<string, string>): Response {
  const { executionId, failure, output, startedAt, endedAt, durationMs } = record
  if (response) return responseOf(response, headers)
  const metadata = `{"duration":${durationMs},"startTime":"${isoTime(startedAt)}","endTime":"${isoTime(endedAt)}"}`
  headers['content-type'] = 'application/json'
  const outputText = JSON.stringify(output) ?? 'null'
  if (!failure) {
    const text = `{"success":true,"executionId":"${executionId}","output":${outputText},"metadata":${metadata}}`
    return new Response(text, { headers })
  }
  const { blockId, blockName } = failure
  const facts = JSON.stringify({
    success: false,
    error: failure.message,
    code: codeOf(failure),
    executionId,
    blockId,
    blockName,
  })
  const text = `${facts.slice(0, -1)},"output":${outputText},"metadata":${metadata}}`
  return new Response(text, { status: statusOf(codeOf(failure)), headers })
}

function responseOf(response: NonNullable<RunEnd['response']>, headers: Record<string, string>): Response {
  const { data, status } = response
  const body = typeof data === 'string' ? data : (JSON.stringify(data) ?? 'null')
  headers['content-type'] = typeof data === 'string' ? 'text/plain; charset=utf-8' : 'application/json'
  const hasNoBody = status === 204 || status === 205 || status === 304
  // What the workflow sends is its own, of whatever type it says.
  delete headers['x-content-type-options']
  const own = Object.entries(response.headers)
  return new Response(hasNoBody ? null : body, { status, headers: own.length === 0 ? headers : withOwn(headers, own) })
}

/**
 * For a response that a browser may show as a page, since it can be had by following a link: its scripts run, but in an
 * origin of their own, so that no page that a workflow makes can use the session of whoever opens it.
 */
export function sandboxed(response: Response): Response {
  response.headers.append('content-security-policy', sandbox)
  return response
}

const sandbox =
  'sandbox allow-downloads allow-forms allow-modals allow-popups allow-popups-to-escape-sandbox allow-scripts ' +
  'allow-top-navigation-by-user-activation'

/** With those that the workflow sets. */
function withOwn(headers: Record<string, string>, own: readonly [string, ResponseHeaders[string]][]): Headers {
  const sent = new Headers(headers)
  for (const [name, value] of own) {
    const lower = name.toLowerCase()
    if (reservedHeaders.has(lower) || (lower !== 'content-type' && Object.hasOwn(headers, lower))) continue
    // A reference to nothing is empty in text, and says nothing about the content.
    if (lower === 'content-type' && (typeof value !== 'string' || value.trim() === '')) continue
    if (typeof value === 'string' && lower !== 'set-cookie') sent.set(name, value)
    // Who is signed in here is no workflow's to say.
    else for (const each of [value].flat()) if (!isSessionPair(each)) sent.append(name, each)
  }
  return sent
}

/**
 * Headers that are the server's, whatever the workflow says: those of the connection and of the message's framing, and
 * those that a browser keeps for everything at this address, the dashboard too. So are the ids and the rate limit that
 * every response of the endpoint carries.
 */
const reservedHeaders = new Set([
  ...['connection', 'content-length', 'content-encoding', 'transfer-encoding', 'keep-alive', 'upgrade', 'te'],
  ...['trailer', 'clear-site-data', 'strict-transport-security', 'alt-svc', 'nel', 'report-to'],
])

/** Who cancelled a run, and that its caller left, is told by the log; for a caller that still listens it has failed. */
export function codeOf({ code }: RunFailure): 'EXECUTION_TIMEOUT' | 'EXECUTION_FAILED' {
  return code === 'EXECUTION_TIMEOUT' ? code : 'EXECUTION_FAILED'
}
