import { estimateSize } from '../../domain/estimate-size.ts'
import { redactText } from '../../domain/redaction/redactor.ts'
import type { RunFailure, RunRecord } from '../../domain/run/log.ts'
import { type InSlices, isLargeValue, jsonInSlices } from '../../domain/slices.ts'
import type { ResponseHeaders } from '../../engine/block.ts'
import type { RunEnd } from '../../engine/run/run-end.ts'
import { isSessionPair } from '../access/session-cookie.ts'
import { statusOf } from '../errors.ts'
import type { UnsentResponses } from '../streams/unsent-responses.ts'
import { pausedResponse } from './pauses/paused-response.ts'
import { isoTime } from './schema-parts.ts'

/**
 * The HTTP response for a run that ended: the envelope, or the content of its `response` block. A promise when the
 * output is large.
 */
export function runResponse(
  end: RunEnd,
  headers: Record<string, string>,
  writing: Writing,
): Response | Promise<Response> {
  if (end.suspension) return pausedResponse(end, headers)
  const value = end.response ? end.response.data : end.record.output
  // The content of a response block may be a text, which is sent as it is.
  if (end.response && typeof value === 'string') return written(end, headers, value, writing)
  return withJson(value, end.record.workspaceId, writing, (text) => written(end, headers, text, writing))
}

/** Responds with the JSON of a value, which is written in slices when it is large. */
export function withJson(
  value: unknown,
  workspaceId: string,
  { inSlices, unsent }: Writing,
  respond: (text: string) => Response | Promise<Response>,
): Response | Promise<Response> {
  if (!isLargeValue(value)) return respond(JSON.stringify(value) ?? 'null')
  const release = unsent.hold(workspaceId, estimateSize(value))
  return inSlices(jsonInSlices(value))
    .then((text) => respond(text ?? 'null'))
    .finally(release)
}

/** Writes large outputs, and counts those that their callers have not read. */
export type Writing = { inSlices: InSlices; unsent: Pick<UnsentResponses, 'body' | 'hold'> }

function written(
  { record, response }: RunEnd,
  headers: Record<string, string>,
  outputText: string,
  { unsent }: Writing,
): Response {
  const { executionId, workspaceId, failure, startedAt, endedAt, durationMs } = record
  const bodyOf = (text: string) => unsent.body(workspaceId, text)
  if (response) return responseOf(response, headers, () => bodyOf(outputText))
  const metadata = `{"duration":${durationMs},"startTime":"${isoTime(startedAt)}","endTime":"${isoTime(endedAt)}"}`
  headers['content-type'] = 'application/json'
  if (!failure) {
    const text = `{"success":true,"executionId":"${executionId}","output":${outputText},"metadata":${metadata}}`
    return new Response(bodyOf(text), { headers })
  }
  const { error, code, blockId, blockName } = failureFacts(failure, record)
  const facts = JSON.stringify({ success: false, error, code, executionId, blockId, blockName })
  const text = `${facts.slice(0, -1)},"output":${outputText},"metadata":${metadata}}`
  return new Response(bodyOf(text), { status: statusOf(code), headers })
}

/**
 * Why a run failed, for its caller. Contains no secret of the workspace, although a called service may have repeated
 * one. Only the output is not redacted, because it is meant for the caller.
 */
export function failureFacts(
  { code, message, blockId, blockName }: RunFailure,
  { secrets }: Pick<RunRecord, 'secrets'>,
): { error: string; code: CallerCode; blockId: string | null; blockName: string | null } {
  // The log distinguishes a cancelled run from a disconnected caller. For callers, both failed.
  return {
    error: redactText(message, secrets),
    code: code === 'EXECUTION_TIMEOUT' ? code : 'EXECUTION_FAILED',
    blockId,
    blockName: blockName && redactText(blockName, secrets),
  }
}

type CallerCode = 'EXECUTION_TIMEOUT' | 'EXECUTION_FAILED'

function responseOf(
  response: NonNullable<RunEnd['response']>,
  headers: Record<string, string>,
  body: () => BodyInit,
): Response {
  const { data, status } = response
  headers['content-type'] = typeof data === 'string' ? 'text/plain; charset=utf-8' : 'application/json'
  const hasNoBody = status === 204 || status === 205 || status === 304
  const own = Object.entries(response.headers)
  return new Response(hasNoBody ? null : body(), {
    status,
    headers: own.length === 0 ? headers : withOwn(headers, own),
  })
}

/**
 * Sandboxes a response that a browser may show as a page, because a link can lead to it. Its scripts run in a separate
 * origin, so that a workflow's page cannot use the session of the person who opens it. Its cookies belong to `path`
 * alone: a few large ones for the whole host would keep this person out of the dashboard.
 */
export function sandboxed(response: Response, path: string): Response {
  const { headers } = response
  headers.append('content-security-policy', sandbox)
  const cookies = headers.getSetCookie()
  if (cookies.length > 0) headers.delete('set-cookie')
  for (const cookie of cookies) headers.append('set-cookie', cookieAt(cookie, path))
  return response
}

function cookieAt(cookie: string, path: string): string {
  const [pair, ...attributes] = cookie.split(';')
  const kept = attributes.filter((attribute) => !/^\s*(path|domain)\s*(=|$)/i.test(attribute))
  return [pair, ...kept, ` Path=${path}`].join(';')
}

const sandbox =
  'sandbox allow-downloads allow-forms allow-modals allow-popups allow-popups-to-escape-sandbox allow-scripts ' +
  'allow-top-navigation-by-user-activation'

/** Adds the headers that the workflow sets. */
function withOwn(headers: Record<string, string>, own: readonly [string, ResponseHeaders[string]][]): Headers {
  const sent = new Headers(headers)
  for (const [name, value] of own) {
    const lower = name.toLowerCase()
    const isContentHeader = contentHeaders.has(lower)
    if (reservedHeaders.has(lower) || (!isContentHeader && Object.hasOwn(headers, lower))) continue
    // A reference to an absent value is an empty text, which does not replace the service's header.
    if (isContentHeader && (typeof value !== 'string' || value.trim() === '')) continue
    if (typeof value === 'string' && lower !== 'set-cookie') sent.set(name, value)
    // A workflow must not set or remove the dashboard's session cookie.
    else for (const each of [value].flat()) if (!isSessionPair(each)) sent.append(name, each)
  }
  return sent
}

/** Headers of the service that a workflow may replace: they describe its own content. */
const contentHeaders = new Set(['content-type', 'x-content-type-options'])

/**
 * Headers that a workflow cannot set: those of the connection and of message framing, and those that a browser applies
 * to the whole origin, including the dashboard. A workflow cannot replace the ids and the rate window either.
 */
const reservedHeaders = new Set([
  ...['connection', 'content-length', 'content-encoding', 'transfer-encoding', 'keep-alive', 'upgrade', 'te'],
  ...[
    'trailer',
    'clear-site-data',
    'strict-transport-security',
    'alt-svc',
    'nel',
    'report-to',
    'service-worker-allowed',
  ],
])
