import { isDeeperThan } from '../domain/json.ts'
import { jsonDepthMax } from '../domain/limits.ts'
import type { OutboundAnswer, OutboundOutcome, OutboundRequest } from '../domain/outbound-request.ts'

/** What one attempt of an API block came to. */
export type ApiAnswer = {
  data: unknown
  status: number | null
  headers: Record<string, string | string[]> | null
  /** `mayPass`: another attempt may do better. */
  failure: { code: string; message: string; mayPass: boolean } | null
  retryAfter: string | undefined
}

/** Reads an outcome: an answer below 400 whose body can be read is a success. */
export function readOutcome(outcome: OutboundOutcome, { method }: Pick<OutboundRequest, 'method'>): ApiAnswer {
  if (!outcome.ok) {
    const { code, message, status = null, headers = null } = outcome
    const mayPass = code === 'TIMEOUT' || code === 'CONNECTION_FAILED'
    return { data: null, status, headers, failure: { code, message, mayPass }, retryAfter: undefined }
  }
  const { answer } = outcome
  const { status, headers } = answer
  const content = contentOf(answer)
  const retryAfter = typeof headers['retry-after'] === 'string' ? headers['retry-after'] : undefined
  const data = content.kind === 'value' ? content.value : null
  if (status >= 400) {
    const message = `${method} ${withoutQuery(answer.url)} was answered with ${status}`
    const failure = { code: 'HTTP_ERROR', message, mayPass: status === 429 || status >= 500 }
    return { data, status, headers, failure, retryAfter }
  }
  if (content.kind === 'value') return { data, status, headers, failure: null, retryAfter }
  const message = `${withoutQuery(answer.url)} answered with ${content.mediaType}: answers that are not text can't be stored yet`
  return { data, status, headers, failure: { code: 'INVALID_RESPONSE', message, mayPass: false }, retryAfter }
}

/** A failure before any request was sent. */
export function failedAnswer(code: string, message: string): ApiAnswer {
  return { data: null, status: null, headers: null, failure: { code, message, mayPass: false }, retryAfter: undefined }
}

/** A body as later blocks read it: a value, or a file when it is not text. */
type Content = { kind: 'value'; value: unknown } | { kind: 'file'; mediaType: string }

function contentOf({ body, headers }: OutboundAnswer): Content {
  if (body.byteLength === 0) return { kind: 'value', value: null }
  const header = headers['content-type']
  const [mediaType = '', ...parameters] = (typeof header === 'string' ? header : '').split(';')
  const type = mediaType.trim().toLowerCase()
  if (type === '') {
    const text = decode(body, 'utf-8', true)
    return text === undefined ? { kind: 'file', mediaType: 'bytes of no stated type' } : { kind: 'value', value: text }
  }
  const isJson = jsonType.test(type)
  if (!isJson && !textType.test(type)) return { kind: 'file', mediaType: type }
  const text = decode(body, charsetOf(parameters), false) ?? ''
  return { kind: 'value', value: isJson ? parsed(text) : text }
}

const jsonType = /^(application|text)\/json$|\+json$/
const textType = /^text\/|^application\/(xml|javascript|ecmascript|x-javascript|x-www-form-urlencoded)$|\+xml$/

function charsetOf(parameters: readonly string[]): string {
  for (const parameter of parameters) {
    const charset = /^\s*charset\s*=\s*"?([^"\s]+)/i.exec(parameter)?.[1]
    if (charset) return charset
  }
  return 'utf-8'
}

function decode(body: Uint8Array<ArrayBuffer>, charset: string, fatal: boolean): string | undefined {
  try {
    return new TextDecoder(charset as Bun.Encoding, { fatal }).decode(body)
  } catch {
    // A charset that nobody knows, or bytes that are none of it.
    return fatal ? undefined : new TextDecoder().decode(body)
  }
}

/** JSON that does not parse is its text, and so is JSON too deep for what comes after. */
function parsed(text: string): unknown {
  if (isDeeperThan(text, jsonDepthMax)) return text
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function withoutQuery(url: string): string {
  return url.replace(/[?#].*$/s, '')
}
