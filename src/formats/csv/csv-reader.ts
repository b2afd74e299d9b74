import { FormatError } from '../format-error.ts'
import { cellCharsMax, columnsMax, rowCharsMax } from '../limits.ts'
import { rowTooLong } from '../row-writer.ts'

export type Dialect = { delimiter: string; quote: string }

/**
 * Reads CSV text piece by piece, in one pass. A row ends with any of the three line breaks, and blank lines are no
 * rows. Text after a closing quote belongs to its cell, as in most spreadsheets.
 *
 * Written by hand, because the known libraries read the end of a piece again together with the next piece: a quote that
 * nobody closes then takes time that grows with the square of the text.
 */
export class CsvReader {
  readonly #delimiter: number
  readonly #quote: string
  readonly #quoteCode: number
  readonly #onRow: (cells: string[]) => void
  #state: 'start' | 'plain' | 'quoted' | 'closing' = 'start'
  #cells: string[] = []
  #cell = ''
  #rowChars = 0
  /** A line with an empty cell in quotes is not blank. */
  #hasQuotes = false
  #rows = 0
  /** Whether the last character was a carriage return that ended a row. */
  #afterReturn = false

  constructor({ delimiter, quote }: Dialect, onRow: (cells: string[]) => void) {
    this.#delimiter = delimiter.charCodeAt(0)
    this.#quote = quote
    this.#quoteCode = quote.charCodeAt(0)
    this.#onRow = onRow
  }

  push(text: string): void {
    const end = text.length
    let at = 0
    if (this.#afterReturn && end > 0) {
      this.#afterReturn = false
      if (text.charCodeAt(0) === lineFeed) at = 1
    }
    while (at < end) {
      if (this.#state === 'start') {
        const isQuoted = text.charCodeAt(at) === this.#quoteCode
        this.#state = isQuoted ? 'quoted' : 'plain'
        if (isQuoted) {
          this.#hasQuotes = true
          at += 1
        }
      } else if (this.#state === 'plain') at = this.#readPlain(text, at)
      else if (this.#state === 'quoted') at = this.#readQuoted(text, at)
      else {
        const isEscaped = text.charCodeAt(at) === this.#quoteCode
        if (isEscaped) this.#append(this.#quote)
        this.#state = isEscaped ? 'quoted' : 'plain'
        if (isEscaped) at += 1
      }
    }
  }

  /** A last row needs no line break. */
  end(): void {
    if (this.#state === 'quoted') {
      const message = `Row ${this.#rows + 1} ends within quotes: the quote of its last cell is not closed.`
      throw new FormatError('INVALID_DOCUMENT', message)
    }
    this.#endRow()
  }

  #readPlain(text: string, from: number): number {
    let at = from
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code === this.#delimiter || code === lineFeed || code === carriageReturn) break
    }
    if (at > from) this.#append(text.slice(from, at))
    if (at === text.length) return at
    const code = text.charCodeAt(at)
    if (code === this.#delimiter) {
      this.#endCell()
      return at + 1
    }
    this.#endRow()
    if (code === lineFeed) return at + 1
    if (at + 1 === text.length) this.#afterReturn = true
    return text.charCodeAt(at + 1) === lineFeed ? at + 2 : at + 1
  }

  #readQuoted(text: string, from: number): number {
    const at = text.indexOf(this.#quote, from)
    this.#append(at < 0 ? text.slice(from) : text.slice(from, at))
    if (at < 0) return text.length
    this.#state = 'closing'
    return at + 1
  }

  #append(text: string): void {
    this.#cell = this.#cell === '' ? text : this.#cell + text
    this.#rowChars += text.length
    if (this.#cell.length > cellCharsMax) {
      const hint = this.#state === 'quoted' ? ' Is a quote not closed?' : ''
      const message = `Row ${this.#rows + 1} has a cell of more than ${cellCharsMax} characters.${hint}`
      throw new FormatError('DOCUMENT_TOO_LARGE', message)
    }
    if (this.#rowChars > rowCharsMax) throw rowTooLong(this.#rows + 1, rowCharsMax)
  }

  #endCell(): void {
    if (this.#cells.length === columnsMax) {
      const message = `Row ${this.#rows + 1} has more than ${columnsMax} cells. Is the delimiter right?`
      throw new FormatError('DOCUMENT_TOO_LARGE', message)
    }
    this.#cells.push(this.#cell)
    this.#cell = ''
    this.#state = 'start'
  }

  #endRow(): void {
    if (this.#cells.length === 0 && this.#cell === '' && !this.#hasQuotes) {
      this.#state = 'start'
      return
    }
    this.#endCell()
    const cells = this.#cells
    this.#cells = []
    this.#rowChars = 0
    this.#hasQuotes = false
    this.#rows += 1
    this.#onRow(cells)
  }
}

const lineFeed = 10
const carriageReturn = 13
