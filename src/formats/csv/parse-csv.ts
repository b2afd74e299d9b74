import { invalidOption } from '../format-error.ts'
import type { Job, Operation } from '../job.ts'
import { choiceOption, filledOption } from '../options.ts'
import { RowWriter } from '../row-writer.ts'
import { textPiecesOf } from '../source.ts'
import { CsvReader, type Dialect } from './csv-reader.ts'
import { delimiterOf } from './delimiter.ts'

/** Reads CSV, a row at a time. */
export const parseCsv: Operation = (job) => {
  const { input, options } = job
  const rows = new RowWriter(job, { typed: choiceOption(options, 'types', ['text', 'auto'], 'text') === 'auto' })
  const encoding = choiceOption(options, 'encoding', encodings, 'utf-8')
  let reader: CsvReader | undefined
  for (const piece of textPiecesOf(input, encoding)) {
    reader ??= new CsvReader(dialectOf(options, piece), (cells) => rows.add(cells))
    reader.push(piece)
    // Nothing after the last wanted row is read.
    if (rows.isFull) break
  }
  if (!rows.isFull) reader?.end()
  return rows.end('rows.jsonl')
}

function dialectOf(options: Job['options'], start: string): Dialect {
  const quote = singleCharacter(options, 'quote', '"')
  const given = filledOption(options, 'delimiter', 'auto')
  if (given === 'auto' && options['delimiter'] !== '\t') return { delimiter: delimiterOf(start, quote), quote }
  const delimiter = delimiterOption(options, ',')
  if (delimiter === quote) throw invalidOption('delimiter', 'must not be the quote.')
  return { delimiter, quote }
}

/** The delimiter, as a character or as a word. */
export function delimiterOption(options: Job['options'], usual: string): string {
  if (options['delimiter'] === '\t') return '\t'
  const given = filledOption(options, 'delimiter', usual)
  const named = delimiterNames.get(given) ?? given
  return singleCharacter({ delimiter: named }, 'delimiter', usual)
}

function singleCharacter(options: Job['options'], name: string, usual: string): string {
  const value = options[name] === '\t' ? '\t' : filledOption(options, name, usual)
  if (value.length === 1 && value !== '\n' && value !== '\r') return value
  throw invalidOption(name, 'must be one character.')
}

const delimiterNames = new Map([
  ['comma', ','],
  ['semicolon', ';'],
  ['tab', '\t'],
  ['\\t', '\t'],
  ['pipe', '|'],
])

const encodings = ['utf-8', 'utf-16le', 'utf-16be', 'windows-1252'] as const
