import { type Static, Type as t } from '@sinclair/typebox'
import { type FormatOperation, type FormatResult, formatOperations } from '../domain/format/format-work.ts'
import { oneOf } from '../domain/one-of.ts'
import type { FileObject } from '../domain/run/file.ts'
import { isObject } from '../domain/run/input.ts'
import { OnError } from '../domain/workflow/workflow.ts'
import {
  type BlockContext,
  BlockError,
  type BlockResult,
  defineBlock,
  type Outputs,
  type ParameterFinding,
} from '../engine/block.ts'
import { isFileObject } from './api/files.ts'
import { DataInput } from './data/input.ts'
import { Options, operationsWith } from './data/options.ts'

const Parameters = t.Object({
  operation: oneOf(formatOperations, {
    title: 'Operation',
    labels: {
      csv_parse: 'Read CSV',
      csv_write: 'Write CSV',
      jsonl_parse: 'Read JSON Lines',
      xlsx_read: 'Read a spreadsheet (XLSX)',
      xlsx_write: 'Write a spreadsheet (XLSX)',
      html_select: 'Select from HTML',
      html_to_markdown: 'HTML to Markdown',
      markdown_to_html: 'Markdown to HTML',
      xml_parse: 'Read XML',
      xml_write: 'Write XML',
      yaml_parse: 'Read YAML',
      yaml_write: 'Write YAML',
      zip_list: 'List the files of a ZIP archive',
      zip_extract: 'Extract files from a ZIP archive',
      zip_create: 'Create a ZIP archive',
      pdf_text: 'Text of a PDF',
      hash: 'Hash',
      hmac: 'Signature (HMAC)',
    },
  }),
  input: t.Unknown({ title: 'Input', description: 'A text, a value or a file, such as <start.documents[0]>.' }),
  options: t.Optional(Options),
  timeoutMs: t.Integer({
    default: 60_000,
    minimum: 1,
    maximum: 3_600_000,
    title: 'Timeout',
    description: 'Time limit of the operation, in milliseconds.',
  }),
  onError: { ...OnError, default: 'stop' },
})
type Parameters = Static<typeof Parameters>

/** Reads and writes the formats of other programs. The work is done in a worker, with limits. */
export const data = defineBlock({
  type: 'data',
  label: 'Data',
  description: 'Reads and writes CSV, spreadsheets, HTML, XML, YAML, ZIP archives and PDF, and computes hashes.',
  kind: 'step',
  parameters: Parameters,
  modes: { operation: 'literal' },
  outputs: ['data', 'file', 'error'],
  mayFail: true,
  check,
  restore: ({ data: found, file }: Outputs, { files }) => {
    for (const value of Array.isArray(found) ? (found as unknown[]) : []) if (isFileObject(value)) files.restore(value)
    if (isFileObject(file)) files.restore(file)
  },
  run,
})

function check(params: Readonly<Record<string, unknown>>): ParameterFinding[] {
  const { operation, options } = params
  if (typeof operation !== 'string' || !isObject(options)) return []
  return Object.keys(options).flatMap((name): ParameterFinding[] => {
    const operations = operationsWith(name)
    if (operations.length === 0 || operations.includes(operation as FormatOperation)) return []
    const message = `The option "${name}" does not belong to the operation "${operation}". Remove it.`
    return [{ level: 'error', code: 'INVALID_PARAMETER', path: `options.${name}`, message }]
  })
}

async function run(params: Parameters, context: BlockContext): Promise<BlockResult> {
  try {
    const outputs = await outputsOf(params, context)
    return { outputs: { ...outputs, error: null } }
  } catch (thrown) {
    if (!(thrown instanceof BlockError)) throw thrown
    const error = { code: thrown.code, message: thrown.message }
    return { outputs: { data: null, file: null, error }, error }
  }
}

async function outputsOf(params: Parameters, context: BlockContext): Promise<{ data: unknown; file: unknown }> {
  const { operation, timeoutMs, options = {} } = params
  const { files, signal, limits } = context
  const input = new DataInput(context, timeoutMs)
  const memory = context.holdMemory()
  const drafts = writesFiles(operation, options) ? await files.drafts() : undefined
  try {
    const output = drafts && { output: { folder: drafts.folder, bytesMax: limits.dataFileBytes } }
    const request = { operation, options, timeoutMs, signal, input: await input.of(operation, params.input), ...output }
    const outcome = await context.doFormatWork(request)
    if (!outcome.ok) throw new BlockError(outcome.code, outcome.message)
    memory.add(outcome.bytes)
    const stored: FileObject[] = []
    for (const { path, name, size, type } of outcome.files) {
      stored.push((await drafts?.keep(path, { name, size, type })) as FileObject)
    }
    return shown(operation, outcome, stored)
  } finally {
    memory.end()
    await input.close()
    await drafts?.discard()
  }
}

/** The data of an archive are its files. */
function shown(operation: FormatOperation, { data: found }: FormatResult, stored: readonly FileObject[]) {
  return { data: operation === 'zip_extract' ? stored : found, file: stored[0] ?? null }
}

function writesFiles(operation: FormatOperation, options: Options): boolean {
  return alwaysFiles.has(operation) || options.output === 'file'
}

const alwaysFiles: ReadonlySet<FormatOperation> = new Set(['xlsx_write', 'zip_extract', 'zip_create'])
