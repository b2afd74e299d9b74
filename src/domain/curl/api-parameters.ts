import { isObject } from '../run/input.ts'
import type { ForeignRequest, ReadRequest } from './curl.ts'

/** The parameters of an API block that sends the request. */
export function apiParametersOf({ request, notTaken }: ReadRequest): {
  params: Record<string, unknown>
  notTaken: ReadRequest['notTaken']
} {
  const left = [...notTaken]
  const { method } = request
  const known = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH']
  if (!known.includes(method)) left.push({ path: method, reason: `API blocks do not use the method ${method}.` })
  const [url = '', query = ''] = request.url.split(/\?(.*)/s)
  const pairs = [...new URLSearchParams(query.split('#')[0] ?? '')].map(([key, value]) => ({ key, value }))
  const { bodyType, body } = bodyOf(request)
  const isTypeImplied = bodyType !== 'text'
  const headers = request.headers
    .filter(([name]) => !dropped.test(name) && !(isTypeImplied && /^content-type$/i.test(name)))
    .map(([key, value]) => ({ key, value }))
  const hasBody = method !== 'GET' && method !== 'DELETE'
  if (body !== undefined && !hasBody)
    left.push({ path: 'body', reason: `A ${method} request is sent without its body.` })
  return {
    params: {
      url,
      ...(method === 'GET' ? {} : { method: known.includes(method) ? method : 'GET' }),
      ...(pairs.length > 0 ? { params: pairs } : {}),
      ...(headers.length > 0 ? { headers } : {}),
      ...(body !== undefined && hasBody ? { body, ...(bodyType === 'json' ? {} : { bodyType }) } : {}),
    },
    notTaken: left,
  }
}

/** Headers that the service or the connection sets. */
const dropped = /^(host|content-length|connection|accept-encoding|transfer-encoding|:.*)$/i

/** The body in the form of an API block. */
export function bodyOf({ headers, body, form }: ForeignRequest): {
  bodyType: 'json' | 'text' | 'form' | 'multipart'
  body?: unknown
} {
  if (form) {
    const fields = form.filter(({ isFile }) => !isFile).map(({ name, value }) => ({ key: name, value }))
    return { bodyType: 'multipart', body: fields }
  }
  if (body === undefined) return { bodyType: 'json' }
  const type = headers.find(([name]) => /^content-type$/i.test(name))?.[1] ?? ''
  const parsed = parsedJson(body)
  if (parsed !== undefined && (/json/i.test(type) || isObject(parsed) || Array.isArray(parsed))) {
    return { bodyType: 'json', body: parsed }
  }
  if (/x-www-form-urlencoded/i.test(type) && /^[^=\s]+=/.test(body)) {
    return { bodyType: 'form', body: [...new URLSearchParams(body)].map(([key, value]) => ({ key, value })) }
  }
  return { bodyType: 'text', body }
}

function parsedJson(text: string): unknown {
  if (!/^\s*[[{"\d-]/.test(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
