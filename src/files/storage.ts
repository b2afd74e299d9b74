import type { SpoolFile } from './spool.ts'

/** Where files are kept: the port that `disk.ts` and others carry out. Every call rejects when the storage is down. */
export type FileStorage = {
  /** Keeps a file that waits, and takes it over: it is gone from the spool afterwards. */
  put(key: string, file: SpoolFile, type: string): Promise<void>
  /** The content of a file; undefined when it is gone. */
  read(key: string): Promise<Blob | undefined>
  /** Where a file can be downloaded until a time (epoch milliseconds). `signedAt`: now when absent; equal times, equal URLs. */
  urlOf(key: string, expiresAt: number, signedAt?: number): string | Promise<string>
  /** Deletes all files of a run; nothing happens when there are none. `folder`: `folderOf` of domain/file.ts. */
  removeFolder(folder: string): Promise<void>
  /** The folders of all runs that have files. */
  folders(): AsyncIterable<string>
}
