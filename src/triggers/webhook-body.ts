import { AppError } from '../domain/errors.ts'
import type { Limit } from '../domain/limits.ts'
import {
  cleanName,
  type FileObject,
  mediaTypeOf,
  type RunFile,
  tooManyFields,
  tooManyFiles,
  unknownMediaType,
} from '../domain/run/file.ts'
import { membersOf } from '../domain/run/members-of.ts'
import { readJson } from '../domain/text/json.ts'
import { charsetOf, contentTypeOf, decodeText, jsonType, textType } from '../domain/text/text-content.ts'

/** A parsed body: a value, form entries that may include files, or a single file. */
export type WebhookContent =
  | { kind: 'value'; value: unknown }
  | { kind: 'entries'; entries: readonly Entry[] }
  | { kind: 'file'; bytes: Uint8Array; name: string; type: string }

/**
 * Limits on the content of a body: the values of JSON, the fields of a form, the number of files. `count` is called as
 * by `readJson`.
 */
export type ContentLimits = Readonly<{ values: Limit; fields: Limit; files: Limit; count?(values: number): void }>

/** Null: a file input in which no file was selected. */
type Entry = readonly [name: string, value: string | File | null]

/**
 * Reads a request body by its Content-Type: JSON, form or text; anything else is a file. Without a type, it is JSON if
 * it parses, otherwise text. An empty body is null. Throws `INVALID_JSON`, `INVALID_INPUT` for a malformed form, or
 * `PAYLOAD_TOO_LARGE`.
 */
export async function readWebhookBody(
  bytes: Uint8Array<ArrayBuffer>,
  headers: Headers,
  limits: ContentLimits,
): Promise<WebhookContent> {
  if (bytes.byteLength === 0) return valued(null)
  const { values, count } = limits
  const json = count ? { values, count } : { values }
  const { type, parameters } = contentTypeOf(headers.get('content-type') ?? '')
  if (jsonType.test(type)) return valued(readJson(textOf(bytes), json))
  if (type === 'application/x-www-form-urlencoded') {
    const text = textOf(bytes)
    assertFew(text, '&', limits.fields)
    return { kind: 'entries', entries: [...new URLSearchParams(text)] }
  }
  if (type === 'multipart/form-data') return { kind: 'entries', entries: await partsOf(bytes, headers, limits) }
  if (textType.test(type)) return valued(decodeText(bytes, charsetOf(parameters), false) ?? '')
  if (type !== '') return fileOf(bytes, headers, mediaTypeOf(type) ?? unknownMediaType)
  const text = decodeText(bytes, 'utf-8', true)
  if (text === undefined) return fileOf(bytes, headers, unknownMediaType)
  try {
    return valued(readJson(text, json))
  } catch (error) {
    if (error instanceof AppError && error.code !== 'INVALID_JSON') throw error
    return valued(text)
  }
}

export type StoreFile = (bytes: Uint8Array, facts: Pick<FileObject, 'name' | 'type'>) => Promise<RunFile>

/** The body for blocks, and its files. `store` is called only for files. */
export async function bodyOf(
  content: WebhookContent,
  store: StoreFile,
): Promise<{ body: unknown; files: readonly RunFile[] }> {
  if (content.kind === 'value') return { body: content.value, files: [] }
  if (content.kind === 'file') {
    const { bytes, name, type } = content
    const stored = await store(bytes, { name, type })
    return { body: stored.file, files: [stored] }
  }
  const entries: [string, unknown][] = []
  const files: RunFile[] = []
  for (const [name, entry] of content.entries) {
    if (entry === null || typeof entry === 'string') entries.push([name, entry])
    else {
      const type = mediaTypeOf(entry.type) ?? unknownMediaType
      const stored = await store(await entry.bytes(), { name: cleanName(entry.name ?? '') || 'file', type })
      files.push(stored)
      entries.push([name, stored.file])
    }
  }
  return { body: membersOf(entries), files }
}

/** Whether a body with these headers may become files. */
export function mayHoldFiles(headers: Headers): boolean {
  const { type } = contentTypeOf(headers.get('content-type') ?? '')
  return type !== '' && !jsonType.test(type) && !textType.test(type)
}

/** Whether `bodyOf` would store files. */
export function holdsFiles(content: WebhookContent): boolean {
  if (content.kind === 'entries')
    return content.entries.some(([, entry]) => entry !== null && typeof entry !== 'string')
  return content.kind === 'file'
}

function valued(value: unknown): WebhookContent {
  return { kind: 'value', value }
}

function textOf(bytes: Uint8Array<ArrayBuffer>): string {
  const text = decodeText(bytes, 'utf-8', true)
  if (text !== undefined) return text
  throw new AppError('INVALID_JSON', 'The body is not UTF-8 text.')
}

async function partsOf(
  bytes: Uint8Array<ArrayBuffer>,
  headers: Headers,
  { fields, files }: ContentLimits,
): Promise<Entry[]> {
  const boundary = /boundary="?([^";]+)/i.exec(headers.get('content-type') ?? '')?.[1]
  if (boundary) assertFew(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength), `\r\n--${boundary}`, fields)
  const entries: Entry[] = []
  try {
    const type = headers.get('content-type') ?? ''
    const form = await new Response(bytes, { headers: { 'content-type': type } }).formData()
    for (const [name, entry] of form as unknown as Iterable<Entry>) {
      entries.push([name, isUnchosen(entry) ? null : entry])
    }
  } catch (cause) {
    throw new AppError('INVALID_INPUT', 'The multipart body cannot be read.', { cause })
  }
  if (entries.filter(isFile).length > files.max) throw tooManyFiles(files)
  return entries
}

function isFile([, entry]: Entry): boolean {
  return entry !== null && typeof entry !== 'string'
}

/** Refuses a query with too many parameters. */
export function assertQueryFits(url: string, fields: Limit): void {
  assertFew(url, '&', fields)
}

/** Refuses a form before it is parsed. Each field follows a separator, except the first. */
function assertFew(text: string | Buffer, separator: string, limit: Limit): void {
  let count = 0
  for (let at = text.indexOf(separator); at !== -1; at = text.indexOf(separator, at + 1)) {
    count += 1
    if (count > limit.max) throw tooManyFields(limit)
  }
}

/** Browsers send an unselected file without a name, and Bun reports none. */
function isUnchosen(entry: Entry[1]): boolean {
  return entry instanceof Blob && !entry.name && entry.size === 0
}

function fileOf(bytes: Uint8Array, headers: Headers, type: string): WebhookContent {
  const name = /filename="?([^";]+)/i.exec(headers.get('content-disposition') ?? '')?.[1] ?? ''
  return { kind: 'file', bytes, name: cleanName(name) || 'body', type }
}
