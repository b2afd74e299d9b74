import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FormatFile, FormatInput, FormatOperation, FormatOutcome } from '../../../src/domain/format/format-work.ts'
import { Formats } from '../../../src/formats/formats.ts'

/** Does operations with real workers, on files in a folder of its own. */
export class Desk implements AsyncDisposable {
  readonly formats: Formats
  readonly folder = mkdtempSync(join(tmpdir(), 'millrace-formats-'))
  #count = 0

  constructor(formats = new Formats({ workersMax: 1 })) {
    this.formats = formats
  }

  /** Throws with the code and the message of a failure. */
  async do(operation: FormatOperation, input: FormatInput | string, options: Record<string, unknown> = {}) {
    const outcome = await this.try(operation, input, options)
    if (!outcome.ok) throw new Error(`${outcome.code}: ${outcome.message}`)
    const [file] = outcome.files
    return {
      data: outcome.data,
      files: outcome.files,
      text: file && statSync(file.path).size < 1e8 ? readFileSync(file.path, 'utf8') : '',
    }
  }

  /** The code and the message of an operation that fails. */
  async fails(...call: Parameters<Desk['do']>): Promise<string> {
    const outcome = await this.try(...call)
    return outcome.ok ? 'It did not fail.' : `${outcome.code}: ${outcome.message}`
  }

  async try(
    operation: FormatOperation,
    input: FormatInput | string,
    options: Record<string, unknown> = {},
    { timeoutMs = 10_000, bytesMax = 1e9 } = {},
  ): Promise<FormatOutcome> {
    const folder = join(this.folder, `drafts-${++this.#count}`)
    mkdirSync(folder)
    return await this.formats.run({
      operation,
      input: typeof input === 'string' ? { kind: 'text', text: input } : input,
      options,
      output: { folder, bytesMax },
      timeoutMs,
      signal: new AbortController().signal,
    })
  }

  /** A file with this content. */
  file(content: string | Uint8Array, name = 'file'): FormatInput & { kind: 'file' } {
    const path = join(this.folder, `file-${++this.#count}`)
    writeFileSync(path, content)
    return this.fileAt(path, name)
  }

  fileAt(path: string, name = 'file'): { kind: 'file'; file: FormatFile } {
    return { kind: 'file', file: { path, size: statSync(path).size, name, type: 'application/octet-stream' } }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.formats.stop()
    rmSync(this.folder, { recursive: true })
  }
}

export function valueInput(value: unknown): FormatInput {
  return { kind: 'value', json: JSON.stringify(value) }
}
