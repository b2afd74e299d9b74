import type { OutboundAnswer } from '../domain/outbound-request.ts'
import { headersForOtherOrigin } from './headers.ts'
import { parseTarget, type Target } from './target.ts'

/** One request on its way through redirects. */
export type Hop = {
  target: Target
  method: string
  headers: Headers
  body: string | Uint8Array<ArrayBuffer> | FormData | Blob | undefined
}

/**
 * The request that an answer redirects to, or undefined when the answer is no redirect. 303 turns everything but HEAD
 * into GET, 301 and 302 turn POST into GET, and then body and content headers stay behind; 307 and 308 repeat the
 * request as it was. Throws `INVALID_URL` for an address that no request may go to.
 */
export function redirectOf(
  hop: Hop,
  { status, headers: answered }: Pick<OutboundAnswer, 'status' | 'headers'>,
): Hop | undefined {
  const { location } = answered
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

/** Makes a request to a target. Credentials of its URL become a header, unless there is one already. */
export function hopTo(target: Target, method: string, headers: Headers, body: Hop['body']): Hop {
  if (target.authorization && !headers.has('authorization')) headers.set('authorization', target.authorization)
  return { target, method, headers, body }
}

const redirectStatuses: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])
const contentHeaders = ['content-type', 'content-encoding', 'content-language', 'content-location']

/** Servers put UTF-8 into `Location` unescaped; header values arrive as Latin-1. */
function latin1ToUtf8(value: string): string {
  const bytes = Buffer.from(value, 'latin1')
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    return value
  }
}
