import { afterAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import own from '../../support/fixtures/spreadsheets/own.json'
import { writtenRows } from '../../support/fixtures/spreadsheets/written-rows.ts'
import { Desk, valueInput } from '../../support/formats/desk.ts'

const desk = new Desk()
afterAll(() => desk[Symbol.asyncDispose]())

/** A spreadsheet of LibreOffice, which `scripts/spreadsheets.ts` made. */
const types = desk.fileAt(join(import.meta.dir, '../../support/fixtures/spreadsheets/types.xlsx'))

/** Writes a spreadsheet, and returns it as an input. */
async function written(value: unknown, options: Record<string, unknown> = {}) {
  const { files } = await desk.do('xlsx_write', valueInput(value), options)
  return desk.fileAt(files[0]?.path ?? '')
}

describe('a spreadsheet of LibreOffice', () => {
  test('is read with its types, and with the values of its formulas', async () => {
    const { data } = await desk.do('xlsx_read', types)
    const values = (data as { kind: string; value: unknown; note: unknown }[]).map(({ kind, value, note }) => {
      return note === null ? [kind, value] : [kind, value, note]
    })
    expect(values).toEqual([
      ['text', 'Zoë 😀 & <b>'],
      ['lines', 'one\ntwo'],
      ['rich', 'plain bold end'],
      ['number', -12.5],
      ['large', 1234567890123],
      ['percent', 0.125],
      ['date', '2026-02-28'],
      ['datetime', '2026-02-28T13:45:30'],
      ['time', '13:45:30'],
      ['duration', 1.5],
      ['true', true],
      ['formula', -25],
      ['textual formula', 'ab'],
      ['error', '#DIV/0!'],
      ['after a gap', null, 'third'],
    ])
  })

  test('has its sheets read by name and by number', async () => {
    for (const sheet of ['Größe & Gewicht', '2']) {
      expect((await desk.do('xlsx_read', types, { sheet })).data).toEqual([{ a: 1, b: 2 }])
    }
    expect(await desk.fails('xlsx_read', types, { sheet: '3' })).toBe(
      'INVALID_PARAMETER: The option "sheet" names none of the sheets. They are "Types", "Größe & Gewicht".',
    )
  })

  test('is read in part, and as a file', async () => {
    const part = { columns: ['value'], offset: 3, limit: 2 }
    expect((await desk.do('xlsx_read', types, part)).data).toEqual([{ value: -12.5 }, { value: 1234567890123 }])
    const { data, text } = await desk.do('xlsx_read', types, { ...part, output: 'file' })
    expect(data).toEqual({ rows: 2 })
    expect(text).toBe('{"value":-12.5}\n{"value":1234567890123}\n')
  })
})

test('a spreadsheet written here is the one that LibreOffice read', async () => {
  const { file } = await written(writtenRows)
  // If this differs, run scripts/spreadsheets.ts, and look at what LibreOffice makes of the new file.
  expect(createHash('sha256').update(readFileSync(file.path)).digest('hex')).toBe(own.sha256)
  const { data } = await desk.do('csv_parse', own.csv, { types: 'auto' })
  // CSV does not tell an empty text from an empty cell.
  const read = writtenRows.map((row) => ({ ...row, name: row.name === '' ? null : row.name }))
  expect(data).toEqual(read.map((row) => (row.count === 1e21 ? { ...row, count: '1E+021' } : row)))
})

describe('a spreadsheet', () => {
  test('returns the values that were written', async () => {
    const cell = fc.oneof(
      fc.string({ unit: 'binary', maxLength: 50 }).map((text) => text.toWellFormed()),
      fc.string({ unit: fc.constantFrom('_', 'x', '0', 'A', '=', ' ', '\r', '\n', '\t', '\u0007') }),
      fc.double({ noNaN: true, noDefaultInfinity: true }).map((number) => number + 0),
      fc.boolean(),
    )
    const rows = fc.array(fc.record({ a: cell, b: cell }), { minLength: 1, maxLength: 10 })
    await fc.assert(
      fc.asyncProperty(rows, async (list) => {
        expect((await desk.do('xlsx_read', await written(list))).data).toEqual(JSON.parse(JSON.stringify(list)))
      }),
      { numRuns: 60 },
    )
  })

  test('may have several sheets, and rows that are lists', async () => {
    const file = await written(
      {
        One: [
          [1, 'x'],
          [null, 2],
        ],
        'A & "B" <c>': [{ y: true }],
      },
      { header: true },
    )
    expect((await desk.do('xlsx_read', file, { header: false })).data).toEqual([
      [1, 'x'],
      [null, 2],
    ])
    expect((await desk.do('xlsx_read', file, { sheet: 'A & "B" <c>' })).data).toEqual([{ y: true }])
  })

  test('of many rows is written and read within 64 MB', async () => {
    const lines = Array.from({ length: 200_000 }, (_, id) => `{"id":${id},"name":"Name ${id}"}\n`).join('')
    const { files, data } = await desk.do('xlsx_write', desk.file(lines))
    expect(data).toEqual({ rows: 200_000 })
    const back = await desk.do('xlsx_read', desk.fileAt(files[0]?.path ?? ''), { output: 'file' })
    expect(back.text).toBe(lines)
  }, 30_000)

  test('explains what it cannot hold', async () => {
    expect(await desk.fails('xlsx_write', valueInput({ 'a/b': [] }))).toContain('cannot be the name of a sheet')
    expect(await desk.fails('xlsx_write', valueInput([{ a: 'x'.repeat(40_000) }]))).toContain('Cell A2 has more than')
    expect(await desk.fails('xlsx_write', valueInput([1]))).toContain('Row 1 is not an object')
    expect(await desk.fails('xlsx_read', 'a text')).toContain('The input must be a file')
    expect(await desk.fails('xlsx_read', desk.file('a,b\n'))).toContain('This is not a ZIP archive')
    expect(await desk.fails('xlsx_read', await written({ A: [] }))).toBe('It did not fail.')
  })
})

test('dates before the leap day that never was, and those of old Macs, are right', async () => {
  const { dateText } = await import('../../../src/formats/xlsx/cell-format.ts')
  expect([1, 59, 61, 36526, 46081.5].map((serial) => dateText(serial, false))).toEqual([
    ...['1900-01-01', '1900-02-28', '1900-03-01', '2000-01-01', '2026-02-28T12:00:00'],
  ])
  expect(dateText(0, true)).toBe('1904-01-01')
  expect(dateText(35064, true)).toBe('2000-01-01')
  expect(dateText(-1, false)).toBeUndefined()
  expect(dateText(3e6, false)).toBeUndefined()
})
