import { closeSync, fdatasyncSync, fstatSync, openSync, truncateSync, writeSync } from 'node:fs'
import { unavailable } from './failures.ts'
import { type Half, halfBytes, halves, journalPath, recordBytesMax, writeRecord } from './journal-file.ts'
import type { Sync } from './open.ts'

export type PenOptions = {
  databasePath: string
  sync: Sync
  generation: number
  /** Told of each file that is full: it is written again after `isFree`. */
  onFull(half: Half): void
}

/** Writes the records of one generation, to two files in turns. The files are there, in their full size. */
export class JournalPen {
  readonly #options: PenOptions
  readonly #files: readonly number[]
  readonly #free: [boolean, boolean] = [true, true]
  #buffer = Buffer.alloc(0)
  #half: Half = 0
  #at = 0
  #position = 0

  constructor(options: PenOptions) {
    this.#options = options
    this.#files = halves.map((half) => openSync(journalPath(options.databasePath, half), 'r+'))
  }

  /** Of the last record. */
  get position(): number {
    return this.#position
  }

  /** Whether the files are still there, in their full size: what is written to one that was taken away is nowhere. */
  get isWhole(): boolean {
    return this.#files.every((file) => {
      const { nlink, size } = fstatSync(file)
      return nlink > 0 && size === halfBytes
    })
  }

  /** How many bytes it wrote; undefined when there is no room before a file has become free. Throws what the disk throws. */
  write(text: string): number | undefined {
    const needed = recordBytesMax(text.length)
    if (!this.#hasRoom(needed)) return undefined
    if (this.#buffer.length < needed) this.#buffer = Buffer.allocUnsafeSlow(needed)
    const { generation, sync } = this.#options
    const bytes = writeRecord(this.#buffer, generation, { position: this.#position + 1, text })
    const file = this.#files[this.#half]!
    try {
      if (writeSync(file, this.#buffer, 0, bytes, this.#at) < bytes)
        throw unavailable('The journal was written in part.')
      if (sync === 'full') fdatasyncSync(file)
    } catch (error) {
      this.#erase(file)
      throw error
    }
    this.#at += bytes
    this.#position += 1
    return bytes
  }

  isFree(half: Half): void {
    this.#free[half] = true
  }

  /** Closes the files. What is not needed of them goes: what only they have can be taken in where there is room for it. */
  giveBack(): void {
    for (const half of halves) {
      if (half === this.#half) truncate(this.#options.databasePath, half, this.#at)
      else if (this.#free[half]) truncate(this.#options.databasePath, half)
    }
    this.close()
  }

  close(): void {
    for (const file of this.#files) closeSync(file)
  }

  #hasRoom(bytes: number): boolean {
    if (this.#at + bytes <= halfBytes) return true
    const full = this.#half
    const next: Half = full === 0 ? 1 : 0
    if (!this.#free[next]) return false
    this.#free[full] = false
    this.#half = next
    this.#at = 0
    this.#options.onFull(full)
    return true
  }

  /** A record that was refused must not turn up after a crash: it may be on disk although it could not be flushed. */
  #erase(file: number): void {
    try {
      writeSync(file, new Uint8Array(recordBytesMax(0)), 0, recordBytesMax(0), this.#at)
    } catch {
      // What counts is that it was tried.
    }
  }
}

/** To make room; it may fail. */
export function truncate(databasePath: string, half: Half, bytes = 0): void {
  try {
    truncateSync(journalPath(databasePath, half), bytes)
  } catch {
    // Then there is none.
  }
}
