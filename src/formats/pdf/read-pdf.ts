import { messageOf } from '../../domain/errors.ts'
import { documentTooLarge, FormatError, invalidDocument, invalidOption } from '../format-error.ts'
import { type Job, type Operation, tooManyBytes } from '../job.ts'
import { pdfBytesMax, resultBytesMax } from '../limits.ts'
import { filledOption } from '../options.ts'
import { wholeBytes } from '../source.ts'
import { loadPdfEngine, type PdfEngine } from './pdf-engine.ts'

type Pdf = Awaited<ReturnType<PdfEngine['getDocument']>['promise']>
type Page = Awaited<ReturnType<Pdf['getPage']>>

/**
 * Reads the text of a PDF file, a page at a time. The service watches the memory of this operation, because streams of
 * a PDF can expand without limit.
 */
export const readPdf: Operation = async (job) => {
  const bytes = wholeBytes(job.input, pdfBytesMax)
  if (!startsAsPdf(bytes)) throw invalidDocument('This is not a PDF file.')
  const pdf = await opened(bytes)
  try {
    const { from, to } = rangeOf(job, pdf.numPages)
    if (to - from >= pagesMax) throw documentTooLarge(`More than ${pagesMax} pages would be read. Select fewer.`)
    const pages: string[] = []
    let left = resultBytesMax
    for (let number = from; number <= to; number++) {
      const text = await textOfPage(pdf, number, left)
      left -= text.length
      pages.push(text)
    }
    return job.data({ pages, pageCount: pdf.numPages, info: await infoOf(pdf) })
  } finally {
    await pdf.loadingTask.destroy()
  }
}

async function opened(bytes: Uint8Array): Promise<Pdf> {
  const { getDocument } = await loadPdfEngine()
  try {
    const settings = { isEvalSupported: false, disableFontFace: true, useSystemFonts: false, useWasm: false }
    return await getDocument({ data: bytes, ...settings, verbosity: 0, maxImageSize: 1, stopAtErrors: false }).promise
  } catch (error) {
    if (error instanceof Error && error.name === 'PasswordException') {
      throw invalidDocument('The PDF file is encrypted with a password.')
    }
    throw invalidDocument(`The PDF file is broken: ${messageOf(error)}`)
  }
}

async function textOfPage(pdf: Pdf, number: number, charsMax: number): Promise<string> {
  let page: Page
  try {
    page = await pdf.getPage(number)
  } catch (error) {
    throw invalidDocument(`Page ${number} of the PDF file is broken: ${messageOf(error)}`)
  }
  const reader = (page.streamTextContent() as ReadableStream<TextChunk>).getReader()
  const parts: string[] = []
  let chars = 0
  try {
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      for (const { str, hasEOL } of next.value.items) {
        if (str === undefined) continue
        parts.push(hasEOL ? `${str}\n` : str)
        chars += str.length + 1
        if (chars > charsMax || parts.length > itemsMax) throw tooManyBytes(' Select fewer pages.')
      }
    }
  } catch (error) {
    await reader.cancel(error).catch(() => undefined)
    if (error instanceof FormatError) throw error
    throw invalidDocument(`Page ${number} of the PDF file is broken: ${messageOf(error)}`)
  } finally {
    page.cleanup()
  }
  return parts.join('')
}

type TextChunk = { items: readonly { str?: string; hasEOL?: boolean }[] }

/** The title, the author and so on; only texts. */
async function infoOf(pdf: Pdf): Promise<Record<string, string>> {
  try {
    const { info } = await pdf.getMetadata()
    const texts = Object.entries(info).filter((entry): entry is [string, string] => typeof entry[1] === 'string')
    return Object.fromEntries(texts.slice(0, infoMax).map(([name, text]) => [name, text.slice(0, infoCharsMax)]))
  } catch {
    return {}
  }
}

function rangeOf({ options }: Pick<Job, 'options'>, count: number): { from: number; to: number } {
  const given = filledOption(options, 'pages', '').trim()
  if (given === '') return { from: 1, to: count }
  const [, first, last] = /^(\d{1,9})(?:\s*-\s*(\d{1,9})?)?$/.exec(given) ?? []
  if (first === undefined) throw invalidOption('pages', 'must be a number or a range, such as 1-3.')
  const from = Number(first)
  const to = Math.min(count, last === undefined ? (given.includes('-') ? count : from) : Number(last))
  if (from < 1 || from > count || to < from) throw invalidOption('pages', `selects no page of ${count}.`)
  return { from, to }
}

/** Some programs write other bytes in front of the mark. */
function startsAsPdf(bytes: Uint8Array): boolean {
  return Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(1_024, bytes.length)).includes('%PDF-')
}

const pagesMax = 2_000
const itemsMax = 2_000_000
const infoMax = 100
const infoCharsMax = 1_000
