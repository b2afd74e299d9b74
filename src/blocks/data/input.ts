import type { FormatFile, FormatInput, FormatOperation } from '../../domain/format/format-work.ts'
import { cleanName, type LocalFile, mediaTypeOf, unknownMediaType } from '../../domain/run/file.ts'
import { isObject } from '../../domain/run/input.ts'
import { finish, isLargeValue, jsonInSlices } from '../../domain/slices.ts'
import { type BlockContext, BlockError } from '../../engine/block.ts'
import { download } from '../api/files.ts'

/** The input of an operation, with the files that it reads. Close it at the end. */
export class DataInput {
  readonly #files: LocalFile[] = []
  readonly #context: BlockContext
  readonly #timeoutMs: number

  constructor(context: BlockContext, timeoutMs: number) {
    this.#context = context
    this.#timeoutMs = timeoutMs
  }

  /** Throws `BlockError` when a file cannot be read. */
  async of(operation: FormatOperation, value: unknown): Promise<FormatInput> {
    if (operation === 'zip_create') return await this.#entries(value)
    const only: unknown = Array.isArray(value) && value.length === 1 && !takesLists.has(operation) ? value[0] : value
    if (isFile(only) && !takesValues.has(operation)) return { kind: 'file', file: await this.#open(only) }
    if (typeof only === 'string') return { kind: 'text', text: only }
    return { kind: 'value', json: await this.#json(value) }
  }

  async close(): Promise<void> {
    for (const file of this.#files.splice(0)) await file.close()
  }

  /** The files of an archive: file objects, and texts with names. */
  async #entries(value: unknown): Promise<FormatInput> {
    const given: readonly unknown[] = Array.isArray(value) ? value : [value]
    if (given.length > entriesMax) throw invalid(`The input has more than ${entriesMax} files.`)
    const files: FormatFile[] = []
    const entries: unknown[] = []
    for (const [index, entry] of given.entries()) {
      const { name, text, file } = isObject(entry) ? entry : {}
      const content = isFile(entry) ? entry : file
      if (isFile(content)) {
        const opened = await this.#open(content)
        entries.push({ name: typeof name === 'string' ? name : opened.name, file: files.push(opened) - 1 })
      } else if (typeof name === 'string' && typeof text === 'string') entries.push({ name, text })
      else throw invalid(`Entry ${index + 1} of the input is neither a file nor { "name", "text" }.`)
    }
    return { kind: 'value', json: await this.#json(entries), files }
  }

  async #open(value: FileReference): Promise<FormatFile> {
    const { files } = this.#context
    const name = cleanName(value.name) || 'file'
    const stored = await files.open(value.url)
    const local = stored ?? (await files.hold(await this.#download(value.url, name)))
    this.#files.push(local)
    const type = (typeof value.type === 'string' ? mediaTypeOf(value.type) : undefined) ?? unknownMediaType
    return { path: local.path, size: local.size, name, type }
  }

  async #download(url: string, name: string): Promise<Uint8Array> {
    return new Uint8Array(await (await download(url, name, this.#context, this.#timeoutMs)).arrayBuffer())
  }

  async #json(value: unknown): Promise<string> {
    const text = jsonInSlices(value ?? null)
    return (isLargeValue(value) ? await this.#context.inSlices(text) : finish(text)) ?? 'null'
  }
}

type FileReference = { url: string; name: string; type?: unknown }

function isFile(value: unknown): value is FileReference {
  if (!isObject(value)) return false
  return typeof value['url'] === 'string' && typeof value['name'] === 'string' && typeof value['size'] === 'number'
}

function invalid(message: string): BlockError {
  return new BlockError('INVALID_PARAMETER', message)
}

/** A list with one item is a list for these, and a file in it is a row. */
const takesLists: ReadonlySet<FormatOperation> = new Set(['csv_write', 'xlsx_write', 'xml_write', 'yaml_write'])
/** A file object is data for these. */
const takesValues: ReadonlySet<FormatOperation> = new Set(['xml_write', 'yaml_write'])
const entriesMax = 10_000
