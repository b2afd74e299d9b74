import { messageOf } from '../../domain/errors.ts'
import type { OutboundOutcome, OutboundRequest, OutboundResponse } from '../../domain/outbound-request.ts'
import { mediaTypeOf, unknownMediaType } from '../../domain/run/file.ts'
import type { Slices } from '../../domain/slices.ts'
import { jsonRefusal } from '../../domain/text/json.ts'
import { charsetOf, contentTypeOf, decodeText, jsonType, textType } from '../../domain/text/text-content.ts'
import { fileNameOf } from './files.ts'
import type { ResponseType } from './parameters.ts'

/** The result of one attempt of an API block. */
export type ApiResponse = {
  data: unknown
  /** A body that is not text. When it is stored, `data` becomes its file object. */
  content: { bytes: Uint8Array; name: string; type: string } | null
  status: number | null
  headers: Record<string, string | string[]> | null
  failure: ApiFailure | null
  retryAfter: string | undefined
  /** The URL of the response, after redirects; null when there is none. */
  url: string | null
}

/** `isTemporary`: a retry may succeed. */
export type ApiFailure = { code: string; message: string; isTemporary: boolean }

/** How a block reads responses. `expect`: further statuses that are a success. */
export type Reading = Pick<OutboundRequest, 'method'> & { expect?: readonly number[]; responseType: ResponseType }

/**
 * Reads an outcome. A response with a status below 400 is a success, and so is one with a status in `expect`. A large
 * one may take 100 ms, in a few slices.
 */
export function* readOutcome(
  outcome: OutboundOutcome,
  { method, expect = [], responseType }: Reading,
): Slices<ApiResponse> {
  if (!outcome.ok) {
    const { code, message, status = null, headers = null } = outcome
    const isTemporary = code === 'TIMEOUT' || code === 'CONNECTION_FAILED'
    return { ...nothing, status, headers, failure: { code, message, isTemporary } }
  }
  const { response } = outcome
  const { status, headers } = response
  const isSuccess = status < 400 || expect.includes(status)
  // Services describe their errors in a form of their own.
  const read = yield* contentOf(response, isSuccess ? responseType : 'auto')
  const retryAfter = typeof headers['retry-after'] === 'string' ? headers['retry-after'] : undefined
  const data = read.kind === 'value' ? read.value : null
  const content = read.kind === 'file' ? fileOf(response, read.type) : null
  const answer = { data, content, status, headers, retryAfter, url: response.url }
  const request = `${method} ${withoutQuery(response.url)}`
  if (read.kind === 'invalid') {
    const message = `${request} returned a body that is not JSON: ${read.problem}`
    return { ...answer, failure: { code: 'INVALID_RESPONSE', message, isTemporary: false } }
  }
  if (isSuccess) return { ...answer, failure: null }
  const message = `${request} returned the status ${status}`
  return { ...answer, failure: { code: 'HTTP_ERROR', message, isTemporary: status === 429 || status >= 500 } }
}

function fileOf({ body, headers, url }: OutboundResponse, type: string): ApiResponse['content'] {
  const disposition = headers['content-disposition']
  return { bytes: body, name: fileNameOf(typeof disposition === 'string' ? disposition : undefined, url), type }
}

const nothing = { data: null, content: null, status: null, headers: null, retryAfter: undefined, url: null }

/** A failure before any request was sent. */
export function failedResponse(code: string, message: string): ApiResponse {
  return { ...nothing, failure: { code, message, isTemporary: false } }
}

/** A body as later blocks read it: a value, a file, or neither if it is not what the block asks for. */
type Content = { kind: 'value'; value: unknown } | { kind: 'file'; type: string } | { kind: 'invalid'; problem: string }

function* contentOf({ body, headers }: OutboundResponse, wanted: ResponseType): Slices<Content> {
  const header = headers['content-type']
  const { type, parameters } = contentTypeOf(typeof header === 'string' ? header : '')
  if (wanted === 'file') return { kind: 'file', type: mediaTypeOf(type) ?? unknownMediaType }
  if (wanted !== 'auto') return yield* textAs(wanted, decodeText(body, charsetOf(parameters), false) ?? '')
  if (body.byteLength === 0) return { kind: 'value', value: null }
  if (type === '') {
    const text = decodeText(body, 'utf-8', true)
    return text === undefined ? { kind: 'file', type: unknownMediaType } : { kind: 'value', value: text }
  }
  const isJson = jsonType.test(type)
  if (!isJson && !textType.test(type)) return { kind: 'file', type: mediaTypeOf(type) ?? unknownMediaType }
  const text = decodeText(body, charsetOf(parameters), false) ?? ''
  return { kind: 'value', value: isJson ? yield* parsed(text) : text }
}

function* textAs(wanted: 'json' | 'text' | 'lines', text: string): Slices<Content> {
  if (wanted === 'text') return { kind: 'value', value: text }
  if (wanted === 'lines') return { kind: 'value', value: yield* linesOf(text) }
  if (text.trim() === '') return { kind: 'value', value: null }
  const problem = jsonRefusal(text)
  yield
  if (problem !== undefined) return { kind: 'invalid', problem }
  try {
    return { kind: 'value', value: JSON.parse(text) as unknown }
  } catch (error) {
    return { kind: 'invalid', problem: messageOf(error) }
  }
}

/** The lines that are not empty. They are JSON Lines when each of them is an object or a list. */
function* linesOf(text: string): Slices<unknown[]> {
  const lines = text.split(/\r\n|\n|\r/).filter((line) => line.trim() !== '')
  yield
  const values: unknown[] = []
  for (const [index, line] of lines.entries()) {
    if (index % linesPerSlice === 0) yield
    const value = /^\s*[[{]/.test(line) && jsonRefusal(line) === undefined ? tryParse(line) : undefined
    if (value === undefined) return lines
    values.push(value)
  }
  return values
}

const linesPerSlice = 1_000

function tryParse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
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

export function withoutQuery(url: string): string {
  return url.replace(/[?#].*$/s, '')
}
