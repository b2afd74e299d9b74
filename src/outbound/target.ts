import { OutboundError } from '../domain/outbound-request.ts'
import { canonicalHost } from './addresses.ts'

/** The destination of one request, parsed from a URL that a user wrote. */
export type Target = {
  /** Without credentials and fragment; the host is in its canonical spelling. */
  url: URL
  /** The host of the URL: a name in lower case without trailing dots, an IPv4 address, or IPv6 in brackets. */
  host: string
  port: number
  /** The URL for messages: without credentials, and without the query, because that may contain a key. */
  name: string
  secure: boolean
  /** The `Authorization` value for the URL's credentials. */
  authorization: string | undefined
}

/** Parses a URL, relative to `base` for a redirect. Throws `INVALID_URL`; the message never shows credentials. */
export function parseTarget(text: string, base?: Target): Target {
  const url = URL.parse(text, base?.url)
  if (!url) throw new OutboundError('INVALID_URL', `${shownUrl(text)} is not a valid URL: ${problemOf(text)}`)
  // fetch() reads files for file:, decodes data: and signs requests for s3:.
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new OutboundError('INVALID_URL', `${shownUrl(text)} cannot be called: only http:// and https:// URLs can`)
  const host = canonicalHost(url.hostname)
  if (!host) throw new OutboundError('INVALID_URL', `${shownUrl(text)} is not a valid URL: its host is not valid`)
  const authorization = authorizationOf(url)
  url.username = ''
  url.password = ''
  url.hash = ''
  url.hostname = host
  const secure = url.protocol === 'https:'
  const port = Number(url.port) || (secure ? 443 : 80)
  return { url, host, port, name: url.origin + url.pathname, secure, authorization }
}

function problemOf(text: string): string {
  return /^\s*https?:\/\//i.test(text) ? 'its host or port is not valid' : 'it must start with http:// or https://'
}

function authorizationOf(url: URL): string | undefined {
  if (url.username === '' && url.password === '') return undefined
  const credentials = `${decodeEscapes(url.username)}:${decodeEscapes(url.password)}`
  return `Basic ${Buffer.from(credentials, 'utf8').toString('base64')}`
}

/** A percent sign that does not begin an escape stays as it is, because passwords may contain one. */
function decodeEscapes(text: string): string {
  return text.replace(/(%[0-9a-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes)
    } catch {
      return escapes
    }
  })
}

const shownCharsMax = 200

/** A URL in quotes for messages: without credentials, query and fragment, and not too long. It may be invalid. */
function shownUrl(text: string): string {
  const bare = text.replace(/[?#].*$/s, '').replace(/^([a-z][a-z0-9+.-]*:[/\\]*)?.*@/is, '$1')
  return JSON.stringify(bare.length > shownCharsMax ? `${bare.slice(0, shownCharsMax)}…` : bare)
}
