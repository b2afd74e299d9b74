import { AppError, type ErrorDetail, problemsError, startedNothing } from '../domain/errors.ts'
import { freeBytes } from '../domain/free-bytes.ts'
import { type FileObject, type FileOwner, type RunFile, tooManyFiles } from '../domain/run/file.ts'
import { setMember, type TriggerInput } from '../domain/run/input.ts'
import { DataUriReader, type DataValue } from './data-uri.ts'
import { type CutData, type FileItem, readFileItem } from './file-item.ts'
import { FormParts } from './form-parts.ts'
import { JsonCutter } from './json-cutter.ts'
import { MultipartReader } from './multipart-reader.ts'
import type { SpoolFile } from './spool.ts'
import type { FormEntries, FormLimits, FormUploadOptions, UploadLimits, UploadOptions } from './upload-options.ts'

/**
 * A request body with file items, read while it arrives. File content goes to the spool; the rest is text. Always call
 * `discard` at the end; it removes everything that was not stored.
 */
export class Upload {
  /** The body as JSON, with placeholders for what was cut out. */
  text = ''
  readonly #options: HeldOptions
  #textBytes = 0
  /** Random, so that no body can contain a placeholder itself. */
  readonly #token = crypto.randomUUID()
  readonly #cuts: CutData[] = []
  #items: ReadonlyMap<string, readonly FileItem[]> = new Map()
  /** The new run that the files were stored for. */
  #owner: FileOwner | undefined
  /** The files that were stored for it. */
  readonly #stored: RunFile[] = []

  private constructor(options: HeldOptions) {
    this.#options = options
  }

