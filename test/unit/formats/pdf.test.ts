import { afterAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { Formats } from '../../../src/formats/formats.ts'
import { Desk } from '../../support/formats/desk.ts'

const desk = new Desk()
afterAll(() => desk[Symbol.asyncDispose]())

/** A document of LibreOffice, which `scripts/spreadsheets.ts` made. */
const types = desk.fileAt(join(import.meta.dir, '../../support/fixtures/spreadsheets/types.pdf'))

test('the text of a PDF of LibreOffice is read, page by page', async () => {
  const { data } = await desk.do('pdf_text', types)
  const { pages, pageCount, info } = data as { pages: string[]; pageCount: number; info: Record<string, string> }
  expect(pageCount).toBe(pages.length)
  expect(pageCount).toBeGreaterThan(1)
  expect(pages[0]).toContain('Zoë')
  expect(pages[0]).toContain('plain bold end')
  expect(pages[0]).toContain('#DIV/0!')
  expect(info['Producer']).toContain('LibreOffice')
  const last = await desk.do('pdf_text', types, { pages: `${pageCount}` })
  expect(last.data).toMatchObject({ pages: [pages.at(-1)], pageCount })
  expect((await desk.do('pdf_text', types, { pages: '1-' })).data).toEqual(data)
})

test('pages that do not exist, and files that are no PDF, are refused', async () => {
  expect(await desk.fails('pdf_text', types, { pages: '99' })).toContain('selects no page of')
  expect(await desk.fails('pdf_text', types, { pages: 'all' })).toContain('must be a number or a range')
  expect(await desk.fails('pdf_text', desk.file('text'))).toBe('INVALID_DOCUMENT: This is not a PDF file.')
  expect(await desk.fails('pdf_text', desk.file('%PDF-1.7\nnothing'))).toContain('The PDF file is broken')
})

test('a PDF that takes too much memory ends with its worker', async () => {
  let bytes = 0
  await using own = new Desk(new Formats({ workersMax: 1, memoryBytes: () => (bytes += 100_000_000) }))
  expect(await own.fails('pdf_text', types)).toBe('MEMORY_EXCEEDED: The document needs too much memory.')
})
