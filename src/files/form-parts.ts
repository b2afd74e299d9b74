import type { Limit } from '../domain/limits.ts'
import {
  cleanName,
  fileBytesMax,
  mediaTypeOf,
  tooManyFields,
  tooManyFiles,
  unknownMediaType,
} from '../domain/run/file.ts'
import type { CutData } from './file-item.ts'
import type { PartHead, PartSink } from './multipart-reader.ts'
import type { Spool, SpoolFile } from './spool.ts'
import type { FormEntries } from './upload-options.ts'

export type FormPartsOptions = {
  /** The names of the fields for files. Files in other fields are dropped. */
  files: ReadonlySet<string>
  limits: { fields: Limit; files: Limit }
  spool: Spool
  /** Called before a text is kept. Throws when the texts are too long. */
  countText(bytes: number): void
  /** Called when a file begins to arrive. Returns the text that stands for the content in its file item. */
  hold(cut: CutData): string
}

/** The parts of a multipart form as they arrive: texts stay in memory, and files go to the spool. */
export class FormParts {
  readonly entries: FormEntries = []
  /** The files with content to be written. The last one may still be arriving. */
  readonly unwritten: SpoolFile[] = []
  readonly #options: FormPartsOptions
  #parts = 0
  #files = 0

  constructor(options: FormPartsOptions) {
    this.#options = options
  }

  /** Throws `PAYLOAD_TOO_LARGE`. */
  open(head: PartHead): PartSink {
    const { files, limits, countText } = this.#options
    this.#parts += 1
    if (this.#parts > limits.fields.max) throw tooManyFields(limits.fields)
    countText(head.name.length)
    if (head.filename === undefined) return this.#text(head.name)
    return files.has(head.name) ? this.#file(head, head.filename) : ignored
  }

  #text(name: string): PartSink {
    const portions: Uint8Array[] = []
    return {
      push: (bytes) => {
        this.#options.countText(bytes.length)
        portions.push(Uint8Array.from(bytes))
      },
      end: () => this.entries.push([name, formText(Buffer.concat(portions).toString())]),
    }
  }

  /** Adds a file item, or null when no file was chosen: browsers then send an empty file without a name. */
  #file({ name, type }: PartHead, filename: string): PartSink {
    let held: Held | undefined
    let size = 0
    return {
      push: (bytes) => {
        held ??= this.#hold()
        size += bytes.length
        if (size <= fileBytesMax) held.cut.file.write(bytes)
      },
      end: () => {
        if (filename !== '') held ??= this.#hold()
        if (!held) {
          this.entries.push([name, null])
          return
        }
        const { cut, data } = held
        const mime = mediaTypeOf(type) ?? unknownMediaType
        cut.file.end()
        cut.value = size > fileBytesMax ? { kind: 'large' } : { kind: 'content', mime, size }
        this.entries.push([name, { type: 'file', name: cleanName(filename) || 'file', mime, data }])
      },
    }
  }

  #hold(): Held {
    const { limits, spool, hold } = this.#options
    this.#files += 1
    if (this.#files > limits.files.max) throw tooManyFiles(limits.files)
    const file = spool.create()
    this.unwritten.push(file)
    const cut: CutData = { value: { kind: 'malformed', reason: 'it is not terminated' }, file }
    return { cut, data: hold(cut) }
  }
}

/** The text of a field. Browsers send every line break as CR and LF. */
export function formText(sent: string): string {
  return sent.replaceAll('\r\n', '\n')
}

type Held = { cut: CutData; data: string }

const ignored: PartSink = { push: () => undefined, end: () => undefined }
