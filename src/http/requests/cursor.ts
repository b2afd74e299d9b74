/** Where a page ended: the sort keys of its last row. */
export type Position = readonly number[]

/** The query that a cursor continues. `filters`: a text that is equal for equal filters. */
export type CursorScope = { of: string; order: 'asc' | 'desc'; filters: string }

/** An opaque cursor: the position, and a checksum of the position and its scope. */
export function writeCursor(position: Position, scope: CursorScope): string {
  return Buffer.from(JSON.stringify([...position, checkSum(position, scope)])).toString('base64url')
}

/** The position in a cursor of this scope; undefined for any other text. */
export function readCursor(cursor: string, scope: CursorScope): Position | undefined {
  if (cursor.length > cursorCharsMax) return undefined
  const text = Buffer.from(cursor, 'base64url').toString()
  const [, digits = '', sum] = /^\[((?:\d{1,16},){1,2})"([0-9a-f]+)"\]$/.exec(text) ?? []
  const position = digits.split(',').slice(0, -1).map(Number)
  if (!position.every(Number.isSafeInteger) || sum !== checkSum(position, scope)) return undefined
  // Decoding is lenient, but each page must have exactly one cursor text.
  return writeCursor(position, scope) === cursor ? position : undefined
}

const cursorCharsMax = 100

/** Needs no secret: a cursor reaches only what its caller may read. The checksum only detects mistakes. */
function checkSum(position: Position, { of, order, filters }: CursorScope): string {
  const text = JSON.stringify([position, order, of, filters])
  return new Bun.CryptoHasher('sha256').update(text).digest('hex').slice(0, 16)
}
