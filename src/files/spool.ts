import { mkdirSync, rmSync } from 'node:fs'
import { type FileHandle, open, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { AppError } from '../domain/errors.ts'

/**
 * Where the content of files waits until the request that brings it has passed every check. It lies beside the storage,
 * so that keeping a file is a change of its name. What a process leaves behind when it dies is cleared by the next one.
 */
export class Spool {
  readonly #folder: string
  readonly #isDurable: boolean
  #isReady = false

  /** `isDurable`: files are on the disk, and not only on their way to it, before they are kept. */
  constructor(folder: string, { isDurable }: { isDurable: boolean }) {
    this.#folder = folder
    this.#isDurable = isDurable
  }

  /** Deletes what an earlier process left. */
  clear(): void {
    rmSync(this.#folder, { recursive: true, force: true })
  }

  create(): SpoolFile {
    if (!this.#isReady) {
      try {
        mkdirSync(this.#folder, { recursive: true, mode: 0o700 })
      } catch (cause) {
        throw spoolBroken(cause)
      }
      this.#isReady = true
    }
    return new SpoolFile(join(this.#folder, crypto.randomUUID()), this.#isDurable)
  }

  /** A file with this content. Rejects with `STORAGE_UNAVAILABLE`, and then nothing is left of it. */
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
}

/**
 * One file that waits. Whoever made it removes it, also when it could not be written, unless a storage has taken it over:
 * a handle that is left to the garbage collector ends the process (Bun 1.4.5).
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

  /** Bytes. */
  get size(): number {
    return this.#size
  }

  /** Takes bytes; they wait in memory for the next `flush`. */
  write(bytes: Uint8Array): void {
    this.#pending.push(bytes)
    this.#size += bytes.length
  }

  end(): void {
    this.#isEnded = true
  }

  /** Writes what waits, and closes the file when that was all. Rejects with `STORAGE_UNAVAILABLE`. */
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

  /** Never rejects: what cannot be deleted now goes at the next start. */
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
