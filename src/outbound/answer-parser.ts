/** What was read of an answer: its status, the two headers that matter, and the beginning of its body. */
export type ParsedAnswer = { status: number; retryAfter: string | undefined; body: Uint8Array }

/**
 * Reads one HTTP/1.1 answer out of the pieces in which it arrives: its head, and as much of its body as is wanted. Pure.
 * Bodies by length, in chunks, and up to the end of the connection; interim answers (1xx) are passed over.
 */
export class AnswerParser {
  readonly #bytesWanted: number
  readonly #heads: HeadReader
  #pending: Buffer | undefined
  #head: Head | undefined
  #body: Uint8Array[] = []
  #bodyBytes = 0
  /** Of a body by length, or of a chunk: bytes that are still to come. */
  #left = 0
  #chunk: 'size' | 'data' | 'end' | 'trailer' = 'size'
  #interims = 0
  #isWhole = false

  constructor(bytesWanted: number, heads = new HeadReader()) {
    this.#bytesWanted = bytesWanted
    this.#heads = heads
  }

  /** Whether anything has come. */
  get hasBegun(): boolean {
    return this.#head !== undefined || this.#pending !== undefined || this.#interims > 0
  }

  /** Whether another request may go over the same connection. */
  get leavesConnection(): boolean {
    return this.#isWhole && this.#head?.keepsConnection === true && this.#pending === undefined
  }

  /** The answer when enough of it has come; undefined before. Throws `BrokenAnswer`. */
  read(piece: Uint8Array): ParsedAnswer | undefined {
    let data = this.#pending ? Buffer.concat([this.#pending, piece]) : bufferOf(piece)
    this.#pending = undefined
    while (!this.#head) {
      const end = data.indexOf('\r\n\r\n')
      if (end < 0) {
        if (data.length > headBytesMax) throw new BrokenAnswer('headers that are too large')
        this.#pending = Buffer.from(data)
        return undefined
      }
      const head = this.#heads.read(data.toString('latin1', 0, end))
      data = data.subarray(end + 4)
      if (head.status >= 200) {
        this.#head = head
        this.#left = head.length ?? 0
      } else if (head.status === 101) throw new BrokenAnswer('a switch of protocols that nobody asked for')
      else if (++this.#interims > interimsMax) throw new BrokenAnswer('interim answers without end')
    }
    this.#readBody(this.#head, data)
    return this.#answer()
  }

  /** The connection has ended: the answer, when that was its end. Throws `BrokenAnswer`. */
  end(): ParsedAnswer | undefined {
    if (this.#head?.framing !== 'end') return undefined
    this.#isWhole = true
    return this.#answer()
  }

  #answer(): ParsedAnswer | undefined {
    if (!this.#head || (!this.#isWhole && this.#bodyBytes < this.#bytesWanted)) return undefined
    const { status, retryAfter, isEncoded } = this.#head
    // Encodings were not asked for; what comes in one all the same is of no use to people.
    return { status, retryAfter, body: isEncoded ? noBytes : this.#beginning() }
  }

  #beginning(): Uint8Array {
    const [first = noBytes] = this.#body
    const whole = this.#body.length < 2 ? first : Buffer.concat(this.#body)
    return whole.length <= this.#bytesWanted ? whole : whole.subarray(0, this.#bytesWanted)
  }

  #readBody(head: Head, data: Buffer): void {
    if (head.framing === 'chunks') this.#readChunks(data)
    else if (head.framing === 'end') this.#keep(data)
    else {
      const isBeyond = data.length > this.#left
      this.#keep(isBeyond ? data.subarray(0, this.#left) : data)
      if (isBeyond) this.#pending = data.subarray(this.#left)
      this.#left = Math.max(0, this.#left - data.length)
      this.#isWhole = this.#left === 0
    }
  }

  #readChunks(data: Buffer): void {
    let rest = data
    while (!this.#isWhole) {
      if (this.#chunk === 'data') {
        this.#keep(rest.subarray(0, this.#left))
        const taken = Math.min(this.#left, rest.length)
        this.#left -= taken
        rest = rest.subarray(taken)
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

  #keep(data: Buffer): void {
    if (data.length === 0) return
    if (this.#bodyBytes < this.#bytesWanted) this.#body.push(Buffer.from(data.subarray(0, this.#bytesWanted)))
    this.#bodyBytes += data.length
  }
}

/** An answer that is none; its message says what came instead. */
export class BrokenAnswer extends Error {}

type Head = Readonly<{
  status: number
  framing: 'length' | 'chunks' | 'end'
  length: number | undefined
  keepsConnection: boolean
  retryAfter: string | undefined
  isEncoded: boolean
}>

/** Reads the heads of answers that come over one connection: most of them are the one before, again. */
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
  const status = Number(digits)
  if (status > 599) throw new BrokenAnswer(`the status ${status}, which is none`)
  const headers = new Map<string, string>()
  for (const line of lines) {
    const colon = line.indexOf(':')
    if (colon <= 0) throw new BrokenAnswer('an answer that is not HTTP')
    const name = line.slice(0, colon).toLowerCase()
    const value = line.slice(colon + 1).trim()
    const before = headers.get(name)
    headers.set(name, before === undefined ? value : `${before}, ${value}`)
  }
  const connection = headers.get('connection')?.toLowerCase() ?? ''
  return {
    status,
    ...framingOf(status, headers),
    keepsConnection: minor === '1' ? !connection.includes('close') : connection.includes('keep-alive'),
    retryAfter: headers.get('retry-after'),
    isEncoded: !/^(identity)?$/i.test(headers.get('content-encoding') ?? ''),
  }
}

function framingOf(status: number, headers: ReadonlyMap<string, string>): Pick<Head, 'framing' | 'length'> {
  if (status < 200 || status === 204 || status === 304) return { framing: 'length', length: 0 }
  const encoding = headers.get('transfer-encoding')
  if (encoding !== undefined)
    return { framing: /(^|,)\s*chunked$/i.test(encoding) ? 'chunks' : 'end', length: undefined }
  const length = headers.get('content-length')
  if (length === undefined) return { framing: 'end', length: undefined }
  if (!/^\d{1,15}$/.test(length)) throw new BrokenAnswer('an answer of a length that is none')
  return { framing: 'length', length: Number(length) }
}

function bufferOf(piece: Uint8Array): Buffer {
  return piece instanceof Buffer ? piece : Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
}

const noBytes = new Uint8Array()
const headBytesMax = 65_536
const interimsMax = 20
