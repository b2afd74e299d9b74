import type { LogQuery } from '../store/log-query.ts'

/** Where a page ended: the sequence of its last entry. */
export type Position = number

/** What a cursor belongs to: it continues this query and no other. `filters`: a text that is equal for equal filters. */
export type CursorScope = Pick<LogQuery, 'workspaceId' | 'order'> & { filters: string }

/** An opaque cursor: the position, and a check sum over it and its scope. */
export function writeCursor(position: Position, scope: CursorScope): string {
  return Buffer.from(JSON.stringify([position, checkSum(position, scope)])).toString('base64url')
}

/** The position of a cursor of the same scope; undefined for any other text. */
export function readCursor(cursor: string, scope: CursorScope): Position | undefined {
  if (cursor.length > cursorCharsMax) return undefined
  const text = Buffer.from(cursor, 'base64url').toString()
  const [, digits, sum] = /^\[(\d{1,16}),"([0-9a-f]+)"\]$/.exec(text) ?? []
  const position = Number(digits)
  if (!Number.isSafeInteger(position) || sum !== checkSum(position, scope)) return undefined
  // Decoding forgives what encoding never makes; one page has one cursor.
  return writeCursor(position, scope) === cursor ? position : undefined
}

const cursorCharsMax = 100

/** No secret is needed: what a cursor can reach, its caller may read anyway. It only has to notice mistakes. */
function checkSum(position: Position, { workspaceId, order, filters }: CursorScope): string {
  const text = JSON.stringify([position, order, workspaceId, filters])
  return new Bun.CryptoHasher('sha256').update(text).digest('hex').slice(0, 16)
}
