import { rm } from 'node:fs/promises'
import type { Clock } from '../domain/clock.ts'
import { AppError } from '../domain/errors.ts'
import { newId } from '../domain/ids.ts'
import {
  type FileDrafts,
  type FileObject,
  type FileOwner,
  fileKey,
  folderOf,
  type LocalFile,
  type RunFile,
} from '../domain/run/file.ts'
import type { FileItem } from './file-item.ts'
import type { FileQuota } from './file-quota.ts'
import { freshenFiles } from './freshen.ts'
import type { Spool, SpoolFile } from './spool.ts'
import type { FileStorage } from './storage.ts'
import { type ReceiveFiles, type ReceiveForm, Upload } from './upload.ts'

export type FilesOptions = {
  storage: FileStorage
  spool: Spool
  quota: Pick<FileQuota, 'take' | 'failed' | 'deleted'>
  clock: Clock
  /** Lifetime of a URL in seconds. */
  urlTtlS: number
}

/** The files of runs: received with requests or created by blocks, stored, and served under URLs that expire. */
export class Files {
  readonly #options: FilesOptions

  constructor(options: FilesOptions) {
    this.#options = options
  }

  receive: ReceiveFiles = (chunks, fields, limits, within) =>
    Upload.receive({ chunks, fields, within, limits, ...this.#uploads })

  receiveForm: ReceiveForm = (chunks, boundary, fields, limits, within) =>
    Upload.ofForm({ chunks, boundary, fields, within, limits, ...this.#uploads })

  get #uploads() {
    const { spool } = this.#options
    const store = (owner: FileOwner, item: FileItem) => this.#storeItem(owner, item)
    return { spool, store, remove: this.remove, removeEach: this.removeEach }
  }

  /** Replaces the file URLs in JSON text with new ones. */
  freshen = (text: string, runFiles: readonly string[]): string | Promise<string> => {
    if (runFiles.length === 0) return text
    return freshenFiles(text, runFiles, (key) => this.#sign(key))
  }

  /** The same with URLs signed for a given time (epoch milliseconds), so that the result is always equal. */
  freshenAt = (text: string, runFiles: readonly string[], at: number): string | Promise<string> => {
    if (runFiles.length === 0) return text
    return freshenFiles(text, runFiles, (key) => this.#sign(key, at))
  }

  /** Stores a file of a block. */
  store = async (owner: FileOwner, bytes: Uint8Array, facts: Pick<FileObject, 'name' | 'type'>): Promise<RunFile> => {
    const content = await this.#options.spool.hold(bytes)
    try {
      return await this.#store(owner, content, facts)
    } finally {
      await content.remove()
    }
  }

  /** Deletes all files of a run. */
  remove = async (owner: FileOwner): Promise<void> => {
    await this.#options.storage.removeFolder(folderOf(owner))
    this.#options.quota.deleted(owner)
  }

  /** Deletes some files of a run that has no log entry yet. */
  removeEach = async (owner: FileOwner, files: readonly RunFile[]): Promise<void> => {
    for (const { key, file } of files) {
      if (key === null) continue
      // Each file has its own folder.
      await this.#options.storage.removeFolder(key.slice(0, key.lastIndexOf('/')))
      this.#options.quota.failed(owner, file.size)
    }
  }

  /** The content of a file as a file of this machine. */
  open = (key: string): Promise<LocalFile | undefined> => {
    return this.#options.storage.open(key, this.#options.spool)
  }

  /** Holds content as a file of this machine. */
  hold = async (content: Uint8Array): Promise<LocalFile> => {
    const file = await this.#options.spool.hold(content)
    return { path: file.path, size: file.size, close: () => file.remove() }
  }

  /** A folder in which other code writes files for a run. It is on the same disk as the storage. */
  drafts = async (owner: FileOwner): Promise<FileDrafts<RunFile>> => {
    const { spool } = this.#options
    const folder = await spool.createFolder()
    return {
      folder,
      keep: async (path, { size, ...facts }) => await this.#store(owner, await spool.adopt(path, size), facts),
      discard: () => rm(folder, { recursive: true, force: true }).catch(() => undefined),
    }
  }

  read = (key: string): Promise<Blob | undefined> => this.#options.storage.read(key)

  async #storeItem(owner: FileOwner, item: FileItem): Promise<RunFile> {
    const { name, type } = item
    if ('url' in item) return { key: null, file: { url: item.url, name, size: 0, type } }
    return await this.#store(owner, item.content, { name, type })
  }

  async #store(
    owner: FileOwner,
    content: SpoolFile,
    { name, type }: Pick<FileObject, 'name' | 'type'>,
  ): Promise<RunFile> {
    const { storage, clock, quota } = this.#options
    const key = fileKey(owner, newId(), name)
    const { size } = content
    await quota.take(owner, size)
    try {
      await storage.put(key, content, type)
    } catch (cause) {
      quota.failed(owner, size)
      const message = 'Files cannot be stored at the moment. Try again soon.'
      throw new AppError('STORAGE_UNAVAILABLE', message, { cause, retryAfterS: 5 })
    }
    const uploadedAt = new Date(clock.now()).toISOString()
    const { url, expiresAt } = await this.#sign(key)
    return { key, file: { url, name, size, type, uploadedAt, expiresAt } }
  }

  async #sign(key: string, at = this.#options.clock.now()): Promise<{ url: string; expiresAt: string }> {
    const { storage, urlTtlS } = this.#options
    // Whole seconds, like the times in URLs.
    const signedAt = Math.floor(at / 1000) * 1000
    const expiresAt = signedAt + urlTtlS * 1000
    try {
      return { url: await storage.urlOf(key, expiresAt, signedAt), expiresAt: new Date(expiresAt).toISOString() }
    } catch (cause) {
      // Signing needs no request to the storage, but credentials may be missing or expired.
      const message = 'File URLs cannot be signed at the moment. Try again soon; the operator can run millrace doctor.'
      throw new AppError('STORAGE_UNAVAILABLE', message, { cause, retryAfterS: 5 })
    }
  }
}
