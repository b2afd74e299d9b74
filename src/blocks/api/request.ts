import { responseBytesMax } from '../../domain/limits.ts'
import type { OutboundRequest } from '../../domain/outbound-request.ts'
import type { PageRequest } from '../../domain/pagination/paging.ts'
import { withValueAt } from '../../domain/pagination/value-path.ts'
import { isObject } from '../../domain/run/input.ts'
import { asText } from '../../domain/workflow/reference.ts'
import { type BlockContext, BlockError } from '../../engine/block.ts'
import { fileToSend } from './files.ts'
import { hasBody, type Parameters } from './parameters.ts'

/** The request that an API block's parameters describe. Throws `BlockError` when it cannot be sent. */
export async function requestOf(
  params: RequestParameters,
  context: RequestContext,
  page: PageRequest = {},
): Promise<OutboundRequest> {
  const { method, timeoutMs, followRedirects } = params
  const headers = pairsOf(params.headers)
  const body = hasBody(method) ? await bodyOf(withPage(params, page), context) : undefined
  const given = new Set(headers.map(([name]) => name.toLowerCase()))
  if (body?.type && !given.has('content-type')) headers.push(['Content-Type', body.type])
  // A request that is sent twice may have its effect twice. The key lets the receiver detect that.
  if ((method === 'POST' || method === 'PATCH') && !given.has('idempotency-key'))
    headers.push(['Idempotency-Key', context.idempotencyKey()])
  // The boundary between the parts is chosen when they are sent, together with this header.
  const sent = body?.content instanceof FormData ? headers.filter(([name]) => !/^content-type$/i.test(name)) : headers
  return {
    url: urlOf(params, page),
    method,
    headers: sent,
    ...(body ? { body: body.content } : {}),
    followRedirects,
    timeoutMs,
    responseBytesMax,
    signal: context.signal,
  }
}

/** The parameters of one request. */
export type RequestParameters = Omit<Parameters, 'batch' | 'onError' | 'retries' | 'responseType' | 'expect'>

type RequestContext = Pick<BlockContext, 'idempotencyKey' | 'signal' | 'files' | 'fetch'>

type Pair = [key: string, value: string]
type Body = { content: NonNullable<OutboundRequest['body']>; type?: string }

async function bodyOf(params: RequestParameters, context: RequestContext): Promise<Body | undefined> {
  const { body, bodyType, file, timeoutMs } = params
  if (bodyType === 'file') {
    const { content, type } = await fileToSend(file, 'File', context, timeoutMs)
    return { content, type }
  }
  if (body === undefined || body === null || body === '') return undefined
  switch (bodyType) {
    case 'json':
      return { content: JSON.stringify(body), type: 'application/json' }
    case 'text':
      return { content: asText(body), type: 'text/plain;charset=utf-8' }
    case 'form':
      return { content: formOf(body), type: 'application/x-www-form-urlencoded' }
    case 'multipart':
      return { content: await multipartOf(body, context, timeoutMs) }
  }
}

/** Text is sent as it is: it is an encoded form already. */
function formOf(body: unknown): string {
  return typeof body === 'string' ? body : new URLSearchParams(fieldsOf(body, 'form')).toString()
}

/** In the order of the list: some receivers need the fields before the files. */
async function multipartOf(body: unknown, context: RequestContext, timeoutMs: number): Promise<FormData> {
  const form = new FormData()
  for (const [index, entry] of (Array.isArray(body) ? (body as unknown[]) : [body]).entries()) {
    if (Array.isArray(body) && isObject(entry) && 'file' in entry && entry['file'] !== undefined) {
      const key = asText(entry['key'])
      if (key === '') continue
      const file = await fileToSend(entry['file'], `The file of "${key}"`, context, timeoutMs)
      form.append(key, file.content, file.name)
    } else {
      for (const [key, value] of fieldsOf(Array.isArray(body) ? [entry] : entry, 'multipart', index))
        form.append(key, value)
    }
  }
  return form
}

