import type { LocalFile } from '../domain/run/file.ts'
import type { Spool, SpoolFile } from './spool.ts'

/**
 * The port of file storage, implemented by `disk.ts` and others. Every call rejects when the storage is unavailable.
 */
export type FileStorage = {
  /** Stores a spooled file and takes it over: it is no longer in the spool. */
  put(key: string, file: SpoolFile, type: string): Promise<void>
  /** The content of a file; undefined when it does not exist. */
  read(key: string): Promise<Blob | undefined>
  /**
   * The content of a file as a file of this machine; undefined when it does not exist. A bucket copies it into a file
   * of the spool.
   */
  open(key: string, spool: Spool): Promise<LocalFile | undefined>
  /**
   * A download URL that is valid until `expiresAt` (epoch milliseconds). `signedAt` defaults to now; equal times give
   * equal URLs.
   */
  urlOf(key: string, expiresAt: number, signedAt?: number): string | Promise<string>
  /**
   * Deletes all files of a run; does nothing when there are none. `folder` comes from `folderOf` in
   * `domain/run/file.ts`.
   */
  removeFolder(folder: string): Promise<void>
  /** The folders of all runs with files. */
  folders(): AsyncIterable<string>
}
