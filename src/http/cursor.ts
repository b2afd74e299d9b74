/** Where a page ended: the numbers that its last row is sorted by. */
export type Position = readonly number[]

/** What a cursor belongs to: it continues this query and no other. `filters`: a text that is equal for equal filters. */
export type CursorScope = { of: string; order: 'asc' | 'desc'; filters: string }

/** An opaque cursor: the position, and a check sum over it and its scope. */
export function writeCursor(position: Position, scope: CursorScope): string {
  return Buffer.from(JSON.stringify([...position, checkSum(position, scope)])).toString('base64url')
}

/** The position of a cursor of the same scope; undefined for any other text. */
export function readCursor(cursor: string, scope: CursorScope): Position | undefined {
  if (cursor.length > cursorCharsMax) return undefined
  const text = Buffer.from(cursor, 'base64url').toString()
  const [, digits = '', sum] = /^\[((?:\d{1,16},){1,2})"([0-9a-f]+)"\]$/.exec(text) ?? []
  const position = digits.split(',').slice(0, -1).map(Number)
  if (!position.every(Number.isSafeInteger) || sum !== checkSum(position, scope)) return undefined
  // Decoding forgives what encoding never makes; one page has one cursor.
  return writeCursor(position, scope) === cursor ? position : undefined
}

const cursorCharsMax = 100

/** No secret is needed: what a cursor can reach, its caller may read anyway. It only has to notice mistakes. */
function checkSum(position: Position, { of, order, filters }: CursorScope): string {
  const text = JSON.stringify([position, order, of, filters])
  return new Bun.CryptoHasher('sha256').update(text).digest('hex').slice(0, 16)
}
