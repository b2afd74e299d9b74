import { isIP } from 'node:net'
import { AppError } from '../../domain/errors.ts'

/**
 * Refuses a request from a page of another origin, as the MCP specification requires. Only browsers send `Origin`. With
 * DNS rebinding, a foreign page gets a name of its own resolved to this service, so a `Host` header that repeats the
 * origin proves nothing unless it is an IP address or `localhost`, which no DNS server can change.
 */
export function assertOwnOrigin({ headers }: Request, baseUrl: string): void {
  const origin = headers.get('origin')
  if (origin === null || origin === URL.parse(baseUrl)?.origin || isFixedHost(origin, headers.get('host'))) return
  throw new AppError(
    'FORBIDDEN',
    `The header Origin is "${origin.slice(0, 100)}", which is not the origin of this service. Connect with a client ` +
      'outside the browser, or set MILLRACE_BASE_URL to the address that people open.',
  )
}

function isFixedHost(origin: string, host: string | null): boolean {
  const url = URL.parse(origin)
  if (!url || host === null || !/^https?:$/.test(url.protocol)) return false
  const isFixed = url.hostname === 'localhost' || isIP(url.hostname.replace(/^\[|\]$/g, '')) !== 0
  // With the scheme of the origin, so that its default port may be written or left out.
  return isFixed && URL.parse(`${url.protocol}//${host}`)?.host === url.host
}
