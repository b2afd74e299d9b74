import { itemsMaxDefault, type Pagination, pagesMaxDefault } from './pagination.ts'
import { valueAt } from './value-path.ts'

/** The changes that turn the first request into the request for a page. */
export type PageRequest = {
  /** The whole URL, for a page that a link names. */
  url?: string
  query?: readonly (readonly [name: string, value: string])[]
  /** Values by their path in the JSON body. */
  body?: readonly (readonly [path: string, value: unknown])[]
}

/** The parts of a response that say where the next page is. `url`: of the response, after redirects. */
export type PageResponse = {
  data: unknown
  headers: Readonly<Record<string, string | readonly string[]>>
  url: string
}

/** A response that does not fit the pagination. The message does not name the page. */
export class PagingError extends Error {}

/**
 * Reads one list page by page: it collects the items, and knows the request for the next page. It ends at the last
 * page, or at the limits of pages and items.
 */
export class Paging {
  readonly #pagination: Pagination
  readonly #origin: string
  readonly #items: unknown[] = []
  readonly #seen = new Set<string>()
  #pages = 0
  #isCut = false

  /** `url`: of the first request. A link to another origin is refused, since requests may carry secrets. */
  constructor(pagination: Pagination, url: string) {
    this.#pagination = pagination
    this.#origin = originOf(url)
  }

  get items(): readonly unknown[] {
    return this.#items
  }

  /** Pages that were read. */
  get pages(): number {
    return this.#pages
  }

  /** Whether a limit ended the list before its last page. */
  get isCut(): boolean {
    return this.#isCut
  }

  get #param(): string {
    const { type, param = type } = this.#pagination
    return param
  }

  first(): PageRequest {
    const pagination = this.#pagination
    switch (pagination.type) {
      case 'link':
      case 'cursor':
        return {}
      case 'page':
        return this.#sending([[this.#param, pagination.first ?? 1]])
      case 'offset':
        return this.#sending([[this.#param, 0], ...sizeOf(pagination)])
    }
  }

  /** Takes the items of a page. Returns the request for the next page, if there is one. Throws `PagingError`. */
  take(response: PageResponse): PageRequest | undefined {
    const { items = '', more, maxPages = pagesMaxDefault, maxItems = itemsMaxDefault } = this.#pagination
    const list = valueAt(response.data, items)
    if (list !== undefined && list !== null && !Array.isArray(list)) throw notAList(items)
    if (!Array.isArray(list) && (items === '' || this.#pages === 0)) throw notAList(items)
    const found: readonly unknown[] = Array.isArray(list) ? list : []
    this.#pages += 1
    const room = maxItems - this.#items.length
    for (const item of found.slice(0, room)) this.#items.push(item)
    const next =
      more !== undefined && more !== '' && !valueAt(response.data, more) ? undefined : this.#next(response, found)
    this.#isCut = found.length > room || (next !== undefined && (found.length === room || this.#pages >= maxPages))
    return this.#isCut ? undefined : next
  }

  #next(response: PageResponse, found: readonly unknown[]): PageRequest | undefined {
    const pagination = this.#pagination
    switch (pagination.type) {
      case 'link': {
        const link = pagination.next ? valueAt(response.data, pagination.next) : nextIn(response.headers['link'])
        if (isNothing(link)) return undefined
        return { url: this.#once(this.#resolved(link, response.url), 'link') }
      }
      case 'cursor': {
        const cursor = valueAt(response.data, pagination.cursor || 'next_cursor')
        if (isNothing(cursor)) return undefined
        this.#once(JSON.stringify(cursor), 'cursor')
        return this.#sending([[this.#param, cursor]])
      }
      case 'page':
        if (found.length === 0) return undefined
        return this.#sending([[this.#param, (pagination.first ?? 1) + this.#pages]])
      case 'offset': {
        if (found.length === 0 || found.length < (pagination.size ?? 1)) return undefined
        return this.#sending([[this.#param, this.#items.length], ...sizeOf(pagination)])
      }
    }
  }

  #sending(values: readonly (readonly [string, unknown])[]): PageRequest {
    if (this.#pagination.in === 'body') return { body: values }
    return { query: values.map(([name, value]) => [name, textOf(value)] as const) }
  }

  #resolved(link: unknown, base: string): string {
    const url = typeof link === 'string' ? URL.parse(link, base) : null
    if (!url) throw new PagingError('the link to the next page is not a URL')
    if (url.origin === this.#origin) return url.href
    const message = `the next page is at ${url.origin}, but the URL of the block is at ${this.#origin}`
    throw new PagingError(`${message}. A request with its headers is not sent to another origin`)
  }

  /** Without this, a service that repeats a page would be read up to the limit, again and again the same. */
  #once(next: string, kind: 'link' | 'cursor'): string {
    if (this.#seen.has(next)) throw new PagingError(`the service returned the same ${kind} again`)
    this.#seen.add(next)
    return next
  }
}

function sizeOf({ sizeParam, size }: Pagination): [string, number][] {
  return sizeParam !== undefined && size !== undefined ? [[sizeParam, size]] : []
}

function notAList(path: string): PagingError {
  return new PagingError(path === '' ? 'the response is not a list' : `the response has no list at "${path}"`)
}

function isNothing(value: unknown): boolean {
  return value === undefined || value === null || value === '' || value === false
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function originOf(url: string): string {
  return URL.parse(url)?.origin ?? ''
}

/** The target of `rel="next"` in a `Link` header (RFC 8288). */
export function nextIn(header: string | readonly string[] | undefined): string | undefined {
  const text = typeof header === 'string' ? header : (header?.join(', ') ?? '')
  for (const [, target, parameters] of text.matchAll(linkValue)) {
    const [, quoted, plain] = /;\s*rel\s*=\s*(?:"([^"]*)"|([^\s;,]+))/i.exec(parameters ?? '') ?? []
    const relations = (quoted ?? plain ?? '').toLowerCase().split(/\s+/)
    if (relations.includes('next')) return target
  }
  return undefined
}

const linkValue = /<([^<>]*)>((?:\s*;\s*[\w*-]+(?:\s*=\s*(?:"[^"]*"|[^\s;,"]*))?)*)/g
