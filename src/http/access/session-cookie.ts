import { firstOf } from './same-origin.ts'

export const sessionCookie = 'millrace_session'

/** The session token in a request's cookie. */
export function tokenOf(headers: Headers): string | undefined {
  const cookies = headers.get('cookie')
  if (cookies === null || !cookies.includes(sessionCookie)) return undefined
  for (const pair of cookies.split(';')) {
    const equals = pair.indexOf('=')
    if (pair.slice(0, equals).trim() === sessionCookie) return pair.slice(equals + 1).trim()
  }
  return undefined
}

/** A request's headers without the session cookie, which browsers send here with every request. For workflows. */
export function withoutSession(headers: Headers): Headers {
  const cookies = headers.get('cookie')
  if (cookies === null || !cookies.includes(sessionCookie)) return headers
  const others = cookies.split(';').filter((pair) => !isSessionPair(pair))
  const shown = new Headers(headers)
  if (others.length > 0) shown.set('cookie', others.join(';').trim())
  else shown.delete('cookie')
  return shown
}

/** Whether a pair of a `Cookie` or `Set-Cookie` header is the session's, whatever its spacing. */
export function isSessionPair(text: string): boolean {
  return /^[\s=]*millrace_session\s*(=|;|$)/.test(text)
}

/** `Set-Cookie` for a session with this lifetime. */
export function cookieFor(token: string, maxAgeS: number, isSecure: boolean): string {
  const secure = isSecure ? '; Secure' : ''
  return `${sessionCookie}=${token}; Path=/; Max-Age=${maxAgeS}; HttpOnly; SameSite=Lax${secure}`
}

/** `Set-Cookie` that removes the session. */
export function noCookie(isSecure: boolean): string {
  return cookieFor('', 0, isSecure)
}

/**
 * Whether the browser uses https: according to the proxy, otherwise the scheme of the page that sent the request,
 * otherwise that of the base URL, if the request went there.
 */
export function isHttps({ headers, url }: Request, baseUrl: string): boolean {
  const forwarded = firstOf(headers.get('x-forwarded-proto'))
  if (forwarded !== undefined) return forwarded === 'https'
  const origin = headers.get('origin')
  if (origin !== null && origin !== 'null') return origin.startsWith('https:')
  const base = URL.parse(baseUrl)
  return base?.protocol === 'https:' && base.host === URL.parse(url)?.host
}
