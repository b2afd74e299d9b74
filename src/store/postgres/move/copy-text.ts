import { portable } from '../../move/row.ts'
import type { Cell, ColumnType, Row } from '../../move/tables.ts'
import { listOf } from '../connection.ts'

// Rows in the text format of COPY: a line per row, tabs between its cells, `\N` for NULL, backslashes before special
// characters.

export function linesOf(types: readonly ColumnType[], rows: readonly Row[]): string {
  let lines = ''
  for (const row of rows) {
    for (const [index, type] of types.entries()) {
      if (index > 0) lines += '\t'
      lines += textOf(type, portable(type, row[index]!))
    }
    lines += '\n'
  }
  return lines
}

function textOf(type: ColumnType, cell: Cell): string {
  // Where there was no order of commits, all entries precede those that this database will add.
  if (cell === null) return type === 'order' ? '0' : '\\N'
  if (typeof cell === 'string') return escaped(type === 'texts' ? listOf(JSON.parse(cell) as string[]) : cell)
  if (typeof cell === 'boolean') return cell ? 't' : 'f'
  return typeof cell === 'number' ? String(cell) : `\\\\x${cell.toHex()}`
}

function escaped(text: string): string {
  return special.test(text) ? text.replaceAll(everySpecial, (found) => escapes[found]!) : text
}

const special = /[\\\t\n\r]/
const everySpecial = /[\\\t\n\r]/g
const escapes: Readonly<Record<string, string>> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' }

/** The complete lines of a stream, some at a time. A line may consist of many pieces. */
export async function* linesIn(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<string[]> {
  const decoder = new TextDecoder()
  let begun: string[] = []
  for await (const piece of pieces) {
    const text = decoder.decode(piece, { stream: true })
    const end = text.lastIndexOf('\n')
    if (end === -1) {
      begun.push(text)
      continue
    }
    begun.push(text.slice(0, end))
    yield begun.join('').split('\n')
    begun = [text.slice(end + 1)]
  }
}

export function rowIn(types: readonly ColumnType[], line: string): Row {
  const cells = line.split('\t')
  return types.map((type, index) => cellIn(type, cells[index]!))
}

function cellIn(type: ColumnType, text: string): Cell {
  if (text === '\\N') return null
  switch (type) {
    case 'integer':
    case 'order':
    case 'real':
      return Number(text)
    case 'boolean':
      return text === 't'
    case 'bytes':
      return Uint8Array.fromHex(text.slice('\\\\x'.length))
    case 'texts':
      return JSON.stringify((JSON.parse(unescaped(text)) as string[]).toSorted())
    case 'text':
    case 'labels':
    case 'execution':
      return unescaped(text)
  }
}

function unescaped(text: string): string {
  return text.includes('\\') ? text.replaceAll(/\\(.)/g, (_, found: string) => characters[found] ?? found) : text
}

/** PostgreSQL also has escapes for three characters that need none. */
const characters: Readonly<Record<string, string>> = { t: '\t', n: '\n', r: '\r', b: '\b', f: '\f', v: '\v' }
