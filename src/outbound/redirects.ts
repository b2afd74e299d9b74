import { OutboundError, type OutboundResponse, type RequestAuthorization } from '../domain/outbound-request.ts'
import { type Redactor, redactText } from '../domain/redaction/redactor.ts'
import { headersForOtherOrigin } from './headers.ts'
import { parseTarget, type Target } from './target.ts'

/** One request in a chain of redirects. */
export type Hop = {
  target: Target
  method: string
  headers: Headers
  body: string | Uint8Array<ArrayBuffer> | FormData | Blob | undefined
  redactor: Redactor | undefined
  /** Set when the connection needs certificates of a credential. */
  tls?: RequestAuthorization['tls']
}

/**
 * The request that a response redirects to, or undefined when the response is not a redirect. 303 turns every method
 * except HEAD into GET, and 301 and 302 turn POST into GET; then the body and its headers are dropped. 307 and 308
 * repeat the request unchanged. Throws `INVALID_URL` for a URL that must not be called. A body that is repeated has to
 * pass `refuseSecretBody` before it is sent.
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
  const { redactor } = hop
  const headers = isSameOrigin(hop.target, target)
    ? new Headers(hop.headers)
    : headersForOtherOrigin(hop.headers, redactor)
  if (!becomesGet) return hopTo(target, { method: hop.method, headers, body: hop.body, redactor })
  for (const name of contentHeaders) headers.delete(name)
  return hopTo(target, { method: 'GET', headers, body: undefined, redactor })
}

/** Throws `REDIRECT_REFUSED` when the redirect would send a body that contains a secret to another origin. */
export async function refuseSecretBody(from: Hop, { target, body, redactor }: Hop): Promise<void> {
  if (body === undefined || redactor === undefined || isSameOrigin(from.target, target)) return
  for (const text of textsOf(body)) {
    const content = typeof text === 'string' ? text : await text.text()
    if (redactText(content, redactor) === content) continue
    const message =
      `${from.target.name} redirects to ${target.url.origin}, and the request's body contains a secret of the ` +
      'workspace. The body is not sent to another origin. Use the address of the redirect in the block.'
    throw new OutboundError('REDIRECT_REFUSED', message)
  }
}

/** Makes a request to a target. Credentials in its URL become a header, unless the request has that header. */
export function hopTo(target: Target, request: Omit<Hop, 'target'>): Hop {
  const { headers } = request
  if (target.authorization && !headers.has('authorization')) headers.set('authorization', target.authorization)
  return { target, ...request }
}

/** A redirect from http to https on the same host leads to the same server. */
function isSameOrigin(from: Target, to: Target): boolean {
  return from.url.origin === to.url.origin || (!from.secure && to.secure && from.host === to.host)
}

function textsOf(body: NonNullable<Hop['body']>): Iterable<string | Blob> {
  if (typeof body === 'string' || body instanceof Blob) return [body]
  return body instanceof FormData ? partsOf(body) : [new Blob([body])]
}

/** Names of fields are part of a form's body, and so are the names of its files. */
function* partsOf(form: FormData): Iterable<string | Blob> {
  for (const [name, value] of form) {
    yield name
    if (value instanceof File) yield value.name
    yield value
  }
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
