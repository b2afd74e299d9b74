import { FormatError, invalidDocument } from './format-error.ts'
import { type Job, tooManyBytes, tooManyValues } from './job.ts'
import { columnsMax, resultBytesMax, resultValuesMax } from './limits.ts'
import { choiceOption, countOption, filledOption, flagOption, listOption } from './options.ts'
import type { FormatAnswer } from './wire.ts'

/** A cell before it is read: a text as the document has it, or a value of a known type. */
export type Cell = string | number | boolean | null

/**
 * Turns rows of cells into the result of an operation: a list of objects, or a file of JSON Lines. A file takes no
 * memory for its rows, so it may have any number of them.
 *
 * Each row becomes JSON text at once. So a column may have any name, such as `__proto__`.
 */
export class RowWriter {
  readonly #job: Job
  readonly #isFile: boolean
  readonly #hasHeader: boolean
  readonly #isTyped: boolean
  readonly #columns: readonly string[] | undefined
  readonly #offset: number
  readonly #limit: number
  readonly #rows: string[] = []
  #names: string[] | undefined
  /** For each cell: its name as JSON text with a colon. Undefined for a column that is left out. */
  #keys: (string | undefined)[] = []
  #seen = 0
  #count = 0
  #bytes = 2
  #values = 1

  constructor(job: Job, { typed }: { typed: boolean }) {
    const { options } = job
    this.#job = job
    this.#isFile = choiceOption(options, 'output', ['data', 'file'], 'data') === 'file'
    this.#hasHeader = flagOption(options, 'header', true)
    this.#isTyped = typed
    this.#columns = listOption(options, 'columns')
    this.#offset = countOption(options, 'offset') ?? 0
    this.#limit = countOption(options, 'limit') ?? Number.POSITIVE_INFINITY
  }

  /** Whether no further row is wanted. */
  get isFull(): boolean {
    return this.#count >= this.#limit
  }

  /** Takes the next row of the table. With a header, the first one has the names. */
  add(cells: readonly Cell[]): void {
    if (this.#hasHeader && !this.#names) {
      this.#take(namesOf(cells))
      return
    }
    this.#seen += 1
    if (this.#seen <= this.#offset || this.isFull) return
    if (this.#hasHeader) this.#keep(this.#object(cells), this.#keys.length)
    else this.#keep(this.#list(cells), cells.length)
  }

  /** Takes a row that is JSON text already. */
  addJson(text: string, values: number): void {
    this.#seen += 1
    if (this.#seen <= this.#offset || this.isFull) return
    this.#keep(text, values)
  }

  /** `named`: how the file of the rows is called when no option says so. */
  end(named: string): FormatAnswer {
    if (!this.#isFile) return { ok: true, json: `[${this.#rows.join(',')}]` }
    const name = filledOption(this.#job.options, 'fileName', named)
    return this.#job.file(name, 'application/jsonl', { rows: this.#count })
  }

  #take(names: string[]): void {
    this.#names = names
    const columns = this.#columns
    if (columns) {
      const missing = columns.filter((column) => !names.includes(column))
      if (missing.length > 0) {
        const shown = names.slice(0, shownNamesMax).map((name) => `"${name.slice(0, 100)}"`)
        throw invalidDocument(`There is no column "${missing[0]}". The columns are ${shown.join(', ')}.`)
      }
    }
    const wanted = columns && new Set(columns)
    this.#keys = names.map((name) => (wanted && !wanted.has(name) ? undefined : `${JSON.stringify(name)}:`))
  }

  #object(cells: readonly Cell[]): string {
    let text = '{'
    const width = this.#columns ? this.#keys.length : Math.max(this.#keys.length, cells.length)
    for (let at = 0; at < width; at++) {
      // A row may have more cells than the header.
      const key = at < this.#keys.length ? this.#keys[at] : `"column${at + 1}":`
      if (key === undefined) continue
      text += text === '{' ? key : `,${key}`
      text += this.#cell(cells[at])
    }
    return `${text}}`
  }

  #list(cells: readonly Cell[]): string {
    return `[${cells.map((cell) => this.#cell(cell)).join(',')}]`
  }

  #cell(cell: Cell | undefined): string {
    if (typeof cell !== 'string') return cell === undefined ? 'null' : JSON.stringify(cell)
    return this.#isTyped ? typed(cell) : JSON.stringify(cell)
  }

  #keep(text: string, values: number): void {
    this.#count += 1
    if (this.#isFile) {
      this.#job.sink.write(text)
      this.#job.sink.write('\n')
      return
    }
    this.#bytes += text.length + 1
    this.#values += values + 1
    if (this.#values > resultValuesMax) throw tooManyValues(remedy)
    if (this.#bytes > resultBytesMax) throw tooManyBytes(remedy)
    this.#rows.push(text)
  }
}

/** Names of columns are unique, and none is empty. */
function namesOf(cells: readonly Cell[]): string[] {
  if (cells.length > columnsMax) throw invalidDocument(`The header has more than ${columnsMax} columns.`)
  const taken = new Map<string, number>()
  return cells.map((cell, at) => {
    const name = cell === null || cell === '' ? `column${at + 1}` : String(cell)
    let number = taken.get(name) ?? 0
    if (number === 0) {
      taken.set(name, 1)
      return name
    }
    do number += 1
    while (taken.has(`${name}_${number}`))
    taken.set(name, number).set(`${name}_${number}`, 1)
    return `${name}_${number}`
  })
}

/** Texts that are unmistakably numbers or truth values. A number with a leading zero is a code, such as 01067. */
function typed(cell: string): string {
  if (cell === '') return 'null'
  if (cell === 'true' || cell === 'TRUE') return 'true'
  if (cell === 'false' || cell === 'FALSE') return 'false'
  if (cell.length <= numberCharsMax && number.test(cell)) return String(Number(cell))
  return JSON.stringify(cell)
}

const number = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d{1,2})?$/
/** A longer number may lose digits. */
const numberCharsMax = 15
const shownNamesMax = 20
const remedy = ' Read fewer rows or columns, or set the option "output" to "file".'

export function rowTooLong(row: number, charsMax: number): FormatError {
  return new FormatError('DOCUMENT_TOO_LARGE', `Row ${row} has more than ${charsMax} characters.`)
}
