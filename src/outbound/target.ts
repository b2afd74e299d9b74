import { OutboundError } from '../domain/outbound-request.ts'
import { canonicalHost } from './addresses.ts'

/** Where one request goes, read from a URL that a user wrote. */
export type Target = {
  /** Without credentials and fragment, its host in the one spelling that addresses are judged by. */
  url: URL
  /** The host of the URL: a name in lower case without trailing dots, an IPv4 address, or IPv6 in brackets. */
  host: string
  port: number
  /** For people: no credentials, and no query, which may hold a key. */
  name: string
  secure: boolean
  /** The `Authorization` value that the URL's credentials stand for. */
  authorization: string | undefined
}

/** Reads a URL, relative to `base` when it comes from a redirect. Throws `INVALID_URL`, never showing credentials. */
export function parseTarget(text: string, base?: Target): Target {
  const url = URL.parse(text, base?.url)
  if (!url) throw new OutboundError('INVALID_URL', `${shown(text)} is no URL: ${faultOf(text)}`)
  // fetch() would read files for file:, answer data: itself and sign requests for s3:.
  if (url.protocol !== 'http:' && url.protocol !== 'https:')
    throw new OutboundError('INVALID_URL', `${shown(text)} cannot be called: only http:// and https:// URLs can`)
  const host = canonicalHost(url.hostname)
  if (!host) throw new OutboundError('INVALID_URL', `${shown(text)} is no URL: its host can't be one`)
  const authorization = authorizationOf(url)
  url.username = ''
  url.password = ''
  url.hash = ''
  url.hostname = host
  const secure = url.protocol === 'https:'
  const port = Number(url.port) || (secure ? 443 : 80)
  return { url, host, port, name: url.origin + url.pathname, secure, authorization }
}

function faultOf(text: string): string {
  return /^\s*https?:\/\//i.test(text) ? 'its host or its port can be none' : 'it must start with http:// or https://'
}

function authorizationOf(url: URL): string | undefined {
  if (url.username === '' && url.password === '') return undefined
  const credentials = `${decoded(url.username)}:${decoded(url.password)}`
  return `Basic ${Buffer.from(credentials, 'utf8').toString('base64')}`
}

/** Percent signs that stand for nothing are themselves, as a password may well hold them. */
function decoded(text: string): string {
  return text.replace(/(%[0-9a-f]{2})+/gi, (escapes) => {
    try {
      return decodeURIComponent(escapes)
    } catch {
      return escapes
    }
  })
}

const shownMax = 200

function shown(text: string): string {
  const bare = text.replace(/[?#].*$/s, '').replace(/^([a-z][a-z0-9+.-]*:[/\\]*)?.*@/is, '$1')
  return JSON.stringify(bare.length > shownMax ? `${bare.slice(0, shownMax)}…` : bare)
}
