import { AppError, type ErrorDetail, isRefusedForNow } from '../domain/errors.ts'
import type { FileOwner, RunFile } from '../domain/file.ts'
import { put, type TriggerInput } from '../domain/input.ts'
import { DataUriReader, type DataValue } from './data-uri.ts'
import { type CutData, type FileItem, readFileItem } from './file-item.ts'
import { JsonCutter } from './json-cutter.ts'
import type { Spool, SpoolFile } from './spool.ts'

/**
 * A request body with file items, read while it arrives: their content goes to the spool, the rest is text. `discard`
 * ends it in every case, and removes what was not stored.
 */
export class Upload {
  /** The body as JSON, in which short texts stand for what was cut out. */
  text = ''
  readonly #spool: Spool
  readonly #store: StoreFiles
  readonly #remove: RemoveFiles
  readonly #fields: readonly string[]
  readonly #textBytesMax: number
  #textBytes = 0
  /** Nobody can guess it, so no body can name a cut of its own. */
  readonly #token = crypto.randomUUID()
  readonly #cuts: CutData[] = []
  #items: ReadonlyMap<string, readonly FileItem[]> = new Map()
  /** The run that it was stored for. */
  #owner: FileOwner | undefined

  private constructor({ spool, store, remove, fields, textBytesMax }: UploadOptions) {
    this.#spool = spool
    this.#store = store
    this.#remove = remove
    this.#fields = fields
    this.#textBytesMax = textBytesMax
  }

  /**
   * Rejects with `PAYLOAD_TOO_LARGE` as soon as the text is too long, with `INVALID_JSON`, with `STORAGE_UNAVAILABLE`, or
   * as `chunks` does; then nothing is left of it.
   */
  static async receive(options: UploadOptions): Promise<Upload> {
    const upload = new Upload(options)
    try {
      await upload.#read(options.chunks)
      return upload
    } catch (error) {
      await upload.discard()
      throw error
    }
  }

  /** Checks the file items of an input. Throws `INVALID_INPUT` or `PAYLOAD_TOO_LARGE`, naming each item that is wrong. */
  check({ fields }: TriggerInput): void {
    const problems: ErrorDetail[] = []
    let isTooLarge = false
    const items = new Map<string, FileItem[]>()
    for (const name of this.#fields) {
      const list = fields[name]
      if (!Array.isArray(list)) continue
      const good: FileItem[] = []
      for (const [index, raw] of list.entries()) {
        const reading = readFileItem(raw, `${name}[${index}]`, (data) => this.#cutOf(data))
        if (reading.ok) good.push(reading.item)
        else {
          problems.push(reading.detail)
          isTooLarge ||= reading.isTooLarge
        }
      }
      items.set(name, good)
    }
    if (problems.length > 0) {
      const message = problems.map((problem) => problem.message).join(' ')
      throw new AppError(isTooLarge ? 'PAYLOAD_TOO_LARGE' : 'INVALID_INPUT', message, { details: problems })
    }
    this.#items = items
  }

  /** The input with file objects in place of the items that `check` found good. Rejects with `STORAGE_UNAVAILABLE`. */
  async store(input: TriggerInput, owner: FileOwner): Promise<TriggerInput> {
    const whole = { ...input.input }
    const fields = { ...input.fields }
    const files: RunFile[] = []
    for (const [name, items] of this.#items) {
      if (items.some((item) => 'content' in item)) this.#owner = owner
      const stored = await this.#stored(owner, items)
      const objects = stored.map(({ file }) => file)
      files.push(...stored)
      put(fields, name, objects)
      put(whole, name, objects)
    }
    return { input: whole, fields, ...(files.length > 0 ? { files } : {}) }
  }

  /** Takes back what was stored when `error` says that the run did not begin, or is not recorded. Else it is the run's. */
  async takeBack(error: unknown): Promise<void> {
    if (isRefusedForNow(error)) await this.#removeStored()
  }

  async #stored(owner: FileOwner, items: readonly FileItem[]): Promise<RunFile[]> {
    try {
      return await this.#store(owner, items)
    } catch (error) {
      await this.#removeStored()
      throw error
    }
  }

