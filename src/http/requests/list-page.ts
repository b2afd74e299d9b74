import { AppError } from '../../domain/errors.ts'
import type { Parameters } from './parameters.ts'

/** Where a page of a list ended: the sort key, and a value that tells items with the same key apart. */
export type Place = readonly [key: string | number, tie: string | number]

/** The page that a request wants. */
export type PageRequest<Sort extends string = string> = {
  sortBy: Sort
  sortOrder: 'asc' | 'desc'
  limit: number
  cursor: string | undefined
}

export const pageLimitMax = 100

export function readPageRequest<const Sorts extends readonly string[]>(
  parameters: Parameters,
  {
    sorts,
    sortBy,
    sortOrder,
    limit,
  }: { sorts: Sorts; sortBy: Sorts[number]; sortOrder: 'asc' | 'desc'; limit: number },
): PageRequest<Sorts[number]> {
  return {
    sortBy: parameters.oneOf('sortBy', sorts) ?? sortBy,
    sortOrder: parameters.oneOf('sortOrder', ['asc', 'desc']) ?? sortOrder,
    limit: parameters.whole('limit', 1, pageLimitMax) ?? limit,
    cursor: parameters.text('cursor'),
  }
}

/** The name of a list with its filters and its order. A cursor continues only the list that returned it. */
export function scopeOf(list: string, { sortBy, sortOrder }: PageRequest, filters: readonly unknown[] = []): string {
  return JSON.stringify([list, sortBy, sortOrder, ...filters])
}

export function writePlace(place: Place, scope: string): string {
  return Buffer.from(JSON.stringify([...place, checkSum(place, scope)])).toString('base64url')
}

/** Where the page of a request begins; undefined for the first page. Throws INVALID_CURSOR. */
export function placeIn({ cursor }: Pick<PageRequest, 'cursor'>, scope: string): Place | undefined {
  if (cursor === undefined) return undefined
  const place = readPlace(cursor)
  if (place && writePlace(place, scope) === cursor) return place
  throw new AppError('INVALID_CURSOR', 'The cursor does not belong to this query. Start again without a cursor.')
}

/** The longest name, escaped and encoded, fits. */
const cursorCharsMax = 8_000

function readPlace(cursor: string): Place | undefined {
  if (cursor.length > cursorCharsMax) return undefined
  try {
    const [key, tie] = JSON.parse(Buffer.from(cursor, 'base64url').toString()) as unknown[]
    return isKey(key) && isKey(tie) ? [key, tie] : undefined
  } catch {
    return undefined
  }
}

function isKey(value: unknown): value is string | number {
  return typeof value === 'string' || Number.isSafeInteger(value)
}

/** Needs no secret: a cursor gives no access to other items. The checksum only detects mistakes. */
function checkSum(place: Place, scope: string): string {
  return new Bun.CryptoHasher('sha256')
    .update(JSON.stringify([place, scope]))
    .digest('hex')
    .slice(0, 16)
}

/** A page of a list in memory. The keys must be all texts or all numbers. */
export function pageOfItems<Item>(
  items: readonly Item[],
  placeOf: (item: Item) => Place,
  request: PageRequest,
  scope: string,
): { items: Item[]; nextCursor: string | null } {
  const after = placeIn(request, scope)
  const sign = request.sortOrder === 'asc' ? 1 : -1
  const placed = items.map((item) => ({ item, place: placeOf(item) }))
  const rest = after ? placed.filter(({ place }) => sign * compare(place, after) > 0) : placed
  const page = rest.sort((a, b) => sign * compare(a.place, b.place)).slice(0, request.limit)
  const last = page.at(-1)
  const isLast = last === undefined || rest.length === page.length
  return { items: page.map(({ item }) => item), nextCursor: isLast ? null : writePlace(last.place, scope) }
}

function compare(a: Place, b: Place): number {
  return compareKeys(a[0], b[0]) || compareKeys(a[1], b[1])
}

function compareKeys(a: string | number, b: string | number): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}
