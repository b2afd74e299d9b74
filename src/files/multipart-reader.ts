import { AppError } from '../domain/errors.ts'

/** The head of one part. `filename`: undefined for a text. `type`: the media type as the sender wrote it. */
export type PartHead = { name: string; filename: string | undefined; type: string }

/** Takes the content of one part. The bytes are valid only during the call of `push`, unless the taker copies them. */
export type PartSink = { push(bytes: Uint8Array): void; end(): void }

/**
 * Reads a multipart form in portions of any size. It keeps at most one head or one boundary in memory:
 *
 *     preamble → (boundary line → head → content)* → the last boundary → epilogue
 *
 * It skips everything before the first boundary and after the last one. Throws INVALID_INPUT for a body that is not a
 * multipart form.
 */
export class MultipartReader {
  readonly #delimiter: Buffer
  readonly #open: (head: PartHead) => PartSink
  #state: 'preamble' | 'boundary' | 'head' | 'content' | 'epilogue' = 'preamble'
  #sink: PartSink | undefined
  /** The bytes not processed yet. The first boundary needs no line break before it, so it gets one here. */
  #rest: Buffer = Buffer.from('\r\n')

  constructor({ boundary, open }: { boundary: string; open(head: PartHead): PartSink }) {
    this.#delimiter = Buffer.from(`\r\n--${boundary}`)
    this.#open = open
  }

  /** The caller may free `portion` afterwards, once the sinks have written their content. */
  push(portion: Uint8Array): void {
    let data = this.#rest.length === 0 ? viewOf(portion) : Buffer.concat([this.#rest, portion])
    for (let after = this.#step(data); after !== undefined; after = this.#step(data)) data = data.subarray(after)
    this.#rest = Buffer.from(this.#undecided(data))
  }

  end(): void {
    if (this.#state !== 'epilogue') throw broken('it ends before its final boundary')
  }

  /** Returns the position of the next step, or undefined when it needs more bytes. */
  #step(data: Buffer): number | undefined {
    switch (this.#state) {
      case 'preamble': {
        const at = data.indexOf(this.#delimiter)
        if (at === -1) return undefined
        this.#state = 'boundary'
        return at + this.#delimiter.length
      }
      case 'boundary':
        return this.#boundary(data)
      case 'head':
        return this.#head(data)
      case 'content': {
        const at = data.indexOf(this.#delimiter)
        const whole = at === -1 ? data.length - this.#delimiter.length + 1 : at
        if (whole > 0) this.#sink?.push(data.subarray(0, whole))
        if (at === -1) return undefined
        this.#sink?.end()
        this.#sink = undefined
        this.#state = 'boundary'
        return at + this.#delimiter.length
      }
      case 'epilogue':
        return undefined
    }
  }

  /** Reads the rest of a boundary's line: two hyphens after the last boundary, or blanks. */
  #boundary(data: Buffer): number | undefined {
    if (data.length < 2) return undefined
    if (data[0] === hyphen && data[1] === hyphen) {
      this.#state = 'epilogue'
      return undefined
    }
    const end = data.indexOf('\r\n')
    const line = data.subarray(0, end === -1 ? data.length : end)
    if (line.length > lineBytesMax || line.some((byte) => byte !== space && byte !== tab && byte !== carriageReturn)) {
      throw broken('a boundary is followed by unexpected text')
    }
    if (end === -1) return undefined
    this.#state = 'head'
    // The line break belongs to the head, so that an empty head ends like any other.
    return end
  }

  #head(data: Buffer): number | undefined {
    const end = data.indexOf('\r\n\r\n')
    if (Math.max(end, end === -1 ? data.length : 0) > headBytesMax) {
      throw broken(`the headers of a part are longer than ${headBytesMax} bytes`)
    }
    if (end === -1) return undefined
    this.#sink = this.#open(headOf(data.subarray(0, end).toString()))
    this.#state = 'content'
    return end + 4
  }

  /** The end of `data` that cannot be processed without the next portion. */
  #undecided(data: Buffer): Buffer {
    switch (this.#state) {
      case 'preamble':
      case 'content':
        return data.subarray(Math.max(0, data.length - this.#delimiter.length + 1))
      case 'boundary':
      case 'head':
        return data
      case 'epilogue':
        return data.subarray(data.length)
    }
  }
}

const [hyphen, space, tab, carriageReturn] = [0x2d, 0x20, 0x09, 0x0d]
const lineBytesMax = 100
/** Enough for a percent-encoded file name of 255 characters. */
const headBytesMax = 8_192

/** A `Buffer`, because its search is faster than that of a `Uint8Array`. */
function viewOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

function headOf(text: string): PartHead {
  const lines = text.split('\r\n')
  const headerOf = (header: string) => {
    const line = lines.find((each) => each.slice(0, header.length + 1).toLowerCase() === `${header}:`)
    return line?.slice(header.length + 1).trim()
  }
  const disposition = headerOf('content-disposition') ?? ''
  const name = parameterOf(disposition, nameParameter)
  if (!/^form-data\s*(;|$)/i.test(disposition) || name === undefined) throw broken('a part has no name')
  return { name, filename: parameterOf(disposition, filenameParameter), type: headerOf('content-type') ?? '' }
}

const nameParameter = /;\s*name=(?:"((?:[^"\\]|\\.)*)"|([^";\s]+))/i
const filenameParameter = /;\s*filename=(?:"((?:[^"\\]|\\.)*)"|([^";\s]+))/i

/** Browsers write a quote, and the characters of a line break, percent-encoded; other clients write a backslash. */
function parameterOf(disposition: string, pattern: RegExp): string | undefined {
  const [, quoted, bare] = pattern.exec(disposition) ?? []
  if (quoted === undefined) return bare
  return quoted.replace(/\\(["\\])|%(22|0d|0a)/gi, (_, escaped?: string, code?: string) => {
    return escaped ?? String.fromCharCode(Number.parseInt(code ?? '', 16))
  })
}

function broken(reason: string): AppError {
  return new AppError('INVALID_INPUT', `The multipart body cannot be read: ${reason}.`)
}

/** The boundary in a Content-Type header. Throws INVALID_INPUT. */
export function boundaryOf(contentType: string): string {
  const [, quoted, bare] = /;\s*boundary=(?:"([^"]*)"|([^";\s]+))/i.exec(contentType) ?? []
  const boundary = quoted ?? bare ?? ''
  if (boundary === '') throw broken('its Content-Type names no boundary')
  if (boundary.length > boundaryCharsMax) throw broken(`its boundary is longer than ${boundaryCharsMax} characters`)
  return boundary
}

/** RFC 2046 allows 70. */
const boundaryCharsMax = 200
