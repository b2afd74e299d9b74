import { closeSync, openSync, writeSync } from 'node:fs'
import { FormatError } from './format-error.ts'

/** Writes the file of a result. The service removes what a job leaves behind when it fails. */
export class FileSink {
  readonly path: string
  readonly #bytesMax: number
  readonly #handle: number
  #text: string[] = []
  #chars = 0
  #size = 0

  constructor({ path, bytesMax }: { path: string; bytesMax: number }) {
    this.path = path
    this.#bytesMax = bytesMax
    this.#handle = openSync(path, 'wx', 0o600)
  }

  write(text: string): void {
    this.#text.push(text)
    this.#chars += text.length
    if (this.#chars >= bufferChars) this.#flush()
  }

  writeBytes(bytes: Uint8Array): void {
    this.#flush()
    this.#size += bytes.length
    if (this.#size > this.#bytesMax) throw filesTooLarge()
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#handle, bytes, at)
  }

  /** Returns the size of the file. */
  end(): number {
    this.#flush()
    closeSync(this.#handle)
    return this.#size
  }

  /** For a job that failed. */
  close(): void {
    closeSync(this.#handle)
  }

  #flush(): void {
    if (this.#chars === 0) return
    const text = this.#text.join('')
    this.#text = []
    this.#chars = 0
    this.writeBytes(Buffer.from(text))
  }
}

export function filesTooLarge(): FormatError {
  const message =
    'The files of the result are larger than MILLRACE_DATA_FILE_BYTES allows. Write less, or read a smaller part.'
  return new FormatError('RESULT_TOO_LARGE', message)
}

const bufferChars = 65_536
