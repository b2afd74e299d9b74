import { FormatError } from '../format-error.ts'
import type { Job, Operation } from '../job.ts'
import { columnsMax } from '../limits.ts'
import { filledOption, flagOption, listOption } from '../options.ts'
import { type Rows, rowsOf, rowsOfList } from '../row-reader.ts'
import { ZipWriter } from '../zip/zip-writer.ts'
import { columnName, escaped } from './cell-format.ts'

/** Writes a spreadsheet, a row at a time. Texts are texts, also those that look like formulas. */
export const writeXlsx: Operation = (job) => {
  const sheets = sheetsOf(job)
  const hasHeader = flagOption(job.options, 'header', true)
  const zip = new ZipWriter(job.sink)
  const names = sheets.map(({ name }) => name)
  for (const [part, text] of Object.entries(fixedParts(names))) zip.add(part, [Buffer.from(text)])
  let count = 0
  for (const [index, { table }] of sheets.entries()) {
    zip.add(
      `xl/worksheets/sheet${index + 1}.xml`,
      pieces(
        sheetText(table, hasHeader, () => {
          count += 1
        }),
      ),
    )
  }
  zip.end()
  return job.file(filledOption(job.options, 'fileName', 'rows.xlsx'), mediaType, { rows: count })
}

type Sheet = { name: string; table: Rows }

/** An object has a list of rows for each sheet; anything else is the only sheet. */
function sheetsOf(job: Job): Sheet[] {
  const { input, options } = job
  const value: unknown = input.kind === 'value' ? JSON.parse(input.json) : undefined
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return [{ name: sheetName(filledOption(options, 'sheet', 'Sheet1')), table: rowsOf(job) }]
  }
  const entries = Object.entries(value as Record<string, unknown>)
  if (entries.length === 0 || entries.length > sheetsMax) {
    throw new FormatError('INVALID_PARAMETER', `The input must have 1 to ${sheetsMax} sheets.`)
  }
  const taken = new Set(entries.map(([name]) => name.toLowerCase()))
  if (taken.size < entries.length) throw new FormatError('INVALID_PARAMETER', 'Two sheets have the same name.')
  const columns = listOption(options, 'columns')
  return entries.map(([name, rows]) => ({ name: sheetName(name), table: rowsOfList(rows, columns) }))
}

function sheetName(name: string): string {
  if (name.length > 0 && name.length <= 31 && !/[[\]:*?/\\]|^'|'$/.test(name)) return name
  const message = `"${name.slice(0, 100)}" cannot be the name of a sheet: up to 31 characters, without [ ] : * ? / \\.`
  throw new FormatError('INVALID_PARAMETER', message)
}

function* sheetText({ columns, rows }: Rows, hasHeader: boolean, counted: () => void): Generator<string, void> {
  yield `${declaration}<worksheet xmlns="${main}"><sheetData>`
  let number = 0
  const references: string[] = []
  const row = (cells: readonly unknown[]) => {
    number += 1
    if (number > rowsMax) throw tooMuch(`A sheet has at most ${rowsMax} rows.`)
    if (cells.length > columnsMax) throw tooMuch(`Row ${number} has more than ${columnsMax} cells.`)
    while (references.length < cells.length) references.push(columnName(references.length))
    const written = cells.map((value, at) => cellText(value, `${references[at]}${number}`))
    return `<row r="${number}">${written.join('')}</row>`
  }
  if (columns && hasHeader) yield row(columns)
  for (const cells of rows) {
    yield row(cells)
    counted()
  }
  yield '</sheetData></worksheet>'
}

function cellText(value: unknown, reference: string): string {
  if (value === null || value === undefined) return ''
  if (typeof value === 'number') return `<c r="${reference}"><v>${value}</v></c>`
  if (typeof value === 'boolean') return `<c r="${reference}" t="b"><v>${value ? 1 : 0}</v></c>`
  const text = typeof value === 'string' ? value : JSON.stringify(value)
  if (text.length > textCharsMax) throw tooMuch(`Cell ${reference} has more than ${textCharsMax} characters.`)
  return `<c r="${reference}" t="inlineStr"><is><t xml:space="preserve">${escaped(text)}</t></is></c>`
}

function tooMuch(message: string): FormatError {
  return new FormatError('RESULT_TOO_LARGE', `${message} XLSX allows no more.`)
}

/** Joins texts to pieces of some size. */
function* pieces(texts: Iterable<string>): Generator<Uint8Array, void> {
  let parts: string[] = []
  let chars = 0
  for (const text of texts) {
    parts.push(text)
    chars += text.length
    if (chars < pieceChars) continue
    yield Buffer.from(parts.join(''))
    parts = []
    chars = 0
  }
  yield Buffer.from(parts.join(''))
}

function fixedParts(names: readonly string[]): Record<string, string> {
  const ids = names.map((_, index) => index + 1)
  const each = (write: (id: number) => string) => ids.map(write).join('')
  const sheets = each((id) => `<sheet name="${quoted(names[id - 1] ?? '')}" sheetId="${id}" r:id="rId${id}"/>`)
  return {
    '[Content_Types].xml': `${declaration}<Types xmlns="${packages}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="${types}.sheet.main+xml"/><Override PartName="/xl/styles.xml" ContentType="${types}.styles+xml"/>${each((id) => `<Override PartName="/xl/worksheets/sheet${id}.xml" ContentType="${types}.worksheet+xml"/>`)}</Types>`,
    '_rels/.rels': `${declaration}<Relationships xmlns="${packages}/relationships"><Relationship Id="rId1" Type="${documents}/officeDocument" Target="xl/workbook.xml"/></Relationships>`,
    'xl/workbook.xml': `${declaration}<workbook xmlns="${main}" xmlns:r="${documents}"><sheets>${sheets}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `${declaration}<Relationships xmlns="${packages}/relationships">${each((id) => `<Relationship Id="rId${id}" Type="${documents}/worksheet" Target="worksheets/sheet${id}.xml"/>`)}<Relationship Id="rId${ids.length + 1}" Type="${documents}/styles" Target="styles.xml"/></Relationships>`,
    'xl/styles.xml': `${declaration}<styleSheet xmlns="${main}"><fonts count="1"><font/></fonts><fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills><borders count="1"><border/></borders><cellStyleXfs count="1"><xf/></cellStyleXfs><cellXfs count="1"><xf xfId="0"/></cellXfs></styleSheet>`,
  }
}

function quoted(text: string): string {
  return escaped(text).replaceAll('"', '&quot;')
}

const mediaType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const documents = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const packages = 'http://schemas.openxmlformats.org/package/2006'
const types = 'application/vnd.openxmlformats-officedocument.spreadsheetml'
const sheetsMax = 255
const rowsMax = 1_048_576
const textCharsMax = 32_767
const pieceChars = 65_536
