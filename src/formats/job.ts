import { join } from 'node:path'
import type { WrittenFile } from '../domain/format/format-work.ts'
import { FormatError } from './format-error.ts'
import { resultBytesMax, resultValuesMax } from './limits.ts'
import { FileSink } from './sink.ts'
import type { FormatAnswer, FormatJob } from './wire.ts'

/** One operation on one document. */
export type Operation = (job: Job) => FormatAnswer | Promise<FormatAnswer>

/** A job in its worker: its input and options, and the means to answer it. */
export class Job {
  readonly input: FormatJob['input']
  readonly options: FormatJob['options']
  readonly #output: FormatJob['output']
  readonly #files: WrittenFile[] = []
  #fileBytes = 0
  #sink: FileSink | undefined

  constructor({ input, options, output }: FormatJob) {
    this.input = input
    this.options = options
    this.#output = output
  }

  /** Bytes that the files of the result may have together. */
  get fileBytesMax(): number {
    return this.#output?.bytesMax ?? 0
  }

  /** The file of the result that is being written. */
  get sink(): FileSink {
    if (this.#sink) return this.#sink
    if (!this.#output) throw new FormatError('FORMAT_FAILED', 'This operation may not write a file.')
    const { folder, bytesMax } = this.#output
    this.#sink = new FileSink({ path: join(folder, String(this.#files.length)), bytesMax: bytesMax - this.#fileBytes })
    return this.#sink
  }

  /** Ends the file that is being written. */
  endFile(name: string, type: string): void {
    const { sink } = this
    const size = sink.end()
    this.#sink = undefined
    this.#fileBytes += size
    this.#files.push({ path: sink.path, size, name, type })
  }

  /** Answers with a value. Throws when it is too large for a run. */
  data(value: unknown): FormatAnswer {
    return { ok: true, json: boundedJson(value), files: this.#files }
  }

  /** Answers with the file that was written. `data`: further facts, such as the number of rows. */
  file(name: string, type: string, data: unknown = null): FormatAnswer {
    this.endFile(name, type)
    return this.data(data)
  }

  /** Releases what a failed job holds. */
  close(): void {
    this.#sink?.close()
    this.#sink = undefined
  }
}

/** The JSON text of a value. Counts first, because a value may contain the same part many times. */
export function boundedJson(value: unknown): string {
  let values = 0
  let bytes = 0
  const open: unknown[] = [value]
  while (open.length > 0) {
    const current = open.pop()
    values += 1
    if (typeof current === 'string') bytes += current.length
    else if (Array.isArray(current)) for (const item of current) open.push(item)
    else if (typeof current === 'object' && current !== null) {
      for (const key of Object.keys(current)) {
        bytes += key.length
        open.push((current as Record<string, unknown>)[key])
      }
    }
    if (values + open.length > resultValuesMax) throw tooManyValues()
    if (bytes > resultBytesMax) throw tooManyBytes()
  }
  const text = JSON.stringify(value) ?? 'null'
  if (text.length > resultBytesMax) throw tooManyBytes()
  return text
}

export function tooManyValues(remedy = ''): FormatError {
  return new FormatError('RESULT_TOO_LARGE', `The result has more than ${resultValuesMax} values.${remedy}`)
}

export function tooManyBytes(remedy = ''): FormatError {
  return new FormatError('RESULT_TOO_LARGE', `The result has more than ${resultBytesMax} bytes of JSON.${remedy}`)
}
