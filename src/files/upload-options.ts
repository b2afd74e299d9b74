import type { Limit } from '../domain/limits.ts'
import type { FileOwner, RunFile } from '../domain/run/file.ts'
import type { FileItem } from './file-item.ts'
import type { Spool } from './spool.ts'

/** Stores the content of an item and returns its file object. */
export type StoreItem = (owner: FileOwner, item: FileItem) => Promise<RunFile>

/** Deletes all files of a run. */
export type RemoveFiles = (owner: FileOwner) => Promise<void>

/** Deletes some files of a run. */
export type RemoveEach = (owner: FileOwner, files: readonly RunFile[]) => Promise<void>

/** The name of each entry of a form, with its text or file item; null where no file was chosen. */
export type FormEntries = [name: string, value: unknown][]

/** `text`: the bytes of the body without the content of its files. `files`: the number of file items. */
export type UploadLimits = Readonly<{ text: Limit; files: Limit }>

export type UploadOptions = {
  chunks: AsyncIterable<Uint8Array>
  /** The fields that contain file items. */
  fields: readonly string[]
  /** See `JsonCutterOptions`. */
  within?: string | undefined
  limits: UploadLimits
  spool: Spool
  store: StoreItem
  remove: RemoveFiles
  removeEach: RemoveEach
}

/** `fields`: the number of parts. */
export type FormLimits = UploadLimits & Readonly<{ fields: Limit }>

export type FormUploadOptions = Omit<UploadOptions, 'limits'> & { boundary: string; limits: FormLimits }
