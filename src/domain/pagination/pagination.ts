import { type Static, Type as t } from '@sinclair/typebox'
import { oneOf } from '../one-of.ts'

/** The ways in which an API lists its items in pages, and the members of `Pagination` that belong to each. */
const ofEach = ['items', 'more', 'maxPages', 'maxItems'] as const
export const paginationMembers = {
  link: ['next', ...ofEach],
  cursor: ['cursor', 'param', 'in', ...ofEach],
  page: ['param', 'first', 'in', ...ofEach],
  offset: ['param', 'sizeParam', 'size', 'in', ...ofEach],
} as const

const path = (title: string, description: string) => t.Optional(t.String({ maxLength: 500, title, description }))
const name = (title: string, description: string) =>
  t.Optional(t.String({ minLength: 1, maxLength: 500, title, description }))
const count = (maximum: number, title: string, description: string) =>
  t.Optional(t.Integer({ minimum: 1, maximum, title, description }))

/**
 * How an API lists its items in pages.
 * - `link`: a response names the URL of the next page, in its `Link` header or at the path `next`.
 * - `cursor`: a response has a value at the path `cursor`, which the next request sends as `param`.
 * - `page`: requests count pages, from `first` on.
 * - `offset`: requests count the items to skip, and may ask for `size` items.
 */
export const Pagination = t.Object(
  {
    type: oneOf(['link', 'cursor', 'page', 'offset'], {
      title: 'Next page',
      labels: { link: 'By link', cursor: 'By cursor', page: 'By page number', offset: 'By offset' },
    }),
    next: path('Next link', 'The path of the URL of the next page. Empty: the Link header has it.'),
    cursor: path('Cursor', 'The path of the cursor in each response. next_cursor if empty.'),
    param: name('Parameter', 'The parameter of the request. cursor, page or offset if empty.'),
    first: t.Optional(t.Integer({ minimum: 0, maximum: 1_000_000, title: 'First page', description: '1 if empty.' })),
    sizeParam: name('Size parameter', 'The parameter with the number of items a page.'),
    size: count(10_000, 'Items a page', 'The number of items to ask for.'),
    in: t.Optional(oneOf(['query', 'body'], { title: 'Sent in', labels: { query: 'Query', body: 'JSON body' } })),
    items: path('Items', 'The path of the list in each response. Empty: the response is the list.'),
    more: path('More', 'The path of a value that is false on the last page, such as has_more.'),
    maxPages: count(1_000, 'Most pages', 'Pages to read at most. 10 if empty.'),
    maxItems: count(100_000, 'Most items', 'Items to keep at most. 10,000 if empty.'),
  },
  {
    additionalProperties: false,
    membersByType: paginationMembers,
    title: 'Pagination',
    description: 'Reads a list page by page. The output data is then the list of all items.',
  },
)
export type Pagination = Static<typeof Pagination>

export const pagesMaxDefault = 10
export const itemsMaxDefault = 10_000
