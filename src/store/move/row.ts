import { storable } from '../postgres/connection.ts'
import type { Cell, ColumnType, MovedTable, Row } from './tables.ts'

/** A cell as both stores can keep it. */
export function portable(type: ColumnType, cell: Cell): Cell {
  if (typeof cell !== 'string') return cell
  if (type !== 'labels' && type !== 'texts') return storable(cell)
  return strangeEscape.test(cell) ? JSON.stringify(portableTexts(JSON.parse(cell) as Texts)) : cell
}

type Texts = readonly string[] | Readonly<Record<string, string>>

/** PostgreSQL reads single texts of this JSON, so they must not contain what it cannot represent. */
function portableTexts(texts: Texts): Texts {
  if (Array.isArray(texts)) return texts.map(storable)
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [storable(name), storable(text)]))
}

/** U+0000 and halves of surrogate pairs, as JSON writes them. */
const strangeEscape = /\\u(?:0000|d[89a-f])/i

/**
 * The number of rows and the sum of their hashes. Two stores have the same rows if both are equal, in whatever order
 * they were added.
 */
export class Checksum {
  readonly #types: readonly ColumnType[]
  #rows = 0
  #sum = 0n

  constructor(table: MovedTable) {
    this.#types = Object.values(table.columns)
  }

  get rows(): number {
    return this.#rows
  }

  add(rows: readonly Row[]): void {
    this.#rows += rows.length
    for (const row of rows) {
      this.#sum = BigInt.asUintN(64, this.#sum + Bun.hash.wyhash(this.#textOf(row)))
    }
  }

  get text(): string {
    return `${this.#rows} ${this.#sum.toString(16)}`
  }

  equals(other: Checksum): boolean {
    return this.text === other.text
  }

  /** No text contains U+0000 any more, so cells cannot run into each other. */
  #textOf(row: Row): string {
    let text = ''
    for (const [index, type] of this.#types.entries()) {
      if (type !== 'order') text += `${cellText(portable(type, row[index]!))}\0`
    }
    return text
  }
}

function cellText(cell: Cell): string {
  if (cell === null) return '\u0001'
  return cell instanceof Uint8Array ? cell.toHex() : String(cell)
}

/** About how much memory a row takes. */
export function sizeOf(row: Row): number {
  let size = 0
  for (const cell of row) size += typeof cell === 'string' || cell instanceof Uint8Array ? cell.length : 8
  return size
}

/** A batch of rows ends beyond these. */
export const batchRowsMax = 2_000
export const batchSizeMax = 2_097_152
