// Long because it lists the options of every operation.
import { type Static, Type as t } from '@sinclair/typebox'
import type { FormatOperation } from '../../domain/format/format-work.ts'
import { oneOf } from '../../domain/one-of.ts'
import { recordOf } from '../../domain/record-of.ts'

/** The form shows an option only for these operations, and a document may set it only for them. */
function of(...has: FormatOperation[]) {
  return { when: { parameter: 'operation', has } }
}

const rowReaders = ['csv_parse', 'jsonl_parse', 'xlsx_read'] as const
const tableWriters = ['csv_write', 'xlsx_write'] as const

const options = {
  delimiter: t.String({
    title: 'Delimiter',
    description:
      'The character between cells, or comma, semicolon, tab or pipe. Reading detects it if the field is empty.',
    ...of('csv_parse', 'csv_write'),
  }),
  quote: t.String({ title: 'Quote', description: 'The character around cells; " if empty.', ...of('csv_parse') }),
  sheet: t.String({
    title: 'Sheet',
    description: 'The name of a sheet, or its number from 1. Reading takes the first one if the field is empty.',
    ...of('xlsx_read', 'xlsx_write'),
  }),
  header: t.Boolean({
    default: true,
    title: 'Header',
    description: 'The first row has the names of the columns. Without it, rows are lists.',
    ...of('csv_parse', 'xlsx_read', ...tableWriters),
  }),
  columns: t.Union([t.Array(t.String()), t.String()], {
    title: 'Columns',
    description: 'The names of the columns to read or write, with commas between them. All if empty.',
    ...of('csv_parse', 'xlsx_read', ...tableWriters),
  }),
  types: oneOf(['text', 'auto'], {
    default: 'text',
    title: 'Types',
    description: 'Automatic reads numbers, true and false as such. A number with a leading zero stays a text.',
    labels: { text: 'Texts', auto: 'Automatic' },
    ...of('csv_parse'),
  }),
  offset: t.Integer({ minimum: 0, title: 'Skip rows', description: 'Rows to skip.', ...of(...rowReaders) }),
  limit: t.Integer({
    minimum: 0,
    title: 'Most rows',
    description: 'Rows to read; all if empty.',
    ...of(...rowReaders),
  }),
  encoding: oneOf(['utf-8', 'utf-16le', 'utf-16be', 'windows-1252', 'hex', 'base64', 'base64url'], {
    title: 'Encoding',
    description: 'The encoding of the CSV text (utf-8 if empty) or of the hash (hex if empty).',
    labels: {
      'utf-8': 'UTF-8',
      'utf-16le': 'UTF-16 LE',
      'utf-16be': 'UTF-16 BE',
      'windows-1252': 'Windows-1252',
      hex: 'Hexadecimal',
      base64: 'Base64',
      base64url: 'Base64 for URLs',
    },
    ...of('csv_parse', 'hash', 'hmac'),
  }),
  newline: oneOf(['crlf', 'lf'], {
    default: 'crlf',
    title: 'Line breaks',
    labels: { crlf: 'Windows (CR LF)', lf: 'Unix (LF)' },
    ...of('csv_write'),
  }),
  quoteAll: t.Boolean({ default: false, title: 'Quote every cell', ...of('csv_write') }),
  bom: t.Boolean({
    default: false,
    title: 'Byte order mark',
    description: 'Some spreadsheet programs need it to read UTF-8.',
    ...of('csv_write'),
  }),
  escapeFormulas: t.Boolean({
    default: false,
    title: 'Escape formulas',
    description:
      'Puts an apostrophe before texts that a spreadsheet would run as formulas: those that begin with =, +, - or @.',
    ...of('csv_write'),
  }),
  fields: recordOf(t.Unknown(), {
    title: 'Fields',
    description:
      'A CSS selector for each field, such as {"title": "h1"}; or {"selector": "a", "take": "attribute", ' +
      '"attribute": "href", "all": true}.',
    ...of('html_select'),
  }),
  each: t.String({
    title: 'For each',
    description: 'A CSS selector. The result is then a list with the fields of each element that it selects.',
    ...of('html_select'),
  }),
  html: oneOf(['escape', 'keep'], {
    default: 'escape',
    title: 'HTML in the Markdown',
    description: 'HTML from people you do not know must be escaped before a browser shows it.',
    labels: { escape: 'Escape', keep: 'Keep' },
    ...of('markdown_to_html'),
  }),
  indent: t.Integer({
    minimum: 0,
    maximum: 8,
    title: 'Indentation',
    description: 'Spaces for each level. 0 writes everything on one line.',
    ...of('xml_write', 'yaml_write'),
  }),
  entries: t.Union([t.Array(t.String()), t.String()], {
    title: 'Files to extract',
    description: 'Names, or patterns such as *.csv, with commas between them. All if empty.',
    ...of('zip_extract'),
  }),
  pages: t.String({ title: 'Pages', description: 'Such as 1-3, or 5. All if empty.', ...of('pdf_text') }),
  algorithm: oneOf(['sha256', 'sha1', 'sha512', 'md5'], {
    default: 'sha256',
    title: 'Algorithm',
    labels: { sha256: 'SHA-256', sha1: 'SHA-1', sha512: 'SHA-512', md5: 'MD5' },
    ...of('hash', 'hmac'),
  }),
  secret: t.String({
    title: 'Secret',
    description: 'The key of the signature: a variable, such as {{SIGNING_KEY}}.',
    secret: true,
    ...of('hmac'),
  }),
  output: oneOf(['data', 'file'], {
    default: 'data',
    title: 'Result',
    description:
      'A file has no limit for its rows: reading writes JSON Lines, which the operations that write tables can read.',
    labels: { data: 'In the output data', file: 'File' },
    ...of(...rowReaders, 'csv_write'),
  }),
  fileName: t.String({
    title: 'File name',
    description: 'The name of the file that the block writes.',
    ...of(...rowReaders, ...tableWriters, 'zip_create'),
  }),
}

type OptionName = keyof typeof options

export const Options = t.Partial(t.Object(options, { additionalProperties: false }), {
  additionalProperties: false,
  title: 'Options',
  description: 'Settings of the operation.',
})
export type Options = Static<typeof Options>

/** The operations that an option belongs to. */
export function operationsWith(option: string): readonly FormatOperation[] {
  const schema = Object.hasOwn(options, option) ? options[option as OptionName] : undefined
  return (schema?.['when'] as { has: readonly FormatOperation[] } | undefined)?.has ?? []
}
