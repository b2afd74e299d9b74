// Long because it is a table of hostile files.
import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { deflateRawSync, deflateSync } from 'node:zlib'
import type { FormatOperation } from '../../../src/domain/format/format-work.ts'
import { archiveOf, pdfOf, spreadsheetOf, streamOf } from '../../support/formats/hostile-archives.ts'

type Case = [
  title: string,
  operation: FormatOperation,
  make: () => Buffer | string,
  code: string | RegExp,
  options?: Record<string, unknown>,
]

const MB = 1_048_576
const zeros = (bytes: number) => Buffer.alloc(bytes)
const alike = (text: string, count: number) => text.repeat(count)

/** A gigabyte of zeros as one compressed entry, without ever holding it. */
function gigabyteOfZeros() {
  // Deflate of zeros repeats itself, so a stored piece is enough: blocks can be joined.
  const piece = deflateRawSync(zeros(16 * MB), { finishFlush: 2 })
  const bytes = Buffer.concat([...Array.from({ length: 64 }, () => piece), Buffer.from([3, 0])])
  return { bytes, size: 1_073_741_824, crc: 0 }
}

function billionLaughs(levels: number): string {
  let entities = '<!ENTITY a0 "lol">'
  for (let level = 1; level < levels; level++) {
    entities += `<!ENTITY a${level} "${alike(`&a${level - 1};`, 10)}">`
  }
  return `<!DOCTYPE l [${entities}]><l>&a${levels - 1};</l>`
}

function aliases(levels: number): string {
  let text = 'a0: &a0 [lol, lol]\n'
  for (let level = 1; level < levels; level++) text += `a${level}: &a${level} [${alike(`*a${level - 1},`, 9)}0]\n`
  return text
}

/** A megabyte that is not compressed suspiciously well. */
function sharedText(): string {
  const random = Buffer.from(crypto.getRandomValues(new Uint8Array(48_000))).toString('hex')
  return `<si><t>${random}${alike('0123456789abcdef', 57_000)}</t></si>`
}

const catalog = ['<< /Type /Catalog /Pages 2 0 R >>', '<< /Type /Pages /Kids [3 0 R] /Count 1 >>']
const page = '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] /Contents 4 0 R /Resources << /Font << /F 5 0 R >> >> >>'
const font = '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>'
const sheet = (rows: string) => ({
  'xl/worksheets/sheet1.xml': `<worksheet><sheetData>${rows}</sheetData></worksheet>`,
})
const anything = /^/
const tooLarge = /TOO_LARGE/

