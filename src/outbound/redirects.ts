import type { OutboundResponse } from '../domain/outbound-request.ts'
import { headersForOtherOrigin } from './headers.ts'
import { parseTarget, type Target } from './target.ts'

/** One request in a chain of redirects. */
export type Hop = {
  target: Target
  method: string
  headers: Headers
  body: string | Uint8Array<ArrayBuffer> | FormData | Blob | undefined
}

/**
 * The request that a response redirects to, or undefined when the response is not a redirect. 303 turns every method
 * except HEAD into GET, and 301 and 302 turn POST into GET; then the body and its headers are dropped. 307 and 308
 * repeat the request unchanged. Throws `INVALID_URL` for a URL that must not be called.
 */
export function redirectOf(
  hop: Hop,
  { status, headers: responseHeaders }: Pick<OutboundResponse, 'status' | 'headers'>,
): Hop | undefined {
  const { location } = responseHeaders
  if (!redirectStatuses.has(status) || typeof location !== 'string' || location === '') return undefined
  const target = parseTarget(latin1ToUtf8(location), hop.target)
  const reads = hop.method === 'GET' || hop.method === 'HEAD'
  const becomesGet = (status === 303 && !reads) || (status <= 302 && hop.method === 'POST')
  const sameOrigin = target.url.origin === hop.target.url.origin
  const headers = sameOrigin ? new Headers(hop.headers) : headersForOtherOrigin(hop.headers)
  if (!becomesGet) return hopTo(target, hop.method, headers, hop.body)
  for (const name of contentHeaders) headers.delete(name)
  return hopTo(target, 'GET', headers, undefined)
}

/** Makes a request to a target. Credentials in its URL become a header, unless the request has that header. */
export function hopTo(target: Target, method: string, headers: Headers, body: Hop['body']): Hop {
  if (target.authorization && !headers.has('authorization')) headers.set('authorization', target.authorization)
  return { target, method, headers, body }
}

const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
const contentHeaders = ['content-type', 'content-encoding', 'content-language', 'content-location']

/** Servers send unescaped UTF-8 in `Location`, but `fetch` reads header values as Latin-1. */
function latin1ToUtf8(value: string): string {
  const bytes = Buffer.from(value, 'latin1')
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return value
  }
}
