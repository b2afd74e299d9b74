import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { Checksum, portable } from '../../../../src/store/move/row.ts'
import type { Cell, ColumnType, MovedTable } from '../../../../src/store/move/tables.ts'
import { linesIn, linesOf, rowIn } from '../../../../src/store/postgres/move/copy-text.ts'

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.string({
    unit: fc.constantFrom('\\', '\t', '\n', '\r', 'N', '\0', '\b', 'x', ',', '"', '{', '\ud800'),
    maxLength: 9,
  }),
)
const real = fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value))
const cells = {
  integer: fc.maxSafeInteger(),
  real,
  text,
  boolean: fc.boolean(),
  bytes: fc.uint8Array({ maxLength: 20 }),
  execution: text,
  labels: fc.dictionary(text, text, { maxKeys: 3 }).map((labels) => JSON.stringify(labels)),
} as const satisfies Partial<Record<ColumnType, fc.Arbitrary<Cell>>>
const names = Object.keys(cells) as (keyof typeof cells)[]
const row = fc.tuple(...names.map((name) => fc.option<Cell>(cells[name], { nil: null, freq: 4 })))

const table: MovedTable = {
  name: 'things',
  key: ['integer'],
  columns: Object.fromEntries(names.map((name) => [name, name])),
  bySequence: false,
}

describe('a row in the format of COPY', () => {
  test('is read as it was written, wherever its bytes are cut', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(row, { maxLength: 5 }), fc.integer({ min: 1, max: 50 }), async (rows, length) => {
        const bytes = Buffer.from(linesOf(names, rows))
        const pieces = async function* () {
          for (let from = 0; from < bytes.length; from += length) yield bytes.subarray(from, from + length)
        }
        const read = []
        for await (const lines of linesIn(pieces())) read.push(...lines.map((line) => rowIn(names, line)))
        expect(read).toEqual(rows.map((cells) => cells.map((cell, index) => portable(names[index]!, cell))))
      }),
    )
  })

  test('has texts that PostgreSQL can represent, also in JSON that it reads', () => {
    fc.assert(
      fc.property(fc.dictionary(text, text, { maxKeys: 3 }), (labels) => {
        const kept = JSON.parse(String(portable('labels', JSON.stringify(labels)))) as Record<string, string>
        for (const each of Object.entries(kept).flat()) {
          expect(each.isWellFormed()).toBe(true)
          expect(each).not.toContain('\0')
        }
      }),
    )
    expect(portable('text', 'a\0b')).toBe('a\ufffdb')
    expect(portable('labels', '{"a\\u0000":"\\ud800"}')).toBe('{"a\ufffd":"\ufffd"}')
  })
})

describe('a checksum', () => {
  const sumOf = (rows: readonly (readonly Cell[])[]) => {
    const sum = new Checksum(table)
    sum.add(rows)
    return sum
  }

  test('does not depend on the order of rows', () => {
    fc.assert(
      fc.property(fc.array(row, { maxLength: 5 }), (rows) => {
        expect(sumOf(rows.toReversed()).text).toBe(sumOf(rows).text)
      }),
    )
  })

  test('differs when a cell differs, or is in another column or row', () => {
    const rows = [
      [1, 0.5, 'a', true, Uint8Array.of(1), 'e', '{}'],
      [2, 0.5, '', false, Uint8Array.of(2), null, null],
    ]
    const change = (at: number, column: number, changed: Cell) =>
      rows.map((each, index) => (index === at ? each.map((cell, place) => (place === column ? changed : cell)) : each))
    const changed = [
      ...[change(0, 0, 3), change(0, 1, 0.25), change(0, 2, 'b'), change(0, 3, false), change(0, 4, Uint8Array.of(2))],
      ...[change(1, 2, null), change(1, 5, ''), rows.slice(1), [...rows, rows[0]!]],
      [rows[0]!.with(2, ''), rows[1]!.with(2, 'a')],
    ]
    for (const each of changed) expect(sumOf(each).equals(sumOf(rows))).toBe(false)
  })
})
