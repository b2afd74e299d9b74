import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { Formats } from '../src/formats/formats.ts'
import { writtenRows } from '../test/support/fixtures/spreadsheets/written-rows.ts'

/**
 * Makes the spreadsheet and the PDF of the tests with LibreOffice: `bun scripts/spreadsheets.ts`. It needs the package
 * libreoffice-calc-nogui, which is so large that the tests do not start it. LibreOffice also reads a spreadsheet that
 * this code writes; its hash is saved with the CSV that LibreOffice makes of it.
 */
const fixtures = resolve(import.meta.dir, '../test/support/fixtures/spreadsheets')

async function make(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-spreadsheets-'))
  try {
    const source = join(folder, 'types.fods')
    writeFileSync(source, document)
    for (const [format, name] of [
      ['xlsx:Calc MS Excel 2007 XML', 'types.xlsx'],
      ['pdf', 'types.pdf'],
    ] as const) {
      convert(source, format, folder)
      copyFileSync(join(folder, name), join(fixtures, name))
    }
    await writeOwn(folder)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function writeOwn(folder: string): Promise<void> {
  const drafts = join(folder, 'drafts')
  mkdirSync(drafts)
  const formats = new Formats({ workersMax: 1 })
  const outcome = await formats.run({
    operation: 'xlsx_write',
    input: { kind: 'value', json: JSON.stringify(writtenRows) },
    options: {},
    output: { folder: drafts, bytesMax: 1_000_000 },
    timeoutMs: 10_000,
    signal: new AbortController().signal,
  })
  await formats.stop()
  const path = outcome.ok ? outcome.files[0]?.path : undefined
  if (path === undefined) throw new Error(`The spreadsheet was not written: ${JSON.stringify(outcome)}`)
  const own = join(folder, 'own.xlsx')
  copyFileSync(path, own)
  // Comma, quotes around texts only, UTF-8.
  convert(own, 'csv:Text - txt - csv (StarCalc):44,34,76,1,,0,true,false', folder)
  const sha256 = createHash('sha256').update(readFileSync(own)).digest('hex')
  const csv = readFileSync(join(folder, 'own.csv'), 'utf8')
  writeFileSync(join(fixtures, 'own.json'), `${JSON.stringify({ sha256, csv }, null, 2)}\n`)
}

function convert(source: string, format: string, folder: string): void {
  const profile = `-env:UserInstallation=file://${folder}/profile`
  const command = ['soffice', profile, '--headless', '--convert-to', format, '--outdir', folder, source]
  const { exitCode, stderr } = Bun.spawnSync(command)
  if (exitCode !== 0) throw new Error(`LibreOffice failed: ${stderr}`)
}

const text = (value: string) =>
  `<table:table-cell office:value-type="string">${value
    .split('\n')
    .map((line) => `<text:p>${line}</text:p>`)
    .join('')}</table:table-cell>`
const number = (value: number, style = '') =>
  `<table:table-cell${style && ` table:style-name="${style}"`} office:value-type="float" office:value="${value}"/>`
const row = (...cells: string[]) => `<table:table-row>${cells.join('')}</table:table-row>`

/** A flat OpenDocument spreadsheet with every kind of cell. */
const document = `<?xml version="1.0" encoding="UTF-8"?>
<office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0"
  xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0"
  xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" xmlns:number="urn:oasis:names:tc:opendocument:xmlns:datastyle:1.0"
  xmlns:fo="urn:oasis:names:tc:opendocument:xmlns:xsl-fo-compatible:1.0"
  xmlns:of="urn:oasis:names:tc:opendocument:xmlns:of:1.2" office:version="1.3"
  office:mimetype="application/vnd.oasis.opendocument.spreadsheet">
<office:automatic-styles>
<number:date-style style:name="D1"><number:year number:style="long"/><number:text>-</number:text><number:month number:style="long"/><number:text>-</number:text><number:day number:style="long"/></number:date-style>
<number:date-style style:name="D2"><number:day/><number:text>. </number:text><number:month number:textual="true"/><number:text> </number:text><number:year number:style="long"/><number:text> </number:text><number:hours/><number:text>:</number:text><number:minutes number:style="long"/></number:date-style>
<number:time-style style:name="T1"><number:hours number:style="long"/><number:text>:</number:text><number:minutes number:style="long"/><number:text>:</number:text><number:seconds number:style="long"/></number:time-style>
<number:time-style style:name="T2" number:truncate-on-overflow="false"><number:hours/><number:text>:</number:text><number:minutes number:style="long"/></number:time-style>
<number:percentage-style style:name="P1"><number:number number:decimal-places="1"/><number:text>%</number:text></number:percentage-style>
<number:boolean-style style:name="B1"><number:boolean/></number:boolean-style>
<style:style style:name="boolean" style:family="table-cell" style:data-style-name="B1"/>
<style:style style:name="date" style:family="table-cell" style:data-style-name="D1"/>
<style:style style:name="datetime" style:family="table-cell" style:data-style-name="D2"/>
<style:style style:name="time" style:family="table-cell" style:data-style-name="T1"/>
<style:style style:name="duration" style:family="table-cell" style:data-style-name="T2"/>
<style:style style:name="percent" style:family="table-cell" style:data-style-name="P1"/>
<style:style style:name="bold" style:family="text"><style:text-properties fo:font-weight="bold"/></style:style>
</office:automatic-styles>
<office:body><office:spreadsheet>
<table:table table:name="Types">
${row(text('kind'), text('value'), text('note'))}
${row(text('text'), text('Zoë 😀 &amp; &lt;b&gt;'))}
${row(text('lines'), text('one\ntwo'))}
${row(text('rich'), '<table:table-cell office:value-type="string"><text:p>plain <text:span text:style-name="bold">bold</text:span> end</text:p></table:table-cell>')}
${row(text('number'), number(-12.5))}
${row(text('large'), number(1234567890123))}
${row(text('percent'), number(0.125, 'percent'))}
${row(text('date'), '<table:table-cell table:style-name="date" office:value-type="date" office:date-value="2026-02-28"/>')}
${row(text('datetime'), '<table:table-cell table:style-name="datetime" office:value-type="date" office:date-value="2026-02-28T13:45:30"/>')}
${row(text('time'), '<table:table-cell table:style-name="time" office:value-type="time" office:time-value="PT13H45M30S"/>')}
${row(text('duration'), '<table:table-cell table:style-name="duration" office:value-type="time" office:time-value="PT36H00M00S"/>')}
${row(text('true'), '<table:table-cell table:style-name="boolean" office:value-type="boolean" office:boolean-value="true"/>')}
${row(text('formula'), '<table:table-cell table:formula="of:=[.B5]*2" office:value-type="float" office:value="-25"/>')}
${row(text('textual formula'), '<table:table-cell table:formula="of:=&quot;a&quot;&amp;&quot;b&quot;" office:value-type="string" office:string-value="ab"/>')}
${row(text('error'), '<table:table-cell table:formula="of:=1/0" office:value-type="string" office:string-value="" />')}
${row('<table:table-cell/>')}
<table:table-row table:number-rows-repeated="40"><table:table-cell/></table:table-row>
${row(text('after a gap'), '<table:table-cell/>', text('third'))}
</table:table>
<table:table table:name="Größe &amp; Gewicht">
${row(text('a'), text('b'))}
${row(number(1), number(2))}
</table:table>
</office:spreadsheet></office:body></office:document>`

await make()
