/** What a workflow sees of a file: as `<api.field[0].property>`, in outputs and in logs. Times are ISO 8601. */
export type FileObject = {
  /** Where it can be downloaded: signed and of limited life, or the address that the caller gave. */
  url: string
  name: string
  /** Bytes; 0 for a file that lies elsewhere. */
  size: number
  /** Media type, without parameters. */
  type: string
  /** Absent, like `expiresAt`, for a file that lies elsewhere. */
  uploadedAt?: string
  expiresAt?: string
}

/** A file of a run. `key`: where it is stored; null for one that lies elsewhere. */
export type RunFile = { key: string | null; file: FileObject }

/** Of whom a file is. The file goes when the log entry of this run goes. */
export type FileOwner = { workspaceId: string; workflowId: string; executionId: string }

/** What runs need of the storage. Rejects with `STORAGE_UNAVAILABLE` when it is down. */
export type FileStore = {
  store(owner: FileOwner, content: Uint8Array, facts: Pick<FileObject, 'name' | 'type'>): Promise<RunFile>
  /** Undefined when the file is gone. */
  read(key: string): Promise<Blob | undefined>
}

/** Gives the file objects in a text of JSON new URLs. `runFiles`: JSON texts of the `RunFile`s of the runs it tells of. */
export type FreshenFiles = (text: string, runFiles: readonly string[]) => string | Promise<string>

/** Bytes of one file at most. */
export const fileBytesMax = 20 * 1_048_576
/** File items in one request at most. */
export const fileItemsMax = 1_000
/** Characters of a name as workflows read it. */
const nameCharsMax = 255
/** Characters of a name in keys. */
const safeCharsMax = 120

/** The folder that all files of a run lie in. */
export function folderOf({ workspaceId, workflowId, executionId }: FileOwner): string {
  return [workspaceId, workflowId, executionId].map(safeSegment).join('/')
}

export function fileKey(owner: FileOwner, fileId: string, name: string): string {
  return `${folderOf(owner)}/${fileId}/${safeName(name)}`
}

/** A name without control characters and not too long. Empty when nothing is left of it. */
export function cleanName(name: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what is taken out.
  const clean = name.replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, '').trim()
  return clean.slice(0, nameCharsMax).toWellFormed()
}

/** A form of a name that no path, header, URL or shell reads as anything else; keeps its ending. */
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

/** The media type in a text, lower-cased and without parameters; undefined when it holds none. */
export function mediaTypeOf(text: string): string | undefined {
  const [type = ''] = text.split(';')
  const trimmed = type.trim()
  return mediaType.test(trimmed) ? trimmed.toLowerCase() : undefined
}

export const unknownMediaType = 'application/octet-stream'