const cases: Case[] = [
  ['a CSV file of 100 MB with an open quote', 'csv_parse', () => `a,b\n"${alike('x,y\n', 26_000_000)}`, tooLarge],
  ['a CSV file of 100 MB with one row', 'csv_parse', () => alike('abcdefgh,', 12_000_000), tooLarge],
  ['a CSV file of 100 MB with one cell', 'csv_parse', () => alike('x', 100 * MB), tooLarge],
  ['a CSV file of quotes', 'csv_parse', () => alike('"', 20 * MB), anything],
  ['a CSV file of line breaks', 'csv_parse', () => alike('\r\n', 20 * MB), 'OK'],
  ['a CSV file of delimiters', 'csv_parse', () => alike(',', 5 * MB), tooLarge],
  ['a CSV file whose columns have the same name', 'csv_parse', () => `${alike('a,', 16_000)}\n1`, 'OK'],
  [
    'a CSV file with a row of many cells, and short ones',
    'csv_parse',
    () => `${alike('a,', 16_000)}\n${alike('1\n', 1e5)}`,
    tooLarge,
  ],
  [
    'a CSV file in UTF-16 that is cut off',
    'csv_parse',
    () => Buffer.concat([Buffer.from([0xff, 0xfe]), zeros(10 * MB + 1)]),
    tooLarge,
  ],
  ['a CSV file with more rows than a result holds', 'csv_parse', () => `a\n${alike('1\n', 5e6)}`, 'RESULT_TOO_LARGE'],
  ['JSON Lines with one line of 100 MB', 'jsonl_parse', () => `"${alike('x', 100 * MB)}"`, tooLarge],
  ['JSON Lines with a deep value', 'jsonl_parse', () => `${alike('[', 400_000)}${alike(']', 400_000)}`, tooLarge],
  ['JSON Lines with many values in a line', 'jsonl_parse', () => `[${alike('1,', 500_000)}1]`, tooLarge],
  ['JSON Lines of empty lines', 'jsonl_parse', () => alike('\n', 20 * MB), 'OK'],
  ['XML with a billion laughs', 'xml_parse', () => billionLaughs(12), 'INVALID_DOCUMENT'],
  [
    'XML with a large entity many times',
    'xml_parse',
    () => `<!DOCTYPE a [<!ENTITY x "${alike('y', 1e5)}">]><a>${alike('&x;', 1e5)}</a>`,
    'INVALID_DOCUMENT',
  ],
  [
    'XML with entities that contain each other',
    'xml_parse',
    () => '<!DOCTYPE a [<!ENTITY x "&y;"><!ENTITY y "&x;">]><a>&x;</a>',
    anything,
  ],
  [
    'XML with an external entity',
    'xml_parse',
    () => '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///dev/zero">]><a>&x;</a>',
    anything,
  ],
  ['XML of a million levels', 'xml_parse', () => alike('<a>', 1e6), tooLarge],
  [
    'XML of 300,000 names',
    'xml_parse',
    () => `<a>${Array.from({ length: 3e5 }, (_, at) => `<b${at}/>`).join('')}</a>`,
    tooLarge,
  ],
  ['XML of a million elements', 'xml_parse', () => `<a>${alike('<b/>', 1e6)}</a>`, tooLarge],
  [
    'XML with 100,000 attributes',
    'xml_parse',
    () => `<a ${Array.from({ length: 1e5 }, (_, at) => `b${at}=""`).join(' ')}/>`,
    anything,
  ],
  ['XML of 20 MB', 'xml_parse', () => `<a>${alike(' ', 20 * MB)}</a>`, 'DOCUMENT_TOO_LARGE'],
  ['XML with open comments', 'xml_parse', () => `<a>${alike('<!--', 2e6)}`, 'INVALID_DOCUMENT'],
  ['YAML with aliases of aliases', 'yaml_parse', () => aliases(12), /INVALID|TOO_LARGE|MEMORY/],
  ['YAML with few aliases of large lists', 'yaml_parse', () => aliases(6), tooLarge],
  ['YAML that contains itself', 'yaml_parse', () => 'a: &a\n  b: *a\n', tooLarge],
  ['YAML of a million levels', 'yaml_parse', () => alike('[', 1e6), tooLarge],
  ['YAML of a million dashes', 'yaml_parse', () => alike('- ', 1e6), tooLarge],
  [
    'YAML of 3,000 levels of indentation',
    'yaml_parse',
    () => Array.from({ length: 3_000 }, (_, at) => `${alike(' ', at)}a:\n`).join(''),
    anything,
  ],
  [
    'YAML with merges of merges',
    'yaml_parse',
    () =>
      `m0: &m0 {a: 1}\n${Array.from({ length: 3_000 }, (_, at) => `m${at + 1}: &m${at + 1}\n  <<: *m${at}\n  k${at}: 1\n`).join('')}`,
    anything,
  ],
  [
    'YAML with a million keys',
    'yaml_parse',
    () => Array.from({ length: 8e5 }, (_, at) => `k${at}: 1\n`).join(''),
    tooLarge,
  ],
  ['HTML of a million levels', 'html_to_markdown', () => alike('<div>', 1e6), 'DOCUMENT_TOO_LARGE'],
  ['HTML of two million elements', 'html_to_markdown', () => alike('<br>', 2e6), 'DOCUMENT_TOO_LARGE'],
  ['HTML with an open tag of 9 MB', 'html_to_markdown', () => `<a ${alike('b ', 4.5e6)}`, anything],
  ['HTML with an attribute of 9 MB', 'html_to_markdown', () => `<a href="${alike('x', 9e6)}">y</a>`, anything],
  ['HTML of open comments', 'html_to_markdown', () => alike('<!--', 2e6), anything],
  ['HTML of entities', 'html_to_markdown', () => alike('&amp', 2e6), anything],
  ['HTML of marks', 'html_to_markdown', () => alike('*_`[', 2e6), anything],
  ['HTML lists in lists', 'html_to_markdown', () => alike('<ul><li>', 240), 'OK'],
  [
    'HTML quotes in quotes',
    'html_to_markdown',
    () => `${alike('<blockquote>', 490)}${alike('<p>x', 20_000)}`,
    anything,
  ],
  [
    'HTML with a table of many cells',
    'html_to_markdown',
    () => `<table><tr>${alike('<td>', 1_000)}${alike('<tr><td>', 100_000)}`,
    anything,
  ],
  [
    'HTML for a selector with sibling steps',
    'html_select',
    () => alike('<p>', 200_000),
    anything,
    { fields: { a: { selector: 'p ~ p ~ p ~ a', all: true } } },
  ],
  [
    'HTML for a selector that looks into all elements',
    'html_select',
    () => alike('<p><b></b></p>', 100_000),
    anything,
    { fields: { a: { selector: ':has(:has(i))', all: true } } },
  ],
  ['Markdown of brackets', 'markdown_to_html', () => alike('[', 5e6), anything],
  ['Markdown of nested quotes', 'markdown_to_html', () => alike('> ', 2e6), anything],
  ['Markdown of stars', 'markdown_to_html', () => alike('*a ', 2e6), anything],
  [
    'Markdown of ticks of all lengths',
    'markdown_to_html',
    () => Array.from({ length: 2_000 }, (_, at) => `${alike('`', at)}a`).join(''),
    anything,
  ],
  [
    'an archive with a gigabyte of zeros',
    'zip_extract',
    () => archiveOf([{ name: 'a', raw: gigabyteOfZeros() }]),
    'RESULT_TOO_LARGE',
  ],
  [
    'an archive whose directory says little of a gigabyte',
    'zip_extract',
    () => archiveOf([{ name: 'a', raw: gigabyteOfZeros(), size: 10 }]),
    'INVALID_DOCUMENT',
  ],
  [
    'an archive with a million files',
    'zip_list',
    () =>
      archiveOf(
        Array.from({ length: 65_534 }, () => ({ name: 'a', raw: { bytes: Buffer.alloc(0), size: 0, crc: 0 } })),
      ),
    tooLarge,
  ],
  [
    'an archive with files that overlap',
    'zip_extract',
    () =>
      archiveOf([
        { name: 'a', content: zeros(1e6) },
        ...Array.from({ length: 1_000 }, () => ({ name: 'b', content: zeros(1e6), at: 0 })),
      ]),
    'INVALID_DOCUMENT',
  ],
  [
    'an archive with a directory that points to itself',
    'zip_list',
    () => archiveOf([{ name: 'a' }], { start: 0 }),
    'INVALID_DOCUMENT',
  ],
  [
    'an archive that says it has more files',
    'zip_list',
    () => archiveOf([{ name: 'a' }], { count: 60_000 }),
    'INVALID_DOCUMENT',
  ],
  [
    'an archive with paths upwards',
    'zip_extract',
    () => archiveOf([{ name: '../../../tmp/millrace-hostile', content: Buffer.from('x') }]),
    'OK',
  ],
  [
    'an archive with an unknown method',
    'zip_extract',
    () => archiveOf([{ name: 'a', content: Buffer.from('x'), method: 99 }]),
    'INVALID_DOCUMENT',
  ],
  [
    'an archive of archives',
    'zip_extract',
    () => archiveOf([{ name: 'a.zip', content: archiveOf([{ name: 'b', raw: gigabyteOfZeros() }]) }]),
    'OK',
  ],
  [
    'a spreadsheet with a gigabyte of blanks',
    'xlsx_read',
    () => spreadsheetOf(sheet(alike(' ', 300 * MB))),
    'DOCUMENT_TOO_LARGE',
  ],
  [
    'a spreadsheet with shared texts of 64 MB',
    'xlsx_read',
    () =>
      spreadsheetOf({
        'xl/sharedStrings.xml': `<sst>${Array.from({ length: 64 }, sharedText).join('')}</sst>`,
      }),
    'DOCUMENT_TOO_LARGE',
  ],
  [
    'a spreadsheet with a billion laughs',
    'xlsx_read',
    () => spreadsheetOf({ 'xl/sharedStrings.xml': billionLaughs(12) }),
    'OK',
  ],
  [
    'a spreadsheet with its only cell in the last row and column',
    'xlsx_read',
    () => spreadsheetOf(sheet('<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>')),
    'OK',
    { header: false },
  ],
  [
    'a spreadsheet with cells in the last column of each row',
    'xlsx_read',
    () =>
      spreadsheetOf(sheet(Array.from({ length: 1e5 }, (_, at) => `<row><c r="XFD${at}"><v>1</v></c></row>`).join(''))),
    'RESULT_TOO_LARGE',
    { header: false },
  ],
  [
    'a spreadsheet with a column beyond the last',
    'xlsx_read',
    () => spreadsheetOf(sheet(`<row><c r="${alike('Z', 1e6)}1"><v>1</v></c></row>`)),
    'DOCUMENT_TOO_LARGE',
  ],
  ['a spreadsheet with a deep sheet', 'xlsx_read', () => spreadsheetOf(sheet(alike('<a>', 1e5))), 'DOCUMENT_TOO_LARGE'],
  [
    'a spreadsheet with a cell of 9 MB',
    'xlsx_read',
    () => spreadsheetOf(sheet(`<row><c t="str"><v>${alike('x', 9e6)}</v></c></row>`)),
    'DOCUMENT_TOO_LARGE',
  ],
  [
    'a spreadsheet with many styles',
    'xlsx_read',
    () => spreadsheetOf({ 'xl/styles.xml': `<a><cellXfs>${alike('<xf/>', 1e6)}</cellXfs></a>` }),
    'OK',
  ],
  [
    'a spreadsheet of other files',
    'xlsx_read',
    () => archiveOf([{ name: 'a', content: Buffer.from('x') }]),
    'INVALID_DOCUMENT',
  ],
  [
    'a PDF with a stream of 300 MB',
    'pdf_text',
    () => pdfOf([...catalog, page, streamOf('/Filter /FlateDecode', deflateSync(Buffer.alloc(300 * MB, ' '))), font]),
    /MEMORY|TIMEOUT|OK/,
  ],
  [
    'a PDF with a stream compressed twice',
    'pdf_text',
    () =>
      pdfOf([
        ...catalog,
        page,
        streamOf('/Filter [/FlateDecode /FlateDecode]', deflateSync(deflateSync(Buffer.alloc(600 * MB, ' ')))),
        font,
      ]),
    /MEMORY|TIMEOUT|OK/,
  ],
  [
    'a PDF whose pages contain themselves',
    'pdf_text',
    () => pdfOf([catalog[0] ?? '', '<< /Type /Pages /Kids [2 0 R] /Count 1 >>']),
    'INVALID_DOCUMENT',
  ],
  [
    'a PDF that says it has a billion pages',
    'pdf_text',
    () => pdfOf([catalog[0] ?? '', '<< /Type /Pages /Kids [3 0 R] /Count 1000000000 >>', page, streamOf('', ''), font]),
    anything,
  ],
  [
    'a PDF with 100,000 pages',
    'pdf_text',
    () =>
      pdfOf([
        catalog[0] ?? '',
        `<< /Type /Pages /Kids [${alike('3 0 R ', 1e5)}] /Count 100000 >>`,
        page,
        streamOf('', ''),
        font,
      ]),
    'DOCUMENT_TOO_LARGE',
  ],
  ['a PDF of broken objects', 'pdf_text', () => `%PDF-1.4\n${alike('1 0 obj << ', 1e4)}`, /INVALID|TIMEOUT/],
  [
    'a PDF of a million brackets',
    'pdf_text',
    () => pdfOf([`<< /Type /Catalog /Pages ${alike('[', 1e6)} >>`]),
    anything,
  ],
  ['a PDF that ends at once', 'pdf_text', () => '%PDF-1.7', 'INVALID_DOCUMENT'],
  ['a signature without a secret', 'hmac', () => alike('x', 10 * MB), 'INVALID_PARAMETER'],
]

const folder = mkdtempSync(join(tmpdir(), 'millrace-hostile-files-'))
afterAll(() => rmSync(folder, { recursive: true }))

describe('none of the hostile files takes more than 2 s or 300 MB', () => {
  test('and there are at least 50', () => expect(cases.length).toBeGreaterThanOrEqual(50))

  for (const [title, operation, make, code, options = {}] of cases) {
    // A PDF can keep its reader busy without end, so that only the time limit ends it.
    const timeoutMs = operation === 'pdf_text' ? 1_500 : 30_000
    test(title, async () => {
      const path = join(folder, 'file')
      writeFileSync(path, make())
      const command = [
        process.execPath,
        join(import.meta.dir, '../../support/formats/hostile-child.ts'),
        path,
        operation,
      ]
      const child = Bun.spawn([...command, JSON.stringify(options), String(timeoutMs)], { stderr: 'pipe' })
      const [out, errors] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
      const found = JSON.parse(out || JSON.stringify({ code: errors })) as {
        code: string
        cpuMs: number
        megabytes: number
      }
      expect(found.code).toMatch(code)
      // All threads count. The processor's time does not depend on what else the machine does.
      expect(found.cpuMs).toBeLessThan(2_000)
      expect(found.megabytes).toBeLessThan(300)
    }, 60_000)
  }
})
