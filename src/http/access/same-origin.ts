import { AppError } from '../../domain/errors.ts'

/**
 * Refuses a change that a page of another origin may have caused with the visitor's cookie. Browsers say where a
 * request comes from, and no page can make them say something else: `Sec-Fetch-Site` on https and on this machine,
 * `Origin` everywhere. A change that says neither comes from no browser that is still in use, and is refused too.
 *
 * Behind a proxy the address that the browser knows is in `Host` or `X-Forwarded-Host`, or is the base URL. A page
 * cannot set `X-Forwarded-Host` for another origin without a preflight, which the service refuses, so trusting it is
 * safe.
 */
export function assertSameOrigin(request: Request, baseUrl: string): void {
  if (isRead(request.method)) return
  const site = request.headers.get('sec-fetch-site')
  if (site !== null ? site === 'same-origin' || site === 'none' : isOwnOrigin(request.headers, baseUrl)) return
  throw new AppError(
    'FORBIDDEN',
    'This change does not come from a page of this service, so the session does not count. Behind a proxy, forward ' +
      'the Host header, or set MILLRACE_BASE_URL to the address that people open.',
  )
}

/**
 * Refuses to serve a script or style sheet to a page of this service. Content of workflows has the same origin as the
 * dashboard. Pages of workflows have an origin of their own, and pages of other sites are not affected. Browsers send
 * these headers on https and on this machine only; everywhere, the policies of the pages refuse it too
 * (`responses/content-policy.ts`).
 */
export function assertNotLoadedAsCode({ headers }: Request): void {
  if (headers.get('sec-fetch-site') !== 'same-origin') return
  const destination = headers.get('sec-fetch-dest') ?? ''
  if (!codeDestinations.has(destination)) return
  throw new AppError('FORBIDDEN', `A page of this service cannot load content of a workflow as a ${destination}.`)
}

const codeDestinations: ReadonlySet<string> = new Set([
  ...['script', 'style', 'worker', 'sharedworker', 'serviceworker', 'audioworklet', 'paintworklet', 'xslt', 'json'],
])

function isRead(method: string): boolean {
  return method === 'GET' || method === 'HEAD' || method === 'OPTIONS'
}

function isOwnOrigin(headers: Headers, baseUrl: string): boolean {
  const origin = URL.parse(headers.get('origin') ?? '')
  if (!origin || !isWeb(origin)) return false
  if (origin.origin === URL.parse(baseUrl)?.origin) return true
  const forwarded = firstOf(headers.get('x-forwarded-host'))
  const scheme = firstOf(headers.get('x-forwarded-proto'))
  if (scheme !== undefined && `${scheme}:` !== origin.protocol) return false
  // With the origin's own scheme, so that its default port may be written or left out on either side.
  const isHost = (host: string | null | undefined) => URL.parse(`${origin.protocol}//${host}`)?.host === origin.host
  return isHost(headers.get('host')) || (forwarded !== undefined && isHost(forwarded))
}

function isWeb({ protocol }: URL): boolean {
  return protocol === 'http:' || protocol === 'https:'
}

/** The first entry of a list that proxies append to: the host that the browser used. */
export function firstOf(list: string | null): string | undefined {
  const first = list?.split(',')[0]?.trim().toLowerCase()
  return first === '' ? undefined : first
}

/**
 * Without sign-in, every visitor is the owner. Refuses requests that do not come directly from this machine: those that
 * use a foreign host name for its address (DNS rebinding), and those through a proxy, which would let everyone in. Not
 * every proxy adds a header, but pages that were opened through one have a foreign origin or referrer.
 */
export function assertLocal({ headers }: Request): void {
  const isForwarded = [...headers.keys()].some((name) => proxyHeaders.test(name))
  const pages = ['origin', 'referer'].flatMap((name) => headers.get(name) ?? [])
  if (localHost.test(headers.get('host') ?? '') && !isForwarded && pages.every(isLocalPage)) return
  throw new AppError(
    'FORBIDDEN',
    'The service runs without sign-in and only accepts requests from this machine. Open http://localhost or ' +
      'http://127.0.0.1 without a proxy.',
  )
}

function isLocalPage(url: string): boolean {
  return localHost.test(URL.parse(url)?.host ?? '')
}

const localHost = /^(localhost|127(\.\d{1,3}){3}|\[::1\])(:\d+)?$/i
const proxyHeaders =
  /^(forwarded|via|cdn-loop|x-real-ip|true-client-ip|[a-z-]+-(client|connecting)-ip|(x-forwarded|x-original|x-envoy|cf)-.*)$/