/** The fields of a form, from a list of `{ key, value }` or from an object. A list in an object repeats its field. */
function fieldsOf(body: unknown, bodyType: string, first = 0): Pair[] {
  if (Array.isArray(body)) {
    return body.flatMap((entry: unknown, index) => {
      if (!isObject(entry) || !('key' in entry))
        throw new BlockError(
          'INVALID_PARAMETER',
          `Entry ${first + index} of the body must be { key, value } for the body type "${bodyType}"`,
        )
      if ('file' in entry)
        throw new BlockError(
          'INVALID_PARAMETER',
          `A file cannot be sent with the body type "${bodyType}": use "multipart"`,
        )
      return pairsOf([{ key: asText(entry['key']), value: entry['value'] }])
    })
  }
  if (!isObject(body))
    throw new BlockError(
      'INVALID_PARAMETER',
      `The body must be a list of { key, value } or an object for the body type "${bodyType}"`,
    )
  return Object.entries(body).flatMap(([key, value]) => {
    const values: readonly unknown[] = Array.isArray(value) ? value : [value]
    return pairsOf(values.map((one) => ({ key, value: one })))
  })
}

function pairsOf(list: readonly { key: string; value?: unknown }[] | undefined): Pair[] {
  return (list ?? []).flatMap(({ key, value }): Pair[] => (key === '' ? [] : [[key, asText(value)]]))
}

/** The URL of the request for a page. A page's own query parameters replace those of the same name. */
function urlOf(params: RequestParameters, page: PageRequest): string {
  if (page.url !== undefined) return page.url
  const url = withQuery(withPathParams(params.url, params.pathParams ?? {}), pairsOf(params.params))
  if (page.query === undefined) return url
  const replaced = new Set(page.query.map(([name]) => name))
  const [, address, fragment] = /^([^#]*)(.*)$/s.exec(url) as unknown as [string, string, string]
  const [path = '', ...query] = address.split(/[?&]/)
  const kept = query.filter((entry) => entry !== '' && !replaced.has(nameOf(entry)))
  return withQuery(`${path}${kept.length === 0 ? '' : `?${kept.join('&')}`}${fragment}`, page.query)
}

/** The decoded name of a `name=value` entry of a query. */
function nameOf(entry: string): string {
  return new URLSearchParams(entry).keys().next().value ?? ''
}

/** Throws `BlockError` when the body is not an object, which a page can only be added to. */
function withPage(params: RequestParameters, page: PageRequest): RequestParameters {
  if (page.body === undefined) return params
  const { body = {}, bodyType } = params
  if (bodyType !== 'json' || !isObject(body))
    throw new BlockError(
      'INVALID_PARAMETER',
      'Body must be a JSON object, because the pagination sends the page in it.',
    )
  return { ...params, body: page.body.reduce((whole: unknown, [path, value]) => withValueAt(whole, path, value), body) }
}

function withQuery(url: string, params: readonly Readonly<Pair>[]): string {
  if (params.length === 0) return url
  const query = params.map(([key, value]) => `${encoded(key)}=${encoded(value)}`).join('&')
  const [, address, fragment] = /^([^#]*)(.*)$/s.exec(url) as unknown as [string, string, string]
  const join = !address.includes('?') ? '?' : /[?&]$/.test(address) ? '' : '&'
  return address + join + query + fragment
}

/**
 * Fills in `{name}` anywhere in the path, and `:name` at the start of a segment. Names without a value stay unchanged.
 */
function withPathParams(url: string, values: Readonly<Record<string, unknown>>): string {
  const match = /^(\s*[a-z][a-z0-9+.-]*:[/\\]{2}[^/\\?#]*)([^?#]*)(.*)$/is.exec(url)
  if (!match || Object.keys(values).length === 0) return url
  const [, origin, path, rest] = match as unknown as [string, string, string, string]
  const filled = path.replace(/\{([^{}/]+)\}|(?<=\/):([A-Za-z_][A-Za-z0-9_]*)/g, (placeholder, braced, plain) => {
    const name = (braced ?? plain) as string
    return Object.hasOwn(values, name) ? segmentOf(name, asText(values[name])) : placeholder
  })
  return origin + filled + rest
}

/** Refuses an empty value, `.` and `..`: they would select another resource. */
function segmentOf(name: string, value: string): string {
  if (value !== '' && value !== '.' && value !== '..') return encoded(value)
  const problem = value === '' ? 'is empty' : `is "${value}"`
  throw new BlockError('INVALID_URL', `The path parameter "${name}" ${problem}, which would select another resource`)
}

function encoded(text: string): string {
  // A lone surrogate has no UTF-8 form, and encodeURIComponent throws for it.
  return encodeURIComponent(text.toWellFormed())
}
