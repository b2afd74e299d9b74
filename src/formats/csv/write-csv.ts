import type { Operation } from '../job.ts'
import { tooManyBytes } from '../job.ts'
import { resultBytesMax } from '../limits.ts'
import { choiceOption, filledOption, flagOption } from '../options.ts'
import { rowsOf } from '../row-reader.ts'
import { delimiterOption } from './parse-csv.ts'

/** Writes CSV, a row at a time: as a text, or as a file. */
export const writeCsv: Operation = (job) => {
  const { options } = job
  const isFile = choiceOption(options, 'output', ['data', 'file'], 'data') === 'file'
  const newline = choiceOption(options, 'newline', ['crlf', 'lf'], 'crlf') === 'lf' ? '\n' : '\r\n'
  const delimiter = delimiterOption(options, ',')
  const cell = {
    needsQuotes: new RegExp(`["\\r\\n${delimiter.replace(/[\\\]^-]/, '\\$&')}]|^\\s|\\s$`),
    isAlwaysQuoted: flagOption(options, 'quoteAll', false),
    escapesFormulas: flagOption(options, 'escapeFormulas', false),
  }
  const { columns, rows } = rowsOf(job)
  const lines: string[] = []
  let bytes = 0
  let count = 0
  const write = (text: string) => {
    if (isFile) {
      job.sink.write(text)
      return
    }
    bytes += Buffer.byteLength(text)
    if (bytes > resultBytesMax) throw tooManyBytes(' Set the option "output" to "file".')
    lines.push(text)
  }
  const line = (cells: readonly unknown[]) => {
    const written = cells.map((value) => cellOf(value, cell)).join(delimiter)
    // An empty line would be no row.
    write((written === '' ? '""' : written) + newline)
  }
  if (flagOption(options, 'bom', false)) write('\ufeff')
  if (columns && flagOption(options, 'header', true)) line(columns)
  for (const row of rows) {
    line(row)
    count += 1
  }
  if (!isFile) return { ok: true, json: JSON.stringify(lines.join('')) }
  return job.file(filledOption(options, 'fileName', 'rows.csv'), 'text/csv', { rows: count })
}

type CellRules = { needsQuotes: RegExp; isAlwaysQuoted: boolean; escapesFormulas: boolean }

function cellOf(value: unknown, { needsQuotes, isAlwaysQuoted, escapesFormulas }: CellRules): string {
  let text = ''
  if (typeof value === 'string') text = escapesFormulas && formula.test(value) ? `'${value}` : value
  else if (value !== null && value !== undefined) text = JSON.stringify(value)
  return isAlwaysQuoted || needsQuotes.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** Spreadsheets execute such a text, unless an apostrophe precedes it. */
const formula = /^[=+\-@\t\r]/
