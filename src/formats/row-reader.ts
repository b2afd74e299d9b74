import { findJsonExcess } from '../domain/text/json.ts'
import { FormatError, invalidDocument } from './format-error.ts'
import { jsonLinesOf, type Line } from './json/json-lines.ts'
import { columnsMax, depthMax, resultValuesMax } from './limits.ts'
import { listOption } from './options.ts'
import { wrongKind } from './source.ts'
import type { FormatJob } from './wire.ts'

/** The rows that an operation writes, and the names of their columns; no names for rows that are lists. */
export type Rows = { columns: readonly string[] | undefined; rows: Iterable<readonly unknown[]> }

/**
 * Reads the rows of an input: a list of objects or lists, or a file of JSON Lines, which is read row by row. The
 * columns are the option `columns`, or the members of the objects. Those of a file are the members of its first row.
 */
export function rowsOf({ input, options }: Pick<FormatJob, 'input' | 'options'>): Rows {
  const wanted = listOption(options, 'columns')
  if (input.kind === 'value') return rowsOfList(JSON.parse(input.json) as unknown, wanted)
  const list = input.kind === 'text' ? listIn(input.text) : undefined
  return list ? rowsOfList(list, wanted) : rowsOfLines(jsonLinesOf(input), wanted)
}

export function rowsOfList(list: unknown, wanted?: readonly string[]): Rows {
  if (!Array.isArray(list)) throw wrongKind('a list of rows, or a file of JSON Lines')
  const rows = list as unknown[]
  if (rows.every(Array.isArray)) return { columns: wanted, rows: rows as unknown[][] }
  const columns = wanted ?? membersOf(rows)
  return { columns, rows: cellsOfEach(rows, columns) }
}

/** A text may be a whole JSON list, too. */
function listIn(text: string): unknown {
  if (!text.trimStart().startsWith('[') || findJsonExcess(text, depthMax, resultValuesMax)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function rowsOfLines(lines: Iterator<Line, void>, wanted: readonly string[] | undefined): Rows {
  const first = lines.next()
  if (first.done) return { columns: wanted, rows: [] }
  const row = first.value.value
  const columns = wanted ?? (Array.isArray(row) ? undefined : membersOf([row]))
  const rows = valuesFrom(row, lines)
  return { columns, rows: Array.isArray(row) ? listsIn(rows) : cellsOfEach(rows, columns ?? []) }
}

function* valuesFrom(first: unknown, lines: Iterator<Line, void>): Generator<unknown> {
  yield first
  for (let next = lines.next(); !next.done; next = lines.next()) yield next.value.value
}

function membersOf(rows: readonly unknown[]): string[] {
  const names = new Set<string>()
  for (const row of rows) {
    if (isRecord(row)) for (const name of Object.keys(row)) names.add(name)
    if (names.size > columnsMax) throw new FormatError('DOCUMENT_TOO_LARGE', `The rows have too many columns.`)
  }
  return [...names]
}

function* cellsOfEach(rows: Iterable<unknown>, columns: readonly string[]): Generator<unknown[]> {
  let number = 0
  for (const row of rows) {
    number += 1
    if (!isRecord(row)) throw invalidDocument(`Row ${number} is not an object. Rows are all objects, or all lists.`)
    yield columns.map((column) => (Object.hasOwn(row, column) ? row[column] : null))
  }
}

function* listsIn(rows: Iterable<unknown>): Generator<unknown[]> {
  let number = 0
  for (const row of rows) {
    number += 1
    if (!Array.isArray(row)) throw invalidDocument(`Row ${number} is not a list. Rows are all objects, or all lists.`)
    yield row as unknown[]
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
