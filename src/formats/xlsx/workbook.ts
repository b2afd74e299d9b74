import { documentTooLarge, invalidDocument, invalidOption } from '../format-error.ts'
import type { ZipArchive, ZipEntry } from '../zip/directory.ts'
import { isDateFormat, unescaped } from './cell-format.ts'
import { readPart } from './xml-reader.ts'

/** The parts of a spreadsheet around its sheets. */
export class Workbook {
  readonly archive: ZipArchive
  readonly #parts: ReadonlyMap<string, ZipEntry>
  readonly #sheets: { name: string; part: string }[] = []
  is1904 = false

  constructor(archive: ZipArchive) {
    this.archive = archive
    this.#parts = new Map(archive.entries.map((entry) => [entry.name.replace(/^\//, ''), entry]))
    const workbook = this.#parts.get('xl/workbook.xml')
    if (!workbook) throw invalidDocument('This is not an XLSX spreadsheet. Save it as XLSX first.')
    const targets = this.#targets()
    readPart(archive, workbook, {
      open: (name, attributes) => {
        if (name === 'workbookPr') this.is1904 = /^(1|true)$/.test(attributes['date1904'] ?? '')
        if (name !== 'sheet') return
        const id = Object.entries(attributes).find(([key]) => key === 'id' || key.endsWith(':id'))?.[1] ?? ''
        const part = targets.get(id)
        if (part !== undefined) this.#sheets.push({ name: attributes['name'] ?? '', part })
        if (this.#sheets.length > sheetsMax) throw documentTooLarge(`There are more than ${sheetsMax} sheets.`)
      },
    })
  }

  /** The part of a sheet, by its name or its number from 1. The first sheet if nothing is given. */
  sheet(wanted: string): ZipEntry {
    const sheets = this.#sheets
    const byNumber = /^\d+$/.test(wanted) ? sheets[Number(wanted) - 1] : undefined
    const sheet = wanted === '' ? sheets[0] : (sheets.find(({ name }) => name === wanted) ?? byNumber)
    const entry = sheet && this.#parts.get(sheet.part)
    if (entry) return entry
    const names = sheets.slice(0, shownMax).map(({ name }) => `"${name.slice(0, 100)}"`)
    if (sheet || wanted === '') throw invalidDocument('The spreadsheet is broken: it has no such sheet.')
    throw invalidOption('sheet', `names none of the sheets. They are ${names.join(', ')}.`)
  }

  /** The texts that cells refer to by number. */
  sharedTexts(): string[] {
    const texts: string[] = []
    let text = ''
    let chars = 0
    let isText = false
    let isPhonetic = false
    const add = (piece: string) => {
      if (!isText || isPhonetic) return
      text += piece
      chars += piece.length
      if (chars > sharedCharsMax) throw documentTooLarge(`The texts have more than ${sharedCharsMax} characters.`)
    }
    this.#read('xl/sharedStrings.xml', {
      open(name) {
        if (name === 'si') text = ''
        else if (name === 't') isText = true
        else if (name === 'rPh') isPhonetic = true
      },
      close(name) {
        if (name === 't') isText = false
        else if (name === 'rPh') isPhonetic = false
        else if (name === 'si') {
          texts.push(unescaped(text))
          if (texts.length > sharedTextsMax) throw documentTooLarge(`There are more than ${sharedTextsMax} texts.`)
        }
      },
      text: add,
    })
    return texts
  }

  /** For each style of a cell, whether it shows dates. */
  dateStyles(): boolean[] {
    const codes = new Map<number, string>()
    const styles: boolean[] = []
    let isOfCells = false
    this.#read('xl/styles.xml', {
      open(name, attributes) {
        const id = Number(attributes['numFmtId'] ?? 0)
        if (name === 'numFmt' && codes.size < stylesMax) codes.set(id, (attributes['formatCode'] ?? '').slice(0, 255))
        else if (name === 'cellXfs') isOfCells = true
        else if (name === 'xf' && isOfCells && styles.length < stylesMax) styles.push(isDateFormat(id, codes.get(id)))
      },
      close(name) {
        if (name === 'cellXfs') isOfCells = false
      },
    })
    return styles
  }

  #targets(): Map<string, string> {
    const targets = new Map<string, string>()
    this.#read('xl/_rels/workbook.xml.rels', {
      open(name, { Id: id = '', Target: target = '' }) {
        if (name !== 'Relationship' || targets.size >= stylesMax) return
        targets.set(id, target.startsWith('/') ? target.slice(1) : `xl/${target}`)
      },
    })
    return targets
  }

  /** Every such part may be missing. */
  #read(name: string, handler: Parameters<typeof readPart>[2]): void {
    const entry = this.#parts.get(name)
    if (entry) readPart(this.archive, entry, handler)
  }
}

const sheetsMax = 1_000
const shownMax = 20
const sharedCharsMax = 33_554_432
const sharedTextsMax = 2_000_000
const stylesMax = 65_536
