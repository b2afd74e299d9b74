import { mkdirSync, rmSync } from 'node:fs'
import { type FileHandle, mkdir, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../domain/errors.ts'

/**
 * Holds the content of files until their request has passed every check. It is on the same disk as the storage, so
 * storing a file is a rename. Files left by a process that died are removed at the next start.
 */
export class Spool {
  readonly #folder: string
  readonly #isDurable: boolean
  #isReady = false

  /** `isDurable`: flush files to the disk before they are stored. */
  constructor(folder: string, { isDurable }: { isDurable: boolean }) {
    this.#folder = folder
    this.#isDurable = isDurable
  }

  /** Deletes files left by an earlier process. */
  clear(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }

  create(): SpoolFile {
    this.#prepare()
    return new SpoolFile(join(this.#folder, crypto.randomUUID()), this.#isDurable)
  }

  /** Creates a folder for files that other code writes. Its creator must remove it. */
  async createFolder(): Promise<string> {
    this.#prepare()
    const folder = join(this.#folder, crypto.randomUUID())
    try {
      await mkdir(folder, { mode: 0o700 })
    } catch (cause) {
      throw spoolBroken(cause)
    }
    return folder
  }

  /** A file of such a folder, which is complete. Rejects with `STORAGE_UNAVAILABLE`. */
  async adopt(path: string, size: number): Promise<SpoolFile> {
    return await SpoolFile.written(path, size, this.#isDurable)
  }

  /** Creates a file with this content. Rejects with `STORAGE_UNAVAILABLE` and leaves nothing behind. */
  async hold(bytes: Uint8Array): Promise<SpoolFile> {
    const file = this.create()
    try {
      file.write(bytes)
      file.end()
      await file.flush()
      return file
    } catch (error) {
      await file.remove()
      throw error
    }
  }

  #prepare(): void {
    if (this.#isReady) return
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
    } catch (cause) {
      throw spoolBroken(cause)
    }
    this.#isReady = true
  }
}

/**
 * One file in the spool. Its creator must remove it, even after a failed write, unless a storage has taken it over: a
 * file handle left to the garbage collector ends the process (Bun 1.4.5).
 */
export class SpoolFile {
  readonly path: string
  readonly #isDurable: boolean
  #pending: Uint8Array[] = []
  #handle: FileHandle | undefined
  #isEnded = false
  #isClosed = false
  #size = 0

  constructor(path: string, isDurable: boolean) {
    this.path = path
    this.#isDurable = isDurable
  }

  /** A file that other code has written. */
  static async written(path: string, size: number, isDurable: boolean): Promise<SpoolFile> {
    const file = new SpoolFile(path, isDurable)
    file.#size = size
    file.#isEnded = true
    file.#isClosed = true
    if (!isDurable) return file
    try {
      const handle = await open(path, 'r')
      try {
        await handle.datasync()
      } finally {
        await handle.close()
      }
    } catch (cause) {
      throw spoolBroken(cause)
    }
    return file
  }

  /** Size in bytes. */
  get size(): number {
    return this.#size
  }

  /** Buffers bytes in memory until the next `flush`. */
  write(bytes: Uint8Array): void {
    this.#pending.push(bytes)
    this.#size += bytes.length
  }

  end(): void {
    this.#isEnded = true
  }

  /** Writes the buffered bytes, and closes the file after the last ones. Rejects with `STORAGE_UNAVAILABLE`. */
  async flush(): Promise<void> {
    if (this.#isClosed) return
    try {
      this.#handle ??= await open(this.path, 'wx', 0o600)
      const pending = this.#pending
      this.#pending = []
      for (const bytes of pending) await writeAll(this.#handle, bytes)
      if (!this.#isEnded) return
      if (this.#isDurable) await this.#handle.datasync()
      await this.#close()
    } catch (cause) {
      throw spoolBroken(cause)
    }
  }

  /** Never rejects. A file that cannot be deleted now is removed at the next start. */
  async remove(): Promise<void> {
    this.#pending = []
    await this.#close().catch(() => undefined)
    await rm(this.path, { force: true }).catch(() => undefined)
  }

  async #close(): Promise<void> {
    this.#isClosed = true
    await this.#handle?.close()
    this.#handle = undefined
  }
}

async function writeAll(handle: FileHandle, bytes: Uint8Array): Promise<void> {
  let at = 0
  while (at < bytes.length) at += (await handle.write(bytes, at)).bytesWritten
}

function spoolBroken(cause: unknown): AppError {
  const message = 'Files cannot be stored at the moment. Try again soon.'
  return new AppError('STORAGE_UNAVAILABLE', message, { cause, retryAfterS: 5 })
}
