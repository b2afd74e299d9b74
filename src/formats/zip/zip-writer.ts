import { Zip, ZipDeflate } from 'fflate'
import { FormatError } from '../format-error.ts'
import type { FileSink } from '../sink.ts'

/** Writes an archive, a piece of one entry at a time. */
export class ZipWriter {
  readonly #zip: Zip
  #failure: Error | null = null

  constructor(sink: FileSink) {
    this.#zip = new Zip((error, piece) => {
      this.#failure ??= error
      if (!error) sink.writeBytes(piece)
    })
  }

  /** Adds an entry. Its pieces may share their memory. */
  add(name: string, pieces: Iterable<Uint8Array>): void {
    const entry = new ZipDeflate(name, { level: 6 })
    entry.mtime = fixedTime
    // Programs take names of DOS to be in an old encoding.
    entry.os = unix
    entry.attrs = ordinaryFile
    this.#zip.add(entry)
    for (const piece of pieces) entry.push(piece.slice())
    entry.push(new Uint8Array(0), true)
    this.#check()
  }

  end(): void {
    this.#zip.end()
    this.#check()
  }

  #check(): void {
    if (this.#failure) throw new FormatError('FORMAT_FAILED', `The archive cannot be written: ${this.#failure.message}`)
  }
}

/** Equal content makes equal archives. */
const unix = 3
/** An ordinary file that its owner may write, in the upper half of the attributes. */
const ordinaryFile = 0o100644 * 65_536
const fixedTime = '1980-01-01T00:00:00'
