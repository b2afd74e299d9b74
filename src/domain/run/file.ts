import { AppError } from '../errors.ts'
import type { Limit } from '../limits.ts'

/** A file as a workflow sees it: as `<api.field[0].property>`, in outputs and in logs. Times are ISO 8601. */
export type FileObject = {
  /** The download URL: signed and valid for a limited time, or the address that the caller gave. */
  url: string
  name: string
  /** Bytes; 0 for a file at an external address. */
  size: number
  /** The media type without parameters. */
  type: string
  /** Absent, like `expiresAt`, for a file at an external address. */
  uploadedAt?: string
  expiresAt?: string
}

/** A file of a run. `key`: where it is stored; null for a file at an external address. */
export type RunFile = { key: string | null; file: FileObject }

/** The run that a file belongs to. The file is deleted together with the run's log entry. */
export type FileOwner = { workspaceId: string; workflowId: string; executionId: string }

/** The capability of runs to use the file storage. Rejects with `STORAGE_UNAVAILABLE` when it is down. */
export type FileStore = {
  store(owner: FileOwner, content: Uint8Array, facts: Pick<FileObject, 'name' | 'type'>): Promise<RunFile>
  /** Undefined when the file is gone. */
  read(key: string): Promise<Blob | undefined>
  /** The content as a file of this machine. Undefined when the file is gone. */
  open(key: string): Promise<LocalFile | undefined>
  /** Holds content as a file of this machine. */
  hold(content: Uint8Array): Promise<LocalFile>
  /** A folder in which other code writes files for a run. */
  drafts(owner: FileOwner): Promise<FileDrafts<RunFile>>
}

/** A file of this machine, to be read only. `close`: call it at the end. */
export type LocalFile = { readonly path: string; readonly size: number; close(): Promise<void> }

/** Call `discard` at the end: it deletes the folder, with the files that were not kept. */
export type FileDrafts<Kept> = {
  readonly folder: string
  /** Stores a file of the folder. */
  keep(path: string, facts: Pick<FileObject, 'name' | 'size' | 'type'>): Promise<Kept>
  discard(): Promise<void>
}

/** Replaces the URLs of file objects in JSON text by new ones. `runFiles`: JSON texts of the `RunFile`s involved. */
export type FreshenFiles = (text: string, runFiles: readonly string[]) => string | Promise<string>

/** The maximum size of one file in bytes. */
export const fileBytesMax = 20 * 1_048_576
/** The maximum length of a name that workflows read. */
const nameCharsMax = 255
/** The maximum length of a name in storage keys. */
const safeCharsMax = 120

/** The folder of all files of a run. */
export function folderOf({ workspaceId, workflowId, executionId }: FileOwner): string {
  return [workspaceId, workflowId, executionId].map(safeSegment).join('/')
}

export function fileKey(owner: FileOwner, fileId: string, name: string): string {
  return `${folderOf(owner)}/${fileId}/${safeName(name)}`
}

/** The name without control characters, limited in length. Empty when nothing is left. */
export function cleanName(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: it removes control characters.
  const clean = name.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, '').trim()
  return clean.slice(0, nameCharsMax).toWellFormed()
}

/** A form of the name that is safe in paths, headers, URLs and shells. Keeps the extension. */
export function safeName(name: string): string {
  const last = name.slice(name.search(/[^/\\]*$/))
  const ending = /[^.]\.[A-Za-z0-9]{1,10}$/.exec(last)?.[0].slice(1) ?? ''
  const stem = safeSegment(last.slice(0, last.length - ending.length))
  return stem.slice(0, safeCharsMax - ending.length) + ending
}

function safeSegment(text: string): string {
  const plain = text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[^A-Za-z0-9._-]+/g, '_')
    .replace(/^[._]+/, '')
  return plain === '' ? 'file' : plain
}

const mediaType = /^[A-Za-z0-9!#$&^_.+-]{1,127}\/[A-Za-z0-9!#$&^_.+-]{1,127}$/

/** The media type in a text, lower-cased and without parameters; undefined when there is none. */
export function mediaTypeOf(text: string): string | undefined {
  const [type = ''] = text.split(';')
  const trimmed = type.trim()
  return mediaType.test(trimmed) ? trimmed.toLowerCase() : undefined
}

export const unknownMediaType = 'application/octet-stream'

export function tooManyFields({ max, setting }: Limit): AppError {
  return new AppError('PAYLOAD_TOO_LARGE', `The request has more than ${max} fields, the most that ${setting} allows.`)
}

export function tooManyFiles({ max, setting }: Limit): AppError {
  return new AppError('PAYLOAD_TOO_LARGE', `A request can have at most ${max} files, the most that ${setting} allows.`)
}
