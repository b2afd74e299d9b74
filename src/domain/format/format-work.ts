/** Reading and writing the formats of other programs: the block `data` asks, and `formats/` does it in a worker. */

export const formatOperations = [
  'csv_parse',
  'csv_write',
  'jsonl_parse',
  'xlsx_read',
  'xlsx_write',
  'html_select',
  'html_to_markdown',
  'markdown_to_html',
  'xml_parse',
  'xml_write',
  'yaml_parse',
  'yaml_write',
  'zip_list',
  'zip_extract',
  'zip_create',
  'pdf_text',
  'hash',
  'hmac',
] as const

export type FormatOperation = (typeof formatOperations)[number]

/** A file that a worker reads from the disk. */
export type FormatFile = { path: string; size: number; name: string; type: string }

/**
 * The input of an operation. A value is JSON text. The list of files of an archive is JSON text, too, in which each
 * file is `{ "name", "file": <index> }` or `{ "name", "text" }`.
 */
export type FormatInput =
  | { kind: 'text'; text: string }
  | { kind: 'value'; json: string; files?: readonly FormatFile[] }
  | { kind: 'file'; file: FormatFile }

export type FormatRequest = {
  operation: FormatOperation
  input: FormatInput
  options: Readonly<Record<string, unknown>>
  /** Where the worker writes the files of its result. Absent when it may write none. */
  output?: { folder: string; bytesMax: number }
  /** From the moment when the worker begins. */
  timeoutMs: number
  signal: AbortSignal
  /** Workspaces share the workers. */
  workspaceId?: string
  /** Whether there is memory for a large result. The work waits until then. */
  mayStart?(): boolean
}

/** A file that a worker has written. */
export type WrittenFile = { path: string; size: number; name: string; type: string }

/** `bytes`: of the data as JSON text. */
export type FormatResult = { data: unknown; bytes: number; files: readonly WrittenFile[] }

export type FormatOutcome = ({ ok: true } & FormatResult) | FormatFailure

export type FormatFailure = { ok: false; code: FormatFailureCode; message: string }

export const formatFailureCodes = [
  /** The document is broken, or not of this format. */
  'INVALID_DOCUMENT',
  /** An option, or the kind of the input, does not fit the operation. */
  'INVALID_PARAMETER',
  /** The document is too large, too deep, or expands too much. */
  'DOCUMENT_TOO_LARGE',
  'RESULT_TOO_LARGE',
  'MEMORY_EXCEEDED',
  'TIMEOUT',
  'CANCELLED',
  'OVERLOADED',
  'FORMAT_FAILED',
] as const

export type FormatFailureCode = (typeof formatFailureCodes)[number]

/** Does one operation. Never throws: a failure is an outcome. */
export type DoFormatWork = (request: FormatRequest) => Promise<FormatOutcome>
