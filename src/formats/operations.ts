import type { FormatOperation } from '../domain/format/format-work.ts'
import type { Operation } from './job.ts'

/** How each operation is loaded. A worker loads the code of a format when it is first needed. */
export const operations: Readonly<Record<FormatOperation, () => Promise<Operation>>> = {
  csv_parse: async () => (await import('./csv/parse-csv.ts')).parseCsv,
  csv_write: async () => (await import('./csv/write-csv.ts')).writeCsv,
  jsonl_parse: async () => (await import('./json/parse-json-lines.ts')).parseJsonLines,
  xlsx_read: async () => (await import('./xlsx/read-xlsx.ts')).readXlsx,
  xlsx_write: async () => (await import('./xlsx/write-xlsx.ts')).writeXlsx,
  html_select: async () => (await import('./html/select-html.ts')).selectHtml,
  html_to_markdown: async () => (await import('./html/html-to-markdown.ts')).htmlToMarkdown,
  markdown_to_html: async () => (await import('./markup/markdown.ts')).markdownToHtml,
  xml_parse: async () => (await import('./markup/xml.ts')).parseXml,
  xml_write: async () => (await import('./markup/xml.ts')).writeXml,
  yaml_parse: async () => (await import('./markup/yaml.ts')).parseYaml,
  yaml_write: async () => (await import('./markup/yaml.ts')).writeYaml,
  zip_list: async () => (await import('./zip/read-zip.ts')).listZip,
  zip_extract: async () => (await import('./zip/read-zip.ts')).extractZip,
  zip_create: async () => (await import('./zip/create-zip.ts')).createZip,
  pdf_text: async () => (await import('./pdf/read-pdf.ts')).readPdf,
  hash: async () => (await import('./hash.ts')).hash,
  hmac: async () => (await import('./hash.ts')).hmac,
}
