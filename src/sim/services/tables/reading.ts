import { textOf } from '../../sim-document.ts'
import { flag, isGiven, json, list, number, text, then } from '../read.ts'
import type { ServiceRules } from '../rule.ts'

export const firecrawl: ServiceRules = {
  types: ['firecrawl'],
  service: 'Firecrawl',
  connector: 'firecrawl',
  credential: { kind: 'bearer', secrets: ['apiKey'] },
  usual: 'scrape',
  operations: {
    scrape: {
      operation: 'scrape',
      params: {
        url: text('url'),
        formats: list('formats'),
        onlyMainContent: flag('onlyMainContent'),
        waitFor: number('waitFor'),
      },
      outputs: { markdown: 'data.markdown', html: 'data.html', metadata: 'data.metadata' },
    },
    search: {
      operation: 'search',
      params: { query: text('query'), limit: number('limit') },
      outputs: { data: 'data.web' },
    },
    map: {
      operation: 'map',
      params: { url: text('url'), limit: number('limit') },
      outputs: { links: 'data' },
    },
    crawl: {
      operation: 'crawl',
      params: { url: text('url'), limit: number('limit') },
      outputs: { jobId: 'data.id' },
      notes: ['It starts the crawl and does not wait for its end. Read the pages later with the operation "getCrawl".'],
    },
    extract: {
      method: 'POST',
      url: 'https://api.firecrawl.dev/v2/extract',
      body: { urls: list('urls'), prompt: text('prompt'), schema: json('schema') },
      asks: ['urls', 'prompt'],
      outputs: { jobId: 'data.id' },
      notes: ['It starts the extraction and does not wait for its end.'],
    },
  },
}

const pages = then(list('pages'), (value) =>
  Array.isArray(value) ? value.map((page: unknown) => (isNumber(page) ? Number(page) : page)) : value,
)

/** A reference to a file, or to a list of files, becomes one to the URL of the file. */
const fileUrl = then(text('fileReference', 'document', 'file'), (value) => {
  const [, reference] = /^\s*<([^<>]+)>\s*$/.exec(textOf(value)) ?? []
  if (reference === undefined) return value
  if (reference.endsWith('.url')) return value
  return reference.endsWith(']') ? `<${reference}.url>` : `<${reference}[0].url>`
})

export const mistralParse: ServiceRules = {
  types: ['mistral_parse', 'mistral_parse_v2', 'mistral_parse_v3'],
  service: 'Mistral OCR',
  connector: 'mistral-ocr',
  credential: { kind: 'bearer', secrets: ['apiKey'] },
  usual: 'read',
  operations: {
    read: {
      operation: 'readDocument',
      params: { url: (values) => text('filePath', 'documentUrl')(values) ?? fileUrl(values), pages },
      outputs: { pages: 'data' },
      notes: [
        'It returns the pages. The text of the first page is in "data[0].markdown".',
        'Mistral reads a file of a run from its URL, so that this service must be reachable from the internet.',
      ],
      needs: (values) =>
        isGiven(values.peek('fileUpload')) &&
        !isGiven(values.peek('filePath')) &&
        !isGiven(values.peek('fileReference'))
          ? 'two operations of Mistral OCR: "uploadFile", which sends the file, and "readUploaded", which reads it'
          : undefined,
    },
  },
  drop: ['resultType'],
}

/** A reference stays text. */
function isNumber(page: unknown): boolean {
  return typeof page === 'string' && page.trim() !== '' && Number.isFinite(Number(page))
}
