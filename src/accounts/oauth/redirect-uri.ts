import { isLoopback } from '../../domain/local-address.ts'

/**
 * The problem with an address at which a client wants to receive codes; undefined when it is allowed. Clients may use
 * https, http on the user's own machine, and schemes of applications that are installed there (RFC 8252).
 */
export function redirectProblem(uri: string): string | undefined {
  if (uri.length > uriCharsMax) return `is longer than ${uriCharsMax} characters`
  if (!/^[\x21-\x7e]+$/.test(uri)) return 'contains a character that a URI cannot contain'
  const url = URL.parse(uri)
  if (!url) return 'is not an absolute URI'
  if (uri.includes('#')) return 'has a fragment'
  if (url.username !== '' || url.password !== '') return 'contains a user name or password'
  if (url.protocol === 'https:') return undefined
  if (url.protocol === 'http:')
    return isLoopbackUrl(url) ? undefined : 'uses http for a machine other than that of the user'
  return refusedSchemes.has(url.protocol) || !/^[a-z][a-z\d+.-]*:\//i.test(uri)
    ? 'has a scheme that no application can have for itself'
    : undefined
}

/**
 * Whether a client may use an address: one that it registered, character by character. The port of an address on the
 * user's own machine may differ, because native applications take a free one for each sign-in.
 */
export function isRegistered(registered: readonly string[], uri: string): boolean {
  return registered.some((each) => each === uri || isSameButPort(each, uri))
}

/** The receiver of the code as people read it: a host, or an application on the user's machine. */
export function redirectHost(uri: string): string {
  const url = new URL(uri)
  if (url.protocol === 'https:') return url.host
  return url.protocol === 'http:'
    ? `this computer (${url.host})`
    : `an application on this computer (${url.protocol}//)`
}

function isSameButPort(registered: string, uri: string): boolean {
  const [a, b] = [URL.parse(registered), URL.parse(uri)]
  if (!a || !b || a.protocol !== 'http:' || !isLoopbackUrl(a) || redirectProblem(uri) !== undefined) return false
  a.port = b.port
  return a.href === b.href
}

function isLoopbackUrl({ hostname }: URL): boolean {
  return isLoopback(hostname.replace(/^\[(.*)\]$/, '$1'))
}

const uriCharsMax = 2_000

/** A browser handles these schemes itself, or sends the rest of the address to other machines. */
const refusedSchemes: ReadonlySet<string> = new Set([
  ...['javascript:', 'data:', 'vbscript:', 'file:', 'filesystem:', 'blob:', 'about:', 'view-source:', 'intent:'],
  ...['ws:', 'wss:', 'ftp:', 'mailto:', 'tel:', 'sms:', 'chrome:', 'edge:', 'resource:', 'jar:'],
])
