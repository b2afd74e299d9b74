import type { OutboundOutcome, OutboundRequest, OutboundResponse } from '../domain/outbound-request.ts'
import { mediaTypeOf, unknownMediaType } from '../domain/run/file.ts'
import type { Slices } from '../domain/slices.ts'
import { jsonRefusal } from '../domain/text/json.ts'
import { charsetOf, contentTypeOf, decodeText, jsonType, textType } from '../domain/text/text-content.ts'
import { fileNameOf } from './api-files.ts'

/** The result of one attempt of an API block. */
export type ApiResponse = {
  data: unknown
  /** A body that is not text. When it is stored, `data` becomes its file object. */
  content: { bytes: Uint8Array; name: string; type: string } | null
  status: number | null
  headers: Record<string, string | string[]> | null
  /** `isTemporary`: a retry may succeed. */
  failure: { code: string; message: string; isTemporary: boolean } | null
  retryAfter: string | undefined
}

/** Reads an outcome. A response with a status below 400 is a success. A large one may take 100 ms, in a few slices. */
export function* readOutcome(
  outcome: OutboundOutcome,
  { method }: Pick<OutboundRequest, 'method'>,
): Slices<ApiResponse> {
  if (!outcome.ok) {
    const { code, message, status = null, headers = null } = outcome
    const isTemporary = code === 'TIMEOUT' || code === 'CONNECTION_FAILED'
    return { ...nothing, status, headers, failure: { code, message, isTemporary } }
  }
  const { response } = outcome
  const { status, headers } = response
  const read = yield* contentOf(response)
  const retryAfter = typeof headers['retry-after'] === 'string' ? headers['retry-after'] : undefined
  const data = read.kind === 'value' ? read.value : null
  const content = read.kind === 'value' ? null : fileOf(response, read.type)
  if (status < 400) return { data, content, status, headers, failure: null, retryAfter }
  const message = `${method} ${withoutQuery(response.url)} returned the status ${status}`
  const failure = { code: 'HTTP_ERROR', message, isTemporary: status === 429 || status >= 500 }
  return { data, content, status, headers, failure, retryAfter }
}

function fileOf({ body, headers, url }: OutboundResponse, type: string): ApiResponse['content'] {
  const disposition = headers['content-disposition']
  return { bytes: body, name: fileNameOf(typeof disposition === 'string' ? disposition : undefined, url), type }
}

const nothing = { data: null, content: null, status: null, headers: null, retryAfter: undefined }

/** A failure before any request was sent. */
export function failedResponse(code: string, message: string): ApiResponse {
  return { ...nothing, failure: { code, message, isTemporary: false } }
}

/** A body as later blocks read it: a value, or a file if it is not text. */
type Content = { kind: 'value'; value: unknown } | { kind: 'file'; type: string }

function* contentOf({ body, headers }: OutboundResponse): Slices<Content> {
  if (body.byteLength === 0) return { kind: 'value', value: null }
  const header = headers['content-type']
  const { type, parameters } = contentTypeOf(typeof header === 'string' ? header : '')
  if (type === '') {
    const text = decodeText(body, 'utf-8', true)
    return text === undefined ? { kind: 'file', type: unknownMediaType } : { kind: 'value', value: text }
  }
  const isJson = jsonType.test(type)
  if (!isJson && !textType.test(type)) return { kind: 'file', type: mediaTypeOf(type) ?? unknownMediaType }
  const text = decodeText(body, charsetOf(parameters), false) ?? ''
  return { kind: 'value', value: isJson ? yield* parsed(text) : text }
}

/** Invalid JSON stays text, and so does JSON that is too deep or has too many values. */
function* parsed(text: string): Slices<unknown> {
  yield
  if (jsonRefusal(text) !== undefined) return text
  yield
  try {
    const value: unknown = JSON.parse(text)
    // The run goes on in a turn of its own.
    yield
    return value
  } catch {
    return text
  }
}

function withoutQuery(url: string): string {
  return url.replace(/[?#].*$/s, '')
}