  /** What cannot be deleted now goes with what crashes leave. */
  async #removeStored(): Promise<void> {
    if (this.#owner) await this.#remove(this.#owner).catch(() => undefined)
  }

  async discard(): Promise<void> {
    const cuts = this.#cuts.splice(0)
    await Promise.all(cuts.map(({ file }) => file.remove()))
  }

  async #read(chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const open: SpoolFile[] = []
    const cutter = new JsonCutter({
      fields: new Set(this.#fields),
      placeholder: (index) => `${this.#token}:${index}`,
      keeping: (bytes) => this.#countText(bytes),
      open: () => {
        const file = this.#spool.create()
        const reader = new DataUriReader((bytes) => file.write(bytes))
        const cut: CutData = { value: { kind: 'malformed', reason: 'it has no end' }, file }
        this.#cuts.push(cut)
        open.push(file)
        return {
          push: (text) => reader.push(text),
          end: () => {
            cut.value = reader.end()
            this.#countText(textBytesOf(cut.value))
            file.end()
          },
        }
      },
    })
    for await (const chunk of chunks) {
      cutter.push(chunk)
      // Nothing more is read before this is written: what waits in memory is what one portion brought.
      for (const file of open) await file.flush()
      if (open.length > 1) open.splice(0, open.length - 1)
      release(chunk)
    }
    try {
      this.text = strictUtf8.decode(cutter.end())
    } catch (cause) {
      if (cause instanceof AppError) throw cause
      throw new AppError('INVALID_JSON', 'The body is not UTF-8 text.', { cause })
    }
  }

  /** Before it is kept: the text of a body waits in memory, and is copied there when it is decoded and parsed. */
  #countText(bytes: number): void {
    this.#textBytes += bytes
    if (this.#textBytes <= this.#textBytesMax) return
    const message = `Without its files the body is larger than ${this.#textBytesMax} bytes, the most that is taken here.`
    throw new AppError('PAYLOAD_TOO_LARGE', message)
  }

  #cutOf(data: string): CutData | undefined {
    if (!data.startsWith(`${this.#token}:`)) return undefined
    return this.#cuts[Number(data.slice(this.#token.length + 1))]
  }
}

/** Of what was cut out, the bytes that stay in memory: an address, a media type. */
function textBytesOf(value: DataValue): number {
  if (value.kind === 'text') return Buffer.byteLength(value.text)
  return value.kind === 'content' ? value.mime.length : 0
}

/**
 * Gives the memory of bytes back now: ten uploads at once bring hundreds of megabytes in a second, and the collector, which
 * sees some small objects, lets them lie. Does nothing where the memory holds more than these bytes.
 */
function release(bytes: Uint8Array): void {
  const { buffer } = bytes
  if (buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength) buffer.transfer(0)
}

/** Keeps the content of items, and makes the file objects of them. */
export type StoreFiles = (owner: FileOwner, items: readonly FileItem[]) => Promise<RunFile[]>

/** Deletes all that was stored for a run. */
export type RemoveFiles = (owner: FileOwner) => Promise<void>

/** Reads a body with file items. What it takes beyond `chunks` is as in `UploadOptions`. Rejects like `Upload.receive`. */
export type ReceiveFiles = (
  chunks: AsyncIterable<Uint8Array>,
  fields: readonly string[],
  textBytesMax: number,
) => Promise<Upload>

export type UploadOptions = {
  chunks: AsyncIterable<Uint8Array>
  /** The fields that hold file items. */
  fields: readonly string[]
  /** Bytes of the body that may be text: all but the content of its files. */
  textBytesMax: number
  spool: Spool
  store: StoreFiles
  remove: RemoveFiles
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true })
