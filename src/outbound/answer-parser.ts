/** Told of one answer while it arrives. */
export type AnswerReceiver = {
  /** Its head has come. */
  begun(head: AnswerHead): void
  /** A part of its body, never an empty one. */
  body(part: Buffer<ArrayBuffer>): void
}

export type AnswerHead = Readonly<{
  status: number
  /** Lower-case names in the order in which they came; repeated ones joined by `, `, `set-cookie` a list. */
  headers: ReadonlyMap<string, string | string[]>
}>

/**
 * Reads one HTTP/1.1 answer out of the pieces in which it arrives. Pure. Bodies by length, in chunks, and up to the end
 * of the connection; interim answers (1xx) are passed over.
 */
export class AnswerParser {
  readonly #receiver: AnswerReceiver
  readonly #heads: HeadReader | undefined
  #pending: Buffer<ArrayBuffer> | undefined
  #framing: Framing | undefined
  #keepsConnection = false
  readonly #hasNoBody: boolean
  /** Of a body by length, or of a chunk: bytes that are still to come. */
  #left = 0
  #chunk: 'size' | 'data' | 'end' | 'trailer' = 'size'
  #interims = 0
  #isWhole = false

  /** `method`: of the request; answers to HEAD have no body, whatever their head says. */
  constructor(receiver: AnswerReceiver, method = 'POST', heads?: HeadReader) {
    this.#receiver = receiver
    this.#heads = heads
    this.#hasNoBody = method === 'HEAD'
  }

  /** Whether anything has come. */
  get hasBegun(): boolean {
    return this.#framing !== undefined || this.#pending !== undefined || this.#interims > 0
  }

  /** Whether all of it has come. */
  get isWhole(): boolean {
    return this.#isWhole
  }

  /** Whether another request may go over the same connection. */
  get leavesConnection(): boolean {
    return this.#isWhole && this.#keepsConnection && this.#pending === undefined
  }

  /** Throws `BrokenAnswer`. */
  read(piece: Uint8Array<ArrayBuffer>): void {
    let data = this.#pending ? Buffer.concat([this.#pending, piece]) : bufferOf(piece)
    this.#pending = undefined
    while (!this.#framing) {
      const end = data.indexOf('\r\n\r\n')
      if ((end < 0 ? data.length : end) > headBytesMax) throw new BrokenAnswer('headers that are too large')
      if (end < 0) {
        this.#pending = Buffer.from(data)
        return
      }
      const text = data.toString('latin1', 0, end)
      data = data.subarray(end + 4)
      this.#takeHead(text)
    }
    this.#readBody(this.#framing, data)
  }

  /** The connection has ended. Whether that was the end of the answer too. */
  end(): boolean {
    if (this.#framing === 'end') this.#isWhole = true
    return this.#isWhole
  }

  #takeHead(text: string): void {
    const head = this.#heads ? this.#heads.read(text) : headOf(text)
    const { status, framing, length, keepsConnection } = head
    if (status === 101) throw new BrokenAnswer('a switch of protocols that nobody asked for')
    if (status < 200) {
      this.#interims += 1
      if (this.#interims > interimsMax) throw new BrokenAnswer('interim answers without end')
      return
    }
    this.#framing = this.#hasNoBody ? 'length' : framing
    this.#left = this.#hasNoBody ? 0 : length
    this.#keepsConnection = keepsConnection
    this.#receiver.begun(head)
  }

  #readBody(framing: Framing, data: Buffer<ArrayBuffer>): void {
    if (framing === 'chunks') this.#readChunks(data)
    else if (framing === 'end') this.#give(data)
    else {
      const isBeyond = data.length > this.#left
      const part = isBeyond ? data.subarray(0, this.#left) : data
      if (isBeyond) this.#pending = data.subarray(this.#left)
      this.#left -= part.length
      this.#isWhole = this.#left === 0
      this.#give(part)
    }
  }

  #readChunks(data: Buffer<ArrayBuffer>): void {
    let rest = data
    while (!this.#isWhole) {
      if (this.#chunk === 'data') {
        const part = rest.subarray(0, this.#left)
        this.#left -= part.length
        rest = rest.subarray(part.length)
        this.#give(part)
        if (this.#left > 0) return
        this.#chunk = 'end'
      }
      const end = rest.indexOf('\n')
      if (end < 0) {
        if (rest.length > headBytesMax) throw new BrokenAnswer('an answer that is not HTTP')
        if (rest.length > 0) this.#pending = Buffer.from(rest)
        return
      }
      this.#takeLine(rest.toString('latin1', 0, end).trimEnd())
      rest = rest.subarray(end + 1)
    }
    if (rest.length > 0) this.#pending = rest
  }

  /** A line between chunks. */
  #takeLine(line: string): void {
    if (this.#chunk === 'end') {
      if (line !== '') throw new BrokenAnswer('an answer that is not HTTP')
      this.#chunk = 'size'
    } else if (this.#chunk === 'trailer') {
      this.#isWhole = line === ''
    } else {
      const [, size] = /^([0-9a-f]{1,12})[ \t]*(?:;.*)?$/i.exec(line) ?? []
      if (size === undefined) throw new BrokenAnswer('an answer that is not HTTP')
      this.#left = Number.parseInt(size, 16)
      this.#chunk = this.#left === 0 ? 'trailer' : 'data'
    }
  }

  #give(part: Buffer<ArrayBuffer>): void {
    if (part.length > 0) this.#receiver.body(part)
  }
}

