import { DatabaseError } from '../../domain/database/database.ts'

/** An error that the server replied with. Inside a list, it is the value `{ error }`. */
export class RedisRefusal extends Error {}

export type ReplyBounds = { bytesMax: number; valuesMax: number; depthMax: number }

type Open = { type: string; left: number; items: unknown[] }

/**
 * Reads replies of the protocols RESP2 and RESP3 as JSON data, however the server divides them into packets. Every byte
 * is looked at once. Throws a `DatabaseError` for replies that exceed a bound or are no replies.
 */
export class ReplyReader {
  readonly #bounds: ReplyBounds
  readonly #receive: (reply: unknown) => void
  #chunks: Uint8Array[] = []
  #size = 0
  /** The next token needs this many bytes in all. */
  #wanted = 1
  /** How much of an incomplete line is known to have no end. */
  #scanned = 0
  #open: Open[] = []
  #values = 0
  #bytes = 0

  /** `receive` gets each complete reply, a `RedisRefusal` for an error. */
  constructor(bounds: ReplyBounds, receive: (reply: unknown) => void) {
    this.#bounds = bounds
    this.#receive = receive
  }

  add(chunk: Uint8Array): void {
    this.#chunks.push(chunk)
    this.#size += chunk.byteLength
    this.#bytes += chunk.byteLength
    if (this.#bytes > this.#bounds.bytesMax) throw tooLarge(`more than ${this.#bounds.bytesMax} bytes`)
    if (this.#size < this.#wanted) return
    const data = this.#chunks.length === 1 ? Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength) : this.#all()
    let at = 0
    for (let end = this.#token(data, at); end !== undefined; end = this.#token(data, at)) at = end
    this.#chunks = at === data.byteLength ? [] : [data.subarray(at)]
    this.#size = data.byteLength - at
  }

  #all(): Buffer {
    return Buffer.concat(this.#chunks)
  }

  /** Reads one token; returns where it ends, or undefined when it is not complete. */
  #token(data: Buffer, at: number): number | undefined {
    const lineEnd = data.indexOf('\r\n', Math.max(at, at + this.#scanned - 1))
    if (lineEnd === -1) {
      this.#scanned = data.byteLength - at
      if (this.#scanned > lineBytesMax) throw nonsense()
      this.#wanted = data.byteLength - at + 1
      return undefined
    }
    this.#scanned = 0
    const type = String.fromCharCode(data[at]!)
    const line = data.toString('utf8', at + 1, lineEnd)
    const next = lineEnd + 2
    if (!'$=!'.includes(type)) {
      this.#take(type, line)
      this.#wanted = 1
      return next
    }
    const length = lengthOf(line)
    if (length > this.#bounds.bytesMax) throw tooLarge(`a text of ${length} bytes`)
    if (length === -1) {
      this.#give(null)
      this.#wanted = 1
      return next
    }
    if (data.byteLength < next + length + 2) {
      this.#wanted = next + length + 2 - at
      return undefined
    }
    this.#wanted = 1
    const bytes = data.subarray(next, next + length)
    if (data.readUInt16BE(next + length) !== 0x0d0a) throw nonsense()
    if (type === '!') this.#give(new RedisRefusal(bytes.toString('utf8')))
    // A verbatim text begins with its format, as in `txt:`.
    else this.#give(textOf(type === '=' ? bytes.subarray(4) : bytes))
    return next + length + 2
  }

  #take(type: string, line: string): void {
    const parse = simple.get(type)
    if (parse) this.#give(parse(line))
    else if ('*~>'.includes(type)) this.#begin(type, lengthOf(line))
    else if ('%|'.includes(type)) this.#begin(type, lengthOf(line) * 2)
    else throw nonsense()
  }

  #begin(type: string, length: number): void {
    if (length < 0) {
      this.#give(null)
      return
    }
    if (this.#open.length >= this.#bounds.depthMax) throw tooLarge(`more than ${this.#bounds.depthMax} levels of lists`)
    this.#values += 1
    if (this.#values + length > this.#bounds.valuesMax) throw tooLarge(`more than ${this.#bounds.valuesMax} values`)
    this.#open.push({ type, left: length, items: [] })
    this.#closeComplete()
  }

  #give(value: unknown): void {
    this.#values += 1
    if (this.#values > this.#bounds.valuesMax) throw tooLarge(`more than ${this.#bounds.valuesMax} values`)
    const inner = this.#open.at(-1)
    if (!inner) {
      this.#end(value)
      return
    }
    inner.items.push(value instanceof RedisRefusal ? { error: value.message } : value)
    inner.left -= 1
    this.#closeComplete()
  }

  #closeComplete(): void {
    for (let last = this.#open.at(-1); last?.left === 0; last = this.#open.at(-1)) {
      this.#open.pop()
      // Attributes describe the next value, and pushed messages are no replies.
      if (last.type === '|' || (last.type === '>' && this.#open.length === 0)) continue
      const value = last.type === '%' ? objectOf(last.items) : last.items
      const outer = this.#open.at(-1)
      if (!outer) {
        this.#end(value)
        return
      }
      outer.items.push(value)
      outer.left -= 1
    }
  }

  #end(reply: unknown): void {
    this.#values = 0
    this.#bytes = 0
    this.#receive(reply)
  }
}

/** The values that are one line, by their first character. */
const simple: ReadonlyMap<string, (line: string) => unknown> = new Map([
  ['+', (line: string): unknown => line],
  ['-', (line) => new RedisRefusal(line)],
  [':', (line) => numberOf(line, Number.isSafeInteger)],
  ['(', (line) => numberOf(line, Number.isSafeInteger)],
  [',', (line) => numberOf(line, Number.isFinite)],
  ['#', (line) => line === 't'],
  ['_', () => null],
])

function lengthOf(line: string): number {
  if (!/^(-1|\d{1,10})$/.test(line)) throw nonsense()
  return Number(line)
}

function numberOf(line: string, isExact: (number: number) => boolean): number | string {
  const number = Number(line)
  return line !== '' && isExact(number) ? number : line
}

/** Bytes that are not UTF-8 have no JSON form, so they become base64. */
function textOf(bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch {
    return bytes.toBase64()
  }
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function objectOf(items: readonly unknown[]): Record<string, unknown> {
  const pairs: [string, unknown][] = []
  for (let at = 0; at + 1 < items.length; at += 2) {
    const key = items[at]
    pairs.push([typeof key === 'string' ? key : JSON.stringify(key), items[at + 1]])
  }
  return Object.fromEntries(pairs)
}

function tooLarge(found: string): DatabaseError {
  return new DatabaseError(
    'RESPONSE_TOO_LARGE',
    `The reply has ${found}. Ask for less, for example with SCAN or ranges.`,
  )
}

function nonsense(): DatabaseError {
  return new DatabaseError('CONNECTION_FAILED', 'The server sent something that is not a reply of Redis.')
}

const lineBytesMax = 65_536
