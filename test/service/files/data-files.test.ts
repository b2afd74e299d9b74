import { expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'
import { deploy, init, serve } from '../../support/running-service.ts'

const fixtures = join(import.meta.dir, '../../support/fixtures/spreadsheets')

function fileItem(name: string, content: Uint8Array) {
  return { type: 'file', name, data: `data:application/octet-stream;base64,${Buffer.from(content).toString('base64')}` }
}

test('the executable reads files of a run, and stores those that data blocks write', async () => {
  using folder = temporaryFolder()
  const { apiKey } = await init(folder.path)
  const service = await serve(folder.path)
  const read = (id: string, operation: string, index: number, options: Record<string, unknown> = {}) =>
    block(id, 'data', { operation, input: `<start.files[${index}]>`, options })
  const blocks = [
    block('start', 'api_trigger', { inputFormat: [{ name: 'files', type: 'files' }] }),
    read('csv', 'csv_parse', 0, { types: 'auto', output: 'file' }),
    block('sheet', 'data', { operation: 'xlsx_write', input: '<csv.file>' }),
    block('zip', 'data', { operation: 'zip_create', input: ['<sheet.file>', { name: 'a.txt', text: 'x' }] }),
    block('files', 'data', { operation: 'zip_extract', input: '<zip.file>' }),
    block('rows', 'data', { operation: 'xlsx_read', input: '<files.data[0]>' }),
    read('types', 'xlsx_read', 1, { sheet: '2' }),
    read('pdf', 'pdf_text', 2, { pages: '1' }),
    block('markdown', 'data', { operation: 'html_to_markdown', input: '<h1>A &amp; <b>B</b></h1>' }),
    block('answer', 'response', {
      data: {
        rows: '<rows.data>',
        types: '<types.data>',
        pdf: '<pdf.data.pages>',
        markdown: '<markdown.data>',
        url: '<zip.file.url>',
      },
    }),
  ]
  const ids = blocks.map(({ id }) => id)
  const edges = ids.slice(1).map((id, at) => `${ids[at]} > ${id}`)
  const address = await deploy(service.url, apiKey, document({ name: 'Files', blocks, edges }))
  const files = [
    fileItem('a.csv', Buffer.from('a;b\n1;x\n2;"y; z"\n')),
    fileItem('types.xlsx', readFileSync(join(fixtures, 'types.xlsx'))),
    fileItem('types.pdf', readFileSync(join(fixtures, 'types.pdf'))),
  ]
  const response = await fetch(address, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ files }),
  })
  const data = (await response.json()) as { pdf: string[]; url: string }
  expect(data).toMatchObject({
    rows: [
      { a: 1, b: 'x' },
      { a: 2, b: 'y; z' },
    ],
    types: [{ a: 1, b: 2 }],
    markdown: '# A & **B**\n',
  })
  expect(data.pdf[0]).toContain('plain bold end')
  const { pathname, search } = new URL(data.url)
  const archive = new Uint8Array(await (await fetch(service.url + pathname + search)).arrayBuffer())
  expect(Buffer.from(archive.subarray(0, 2)).toString()).toBe('PK')
  await service.kill('SIGTERM')
}, 60_000)
