import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Pagination } from '../../../../src/domain/pagination/pagination.ts'
import {
  nextIn,
  type PageRequest,
  type PageResponse,
  Paging,
  PagingError,
} from '../../../../src/domain/pagination/paging.ts'
import { valueAt, withValueAt } from '../../../../src/domain/pagination/value-path.ts'

const url = 'https://api.example.com/items'

/** An API that lists `items` in pages of `size`, in each of the four ways. */
function respond(request: PageRequest, items: readonly number[], size: number): PageResponse {
  const given = new Map([...(request.query ?? []), ...(request.body ?? [])].map(([key, value]) => [key, Number(value)]))
  const linked = request.url === undefined ? 0 : Number(new URL(request.url).searchParams.get('from'))
  const page = given.has('page') ? (given.get('page')! - 1) * size : undefined
  const from = page ?? given.get('offset') ?? given.get('cursor') ?? linked
  const next = from + size < items.length ? from + size : undefined
  const headers =
    next === undefined ? {} : { link: `<${url}?from=${from}>; rel="prev", </items?from=${next}>; rel=next` }
  const data = { list: items.slice(from, from + size), cursor: next === undefined ? null : String(next) }
  return { data, headers, url }
}

/** Reads all pages, and counts the requests. */
function readAll(paging: Paging, items: readonly number[], size: number): number {
  let request: PageRequest | undefined = paging.first()
  let requests = 0
  while (request) {
    requests += 1
    request = paging.take(respond(request, items, size))
  }
  return requests
}

const kinds = [
  { type: 'link' },
  { type: 'cursor', cursor: 'cursor', param: 'cursor' },
  { type: 'cursor', cursor: 'cursor', param: 'cursor', in: 'body' },
  { type: 'page', param: 'page' },
  { type: 'offset', param: 'offset' },
] as const

test('every kind of pagination reads all items once and in order, up to its limits', () => {
  const list = fc.array(fc.integer(), { maxLength: 60 })
  const limit = fc.integer({ min: 1, max: 70 })
  fc.assert(
    fc.property(
      fc.constantFrom(...kinds),
      list,
      fc.integer({ min: 1, max: 9 }),
      limit,
      limit,
      (kind, items, size, maxPages, maxItems) => {
        const paging = new Paging({ ...kind, items: 'list', maxPages, maxItems } as Pagination, url)
        const requests = readAll(paging, items, size)
        expect(paging.items).toEqual(items.slice(0, Math.min(maxItems, maxPages * size)))
        expect(requests).toBeLessThanOrEqual(maxPages)
        if (paging.items.length < items.length) expect(paging.isCut).toBe(true)
      },
    ),
  )
})

test('an offset ends at a page that is shorter than the size, without another request', () => {
  const paging = new Paging({ type: 'offset', param: 'offset', sizeParam: 'limit', size: 4, items: 'list' }, url)
  expect(paging.first()).toEqual({
    query: [
      ['offset', '0'],
      ['limit', '4'],
    ],
  })
  expect(readAll(paging, [1, 2, 3, 4, 5], 4)).toBe(2)
})

test('a value at "more" ends the list even if there is a cursor', () => {
  const paging = new Paging({ type: 'cursor', cursor: 'next', param: 'after', items: 'data', more: 'has_more' }, url)
  paging.first()
  expect(paging.take({ data: { data: [1], next: 'a', has_more: true }, headers: {}, url })).toEqual({
    query: [['after', 'a']],
  })
  expect(paging.take({ data: { data: [2], next: 'b', has_more: false }, headers: {}, url })).toBeUndefined()
  expect(paging.items).toEqual([1, 2])
})

test.each([
  ['the same cursor again', { type: 'cursor', cursor: 'next', param: 'after' } as Pagination, { data: { next: 'a' } }],
  ['the same link again', { type: 'link', next: 'next' } as Pagination, { data: { next: '/items?page=2' } }],
])('refuses %s', (message, pagination, { data }) => {
  const paging = new Paging({ ...pagination, items: 'list', maxPages: 10 }, url)
  const page = { data: { ...data, list: [1] }, headers: {}, url }
  paging.take(page)
  expect(() => paging.take(page)).toThrow(message.replace('the same', 'the service returned the same'))
})

test('refuses a link to another origin, which would receive the headers of the request', () => {
  const paging = new Paging({ type: 'link' }, url)
  const links = [
    'https://evil.example/items',
    'http://api.example.com/items',
    'https://api.example.com:444/',
    '//evil.example',
  ]
  for (const link of links)
    expect(() => paging.take({ data: [1], headers: { link: `<${link}>; rel="next"` }, url })).toThrow('another origin')
  expect(() => paging.take({ data: [1], headers: { link: '<http://>; rel=next' }, url })).toThrow('not a URL')
})

test('says where the list is missing', () => {
  const paging = new Paging({ type: 'page', param: 'page', items: 'data.rows' }, url)
  expect(() => paging.take({ data: { data: {} }, headers: {}, url })).toThrow('the response has no list at "data.rows"')
  expect(() => new Paging({ type: 'link' }, url).take({ data: 'text', headers: {}, url })).toThrow(PagingError)
})

test('finds the next link of a Link header in any spelling', () => {
  expect(nextIn('<a>; rel=prev, <b>; title="x, y"; rel="last next"')).toBe('b')
  expect(nextIn('<a>;REL=Next')).toBe('a')
  expect(nextIn(['<a>; rel=last', '<b>; rel=next'])).toBe('b')
  expect(nextIn('<a>; rel="nextish"')).toBeUndefined()
  expect(nextIn(undefined)).toBeUndefined()
  expect(nextIn(`${'<'.repeat(100_000)}`)).toBeUndefined()
})

test('a value that is placed at a path is found there, and the original stays as it was', () => {
  const step = fc.oneof(fc.constantFrom('a', 'b', '__proto__', 'constructor'))
  fc.assert(
    fc.property(
      fc.array(step, { minLength: 1, maxLength: 4 }),
      fc.jsonValue(),
      fc.jsonValue(),
      (steps, data, value) => {
        const before = JSON.stringify(data)
        const path = steps.join('.')
        expect(valueAt(withValueAt(data, path, value), path)).toEqual(value)
        expect(JSON.stringify(data)).toBe(before)
        expect(({} as Record<string, unknown>)['a']).toBeUndefined()
      },
    ),
  )
  expect(valueAt({ errors: [{ message: 'No' }] }, 'errors[0].message')).toBe('No')
  expect(valueAt([{ message: 'No' }], '[0].message')).toBe('No')
  expect(valueAt('text', '')).toBe('text')
})
