import { OutboundError } from '../domain/outbound-request.ts'
import { type Redactor, redactText } from '../domain/redaction/redactor.ts'
import { acceptEncoding } from './body-reader.ts'

export type HeaderList = readonly (readonly [name: string, value: string])[]

/**
 * The headers of a request. Headers about the connection or the framing of the body are removed, because the service
 * sets them itself. Throws `INVALID_REQUEST` for a header that HTTP cannot carry; the message never shows its value.
 */
export function requestHeaders(written: HeaderList, userAgent: string): Headers {
  const headers = new Headers()
  const named = new Set(written.filter(([name]) => /^connection$/i.test(name)).flatMap(([, value]) => listOf(value)))
  for (const [name, value] of written) {
    const trimmed = value.replace(/^[\t\r\n ]+|[\t\r\n ]+$/g, '')
    check(name, trimmed)
    const lower = name.toLowerCase()
    if (!ownHeaders.has(lower) && !named.has(lower)) headers.append(name, trimmed)
  }
  if (!headers.has('user-agent')) headers.set('user-agent', userAgent)
  if (!headers.has('accept-encoding')) headers.set('accept-encoding', acceptEncoding)
  return headers
}

/** Lower-case names; repeated ones joined by `, `, `set-cookie` a list. */
export function responseHeaders(headers: Headers): Record<string, string | string[]> {
  const entries: [string, string | string[]][] = []
  for (const [name, value] of headers) if (name !== 'set-cookie') entries.push([name, value])
  const cookies = headers.getSetCookie()
  if (cookies.length > 0) entries.push(['set-cookie', cookies])
  // Not by assignment, because a server may send a header named __proto__.
  return Object.fromEntries(entries)
}

/**
 * The headers for a redirect to another origin: only those that are known to carry no credentials, and whose value
 * contains no secret. Services invent their own names for credentials, so a list of names to remove is never complete.
 */
export function headersForOtherOrigin(headers: Headers, redactor: Redactor | undefined): Headers {
  const kept = new Headers()
  for (const [name, value] of headers) {
    if (harmlessHeaders.test(name) && redactText(value, redactor) === value) kept.set(name, value)
  }
  return kept
}

const harmlessHeaders =
  /^(accept(-[a-z]+)?|content-[a-z0-9]+|user-agent|idempotency-key|cache-control|pragma|range|if-[a-z-]+|prefer|date)$/

const ownHeaders: ReadonlySet<string> = new Set([
  'host',
  'content-length',
  'connection',
  'expect',
  'keep-alive',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
])

function check(name: string, value: string): void {
  if (!/^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/.test(name))
    throw new OutboundError('INVALID_REQUEST', `${JSON.stringify(name.slice(0, 100))} is not a valid HTTP header name`)
  const wrong = /[^\t\x20-\x7e\x80-\xff]/u.exec(value)?.[0]
  if (wrong === undefined) return
  const forbidden = /[\r\n]/.test(wrong) ? 'a line break' : `the character U+${codePoint(wrong)}`
  throw new OutboundError(
    'INVALID_REQUEST',
    `The value of the header ${name} contains ${forbidden}, which HTTP cannot carry`,
  )
}

function codePoint(character: string): string {
  return character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')
}

function listOf(value: string): string[] {
  return value.split(',').map((name) => name.trim().toLowerCase())
}
