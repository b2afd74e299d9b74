import { documentTooLarge } from '../format-error.ts'
import type { Operation } from '../job.ts'
import { cellCharsMax, columnsMax } from '../limits.ts'
import { filledOption } from '../options.ts'
import { type Cell, RowWriter } from '../row-writer.ts'
import { archiveOf } from '../zip/read-zip.ts'
import { columnOf, dateText, unescaped } from './cell-format.ts'
import { Workbook } from './workbook.ts'
import { readPart, type XmlHandler } from './xml-reader.ts'

/** Reads a sheet, a row at a time. A formula is the value that the last program saved with it. */
export const readXlsx: Operation = (job) => {
  using archive = archiveOf(job)
  const workbook = new Workbook(archive)
  const sheet = workbook.sheet(filledOption(job.options, 'sheet', ''))
  const rows = new RowWriter(job, { typed: false })
  readPart(archive, sheet, new SheetReader(workbook, rows))
  return rows.end('rows.jsonl')
}

/** Rows without a cell are left out, and the cells that a row leaves out are null. */
class SheetReader implements XmlHandler {
  readonly #texts: readonly string[]
  readonly #dateStyles: readonly boolean[]
  readonly #is1904: boolean
  readonly #rows: RowWriter
  #cells: Cell[] = []
  #column = 0
  #type = ''
  #isDate = false
  #value = ''
  #isValue = false
  #isPhonetic = false

  constructor(workbook: Workbook, rows: RowWriter) {
    this.#texts = workbook.sharedTexts()
    this.#dateStyles = workbook.dateStyles()
    this.#is1904 = workbook.is1904
    this.#rows = rows
  }

  isDone(): boolean {
    return this.#rows.isFull
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (name === 'row') this.#cells = []
    else if (name === 'c') {
      this.#column = columnOf(attributes['r'] ?? '') ?? this.#cells.length
      if (this.#column >= columnsMax) throw documentTooLarge(`A row has more than ${columnsMax} cells.`)
      this.#type = attributes['t'] ?? 'n'
      this.#isDate = this.#dateStyles[Number(attributes['s'] ?? -1)] === true
      this.#value = ''
    } else if (name === 'v' || name === 't') this.#isValue = true
    else if (name === 'rPh') this.#isPhonetic = true
  }

  close(name: string): void {
    if (name === 'v' || name === 't') this.#isValue = false
    else if (name === 'rPh') this.#isPhonetic = false
    else if (name === 'c') this.#endCell()
    else if (name === 'row' && this.#cells.length > 0) {
      this.#rows.add(this.#cells)
      this.#cells = []
    }
  }

  text(text: string): void {
    if (!this.#isValue || this.#isPhonetic) return
    this.#value += text
    if (this.#value.length > cellCharsMax) {
      throw documentTooLarge(`A cell has more than ${cellCharsMax} characters.`)
    }
  }

  #endCell(): void {
    const cell = this.#cell()
    if (cell === null) return
    while (this.#cells.length < this.#column) this.#cells.push(null)
    this.#cells[this.#column] = cell
  }

  #cell(): Cell {
    const value = this.#value
    switch (this.#type) {
      case 's':
        return this.#texts[Number(value)] ?? null
      case 'inlineStr':
      case 'str':
        return unescaped(value)
      case 'b':
        return value === '' ? null : value === '1' || value === 'true'
      case 'e':
      case 'd':
        return value
      default: {
        if (value === '') return null
        const number = Number(value)
        if (!Number.isFinite(number)) return value
        return (this.#isDate ? dateText(number, this.#is1904) : undefined) ?? number
      }
    }
  }
}