  /**
   * Rejects with `PAYLOAD_TOO_LARGE` as soon as the text is too long, with `INVALID_JSON`, with `STORAGE_UNAVAILABLE`,
   * or with the errors of `chunks`. Then nothing is left behind.
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

  /**
   * Reads a multipart form. If `within` is set, the names of its fields for files begin with `within` and a dot.
   * Rejects like `receive`, with `INVALID_INPUT` for a broken form, and with `PAYLOAD_TOO_LARGE` for too many parts or
   * files.
   */
  static async ofForm(options: FormUploadOptions): Promise<FormUpload> {
    const upload = new Upload(options)
    try {
      return { upload, entries: await upload.#readForm(options) }
    } catch (error) {
      await upload.discard()
      throw error
    }
  }

  /**
   * Checks the file items of an input. Throws `INVALID_INPUT` or `PAYLOAD_TOO_LARGE` with details about each invalid
   * item.
   */
  check({ fields }: TriggerInput): void {
    const problems: ErrorDetail[] = []
    let isTooLarge = false
    const items = new Map<string, FileItem[]>()
    for (const name of this.#options.fields) {
      const list = fields[name]
      if (!Array.isArray(list)) continue
      if (list.length > this.#options.limits.files.max) throw tooManyFiles(this.#options.limits.files)
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
      throw problemsError(isTooLarge ? 'PAYLOAD_TOO_LARGE' : 'INVALID_INPUT', problems)
    }
    this.#items = items
  }

  /** Returns the input with file objects in place of the checked items. Stored files have no address yet. */
  preview(input: TriggerInput): TriggerInput {
    const shown = Array.from(this.#items, ([name, items]): [string, FileObject[]] => [name, items.map(previewOf)])
    return {
      input: { ...input.input, ...Object.fromEntries(shown) },
      fields: { ...input.fields, ...Object.fromEntries(shown) },
    }
  }

  /**
   * Returns the input with file objects in place of the checked items. Rejects with `STORAGE_UNAVAILABLE`, or
   * `PAYLOAD_TOO_LARGE` when the workspace has too many files. `owner`: a new run, which has no other files.
   */
  async store(input: TriggerInput, owner: FileOwner): Promise<TriggerInput> {
    const hasContent = [...this.#items.values()].some((items) => items.some((item) => 'content' in item))
    if (hasContent) this.#owner = owner
    return await this.#storeItems(input, owner, () => this.#options.remove(owner))
  }

  /** The same for a run that may already have files. */
  async addTo(input: TriggerInput, owner: FileOwner): Promise<TriggerInput> {
    return await this.#storeItems(input, owner, () => this.withdraw(owner))
  }

  /** Deletes the files that `addTo` added to a run. The run keeps its other files. */
  async withdraw(owner: FileOwner): Promise<void> {
    const stored = this.#stored.splice(0)
    await this.#options.removeEach(owner, stored).catch(() => undefined)
  }

  async #storeItems(input: TriggerInput, owner: FileOwner, undo: () => Promise<void>): Promise<TriggerInput> {
    const whole = { ...input.input }
    const fields = { ...input.fields }
    const files: RunFile[] = []
    for (const [name, items] of this.#items) {
      const stored = await this.#storeEach(owner, items, undo)
      const objects = stored.map(({ file }) => file)
      files.push(...stored)
      setMember(fields, name, objects)
      setMember(whole, name, objects)
    }
    return { ...input, input: whole, fields, ...(files.length > 0 ? { files } : {}) }
  }

  /**
   * Deletes the files of a new run when `error` says that it did not start or was not recorded. Otherwise they belong
   * to the run.
   */
  async takeBack(error: unknown): Promise<void> {
    if (startedNothing(error) && this.#owner) await this.#options.remove(this.#owner).catch(() => undefined)
  }

  /** Never rejects: files that cannot be deleted now are removed later, like those left by a crash. */
  async #storeEach(owner: FileOwner, items: readonly FileItem[], undo: () => Promise<void>): Promise<RunFile[]> {
    const files: RunFile[] = []
    try {
      for (const item of items) {
        const file = await this.#options.store(owner, item)
        this.#stored.push(file)
        files.push(file)
      }
      return files
    } catch (error) {
      await undo().catch(() => undefined)
      throw error
    }
  }

  async discard(): Promise<void> {
    const cuts = this.#cuts.splice(0)
    await Promise.all(cuts.map(({ file }) => file.remove()))
  }

  async #readForm({ chunks, boundary, fields, within, limits, spool }: FormUploadOptions): Promise<FormEntries> {
    const files = new Set(fields.map((name) => (within === undefined ? name : `${within}.${name}`)))
    const form = new FormParts({
      ...{ files, limits, spool, countText: (bytes) => this.#countText(bytes) },
      hold: (cut) => `${this.#token}:${this.#cuts.push(cut) - 1}`,
    })
    const reader = new MultipartReader({ boundary, open: (head) => form.open(head) })
    await this.#pass(chunks, (chunk) => reader.push(chunk), form.unwritten)
    reader.end()
    return form.entries
  }

  /** Waits until the content so far is written before it reads more, so that memory holds only one portion. */
  async #pass(
    chunks: AsyncIterable<Uint8Array>,
    push: (chunk: Uint8Array) => void,
    unwritten: SpoolFile[],
  ): Promise<void> {
    for await (const chunk of chunks) {
      push(chunk)
      for (const file of unwritten) await file.flush()
      if (unwritten.length > 1) unwritten.splice(0, unwritten.length - 1)
      freeBytes(chunk)
    }
  }

  async #read(chunks: AsyncIterable<Uint8Array>): Promise<void> {
    const open: SpoolFile[] = []
    const cutter = new JsonCutter({
      fields: new Set(this.#options.fields),
      within: this.#options.within,
      files: this.#options.limits.files,
      placeholder: (index) => `${this.#token}:${index}`,
      keeping: (bytes) => this.#countText(bytes),
      open: () => {
        const file = this.#options.spool.create()
        const reader = new DataUriReader((bytes) => file.write(bytes))
        const cut: CutData = { value: { kind: 'malformed', reason: 'it is not terminated' }, file }
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
    await this.#pass(chunks, (chunk) => cutter.push(chunk), open)
    try {
      this.text = strictUtf8.decode(cutter.end())
    } catch (cause) {
      if (cause instanceof AppError) throw cause
      throw new AppError('INVALID_JSON', 'The body is not UTF-8 text.', { cause })
    }
  }

  /** Counted before the text is kept: it stays in memory, and is copied when it is decoded and parsed. */
  #countText(bytes: number): void {
    this.#textBytes += bytes
    const { max, setting } = this.#options.limits.text
    if (this.#textBytes <= max) return
    const message = `Without its files, the body is larger than ${max} bytes, the most that ${setting} allows.`
    throw new AppError('PAYLOAD_TOO_LARGE', message)
  }

  #cutOf(data: string): CutData | undefined {
    if (!data.startsWith(`${this.#token}:`)) return undefined
    return this.#cuts[Number(data.slice(this.#token.length + 1))]
  }
}

function previewOf(item: FileItem): FileObject {
  const { name, type } = item
  return 'content' in item ? { url: '', name, size: item.content.size, type } : { url: item.url, name, size: 0, type }
}

/** The bytes of cut content that stay in memory: a URL or a media type. */
function textBytesOf(value: DataValue): number {
  if (value.kind === 'text') return Buffer.byteLength(value.text)
  return value.kind === 'content' ? value.mime.length : 0
}

/**
 * Reads a body with file items. Options besides `chunks` are described in `UploadOptions`. Rejects like
 * `Upload.receive`.
 */
export type ReceiveFiles = (
  chunks: AsyncIterable<Uint8Array>,
  fields: readonly string[],
  limits: UploadLimits,
  within?: string,
) => Promise<Upload>

/** Reads a multipart form. Rejects like `Upload.ofForm`. */
export type ReceiveForm = (
  chunks: AsyncIterable<Uint8Array>,
  boundary: string,
  fields: readonly string[],
  limits: FormLimits,
  within?: string,
) => Promise<FormUpload>

/** `entries`: the texts of the form, and a file item for each file in a field for files. */
export type FormUpload = { upload: Upload; entries: FormEntries }

type HeldOptions = Omit<UploadOptions, 'chunks'>

const strictUtf8 = new TextDecoder('utf-8', { fatal: true })