/** An answer that is none; its message says what came instead. */
export class BrokenAnswer extends Error {}

type Framing = 'length' | 'chunks' | 'end'

type Head = AnswerHead & Readonly<{ framing: Framing; length: number; keepsConnection: boolean }>

/** Reads the heads of answers that come from one place: most of them are the one before, again. */
export class HeadReader {
  #text: string | undefined
  #head: Head | undefined

  /** Throws `BrokenAnswer`. */
  read(text: string): Head {
    if (this.#head && text === this.#text) return this.#head
    const head = headOf(text)
    this.#text = text
    this.#head = head
    return head
  }
}

function headOf(text: string): Head {
  const [first = '', ...lines] = text.split('\r\n')
  const [, minor, digits] = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: |$)/.exec(first) ?? []
  if (digits === undefined) throw new BrokenAnswer('an answer that is not HTTP')
  if (lines.length > headersMax) throw new BrokenAnswer(`more than ${headersMax} headers`)
  const status = Number(digits)
  if (status > 599) throw new BrokenAnswer(`the status ${status}, which is none`)
  const headers = new Map<string, string | string[]>()
  for (const line of lines) {
    const colon = line.indexOf(':')
    const name = line.slice(0, Math.max(0, colon)).toLowerCase()
    // With a space in it, a length would be none, and the answer without end.
    if (name === '' || /\s/.test(name)) throw new BrokenAnswer('an answer that is not HTTP')
    const value = line.slice(colon + 1).trim()
    const before = headers.get(name)
    if (name === 'set-cookie') headers.set(name, [...(before ?? []), value])
    else headers.set(name, before === undefined ? value : `${before}, ${value}`)
  }
  const connection = String(headers.get('connection') ?? '').toLowerCase()
  const keepsConnection = minor === '1' ? !connection.includes('close') : connection.includes('keep-alive')
  return { status, headers, ...framingOf(status, headers), keepsConnection }
}

function framingOf(status: number, headers: AnswerHead['headers']): Pick<Head, 'framing' | 'length'> {
  if (status < 200 || status === 204 || status === 304) return { framing: 'length', length: 0 }
  const encoding = headers.get('transfer-encoding')
  if (encoding !== undefined && !/^identity$/i.test(String(encoding))) {
    return { framing: /(^|,)\s*chunked$/i.test(String(encoding)) ? 'chunks' : 'end', length: 0 }
  }
  const written = headers.get('content-length')
  if (written === undefined) return { framing: 'end', length: 0 }
  // Some proxies repeat it; two that differ are none.
  const [length = '', ...others] = String(written).split(/\s*,\s*/)
  if (!/^\d{1,15}$/.test(length) || others.some((other) => other !== length))
    throw new BrokenAnswer('an answer of a length that is none')
  return { framing: 'length', length: Number(length) }
}

function bufferOf(piece: Uint8Array<ArrayBuffer>): Buffer<ArrayBuffer> {
  return piece instanceof Buffer ? piece : Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
}

const headersMax = 250
const headBytesMax = 65_536
const interimsMax = 20
