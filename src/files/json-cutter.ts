import { AppError } from '../domain/errors.ts'
import type { Limit } from '../domain/limits.ts'
import { tooManyFiles } from '../domain/run/file.ts'

export type JsonCutterOptions = {
  /** The names of the fields that contain file items. */
  fields: ReadonlySet<string>
  /** The member that may contain the fields, if they are not at the top. Default: `input`. */
  within?: string | undefined
  /** The maximum number of file items. */
  files: Limit
  /** The text that replaces string number `index`, without quotes. */
  placeholder(index: number): string
  /** Called at the start of a string that is cut out. */
  open(index: number): CutString
  /** Called with the number of bytes of text before they are kept. An exception ends the reading. */
  keeping(bytes: number): void
}

/** Receives the content of one string with resolved escapes. Each character stands for one byte of UTF-8. */
export type CutString = { push(text: string): void; end(): void }

/**
 * Reads JSON in portions of any size and cuts out the `data` strings of file items: at `<field>.data`,
 * `<field>[n].data`, and the same below `within`, unless that is a field itself. Everything else stays text, and is
 * checked when that text is parsed. Throws `INVALID_JSON` for errors inside a string that is cut out.
 *
 * It tracks its position down to the maximum depth of items; below that it only counts brackets. Inside strings it
 * searches for the next quote or backslash, so long strings cost two searches.
 */
export class JsonCutter {
  readonly #options: JsonCutterOptions
  readonly #within: string
  readonly #kept: Uint8Array[] = []
  /** The open brackets, outermost first: whether each is an object, and its current member. */
  readonly #levels: Level[] = []
  #depth = 0
  #state: 'between' | 'string' | 'escape' | 'cut' | 'cut-escape' = 'between'
  /** The raw bytes of the current string, if it may be a relevant member name. */
  #name: Uint8Array[] | undefined
  #expectsName = false
  #cut: CutString | undefined
  #escape = ''
  #count = 0
  /** The lengths of the names that matter. */
  readonly #nameBytes: ReadonlySet<number>

  constructor(options: JsonCutterOptions) {
    this.#options = options
    this.#within = options.within ?? 'input'
    this.#nameBytes = new Set(['data', this.#within, ...options.fields].map((name) => Buffer.byteLength(name)))
  }

  push(portion: Uint8Array): void {
    // Searching a Buffer for a byte is many times as fast.
    const chunk = Buffer.from(portion.buffer, portion.byteOffset, portion.length)
    let at = 0
    let keptFrom = 0
    while (at < chunk.length) {
      if (this.#state === 'cut' || this.#state === 'cut-escape') {
        at = this.#readCut(chunk, at)
        keptFrom = at
      } else if (this.#state === 'between') {
        while (at < chunk.length && !isStructural[chunk[at]!]) at += 1
        if (at === chunk.length) break
        const byte = chunk[at]!
        at += 1
        if (byte === quote && this.#isCutHere()) {
          this.#keep(chunk.subarray(keptFrom, at))
          this.#openCut()
          keptFrom = at
        } else this.#step(byte)
      } else at = this.#readString(chunk, at)
    }
    if (keptFrom < chunk.length && this.#state !== 'cut' && this.#state !== 'cut-escape') {
      this.#keep(chunk.subarray(keptFrom))
    }
  }

  /** Returns the text without the strings that were cut out. */
  end(): Uint8Array {
    if (this.#cut) throw invalid('a string is not terminated')
    return Buffer.concat(this.#kept)
  }

  #keep(bytes: Uint8Array): void {
    if (bytes.length === 0) return
    this.#options.keeping(bytes.length)
    // Copied, because a view would keep the whole portion in memory. (The slice of a Buffer is a view.)
    this.#kept.push(new Uint8Array(bytes))
  }

  #step(byte: number): void {
    switch (byte) {
      case quote: {
        this.#state = 'string'
        this.#name = this.#expectsName && this.#depth <= levelsMax ? [] : undefined
        return
      }
      case openBrace:
      case openBracket: {
        this.#depth += 1
        const isObject = byte === openBrace
        if (this.#depth <= levelsMax) this.#levels.push({ isObject, name: '' })
        this.#expectsName = isObject
        return
      }
      case closeBrace:
      case closeBracket:
        if (this.#depth <= levelsMax) this.#levels.pop()
        this.#depth = Math.max(0, this.#depth - 1)
        this.#expectsName = false
        return
      case comma:
        this.#expectsName = this.#depth <= levelsMax && this.#levels.at(-1)?.isObject === true
        return
      case colon:
        this.#expectsName = false
        return
    }
  }

  /** Reads a string that stays in the text, to its end or the end of the portion. */
  #readString(chunk: Buffer, from: number): number {
    let at = from
    if (this.#state === 'escape') {
      at += 1
      this.#state = 'string'
    }
    // Most strings are short: then this takes a tenth of the time of two searches.
    const nearTo = Math.min(at + nearBytes, chunk.length)
    while (at < nearTo && chunk[at] !== quote && chunk[at] !== backslash) at += 1
    if (at < nearTo && chunk[at] === quote) {
      const isOther = this.#name?.length === 0 && !this.#nameBytes.has(at - from)
      return this.#endString(isOther ? nothing : chunk.subarray(from, at), at)
    }
    let end = -2
    while (at < chunk.length) {
      // Searched again only after passing it, because a string may contain thousands of escapes.
      if (end !== -1 && end < at) end = chunk.indexOf(quote, at)
      const escapeAt = chunk.subarray(at, end < 0 ? chunk.length : end).indexOf(backslash)
      if (escapeAt >= 0) {
        at += escapeAt + 2
        if (at > chunk.length) this.#state = 'escape'
        continue
      }
      if (end >= 0) return this.#endString(chunk.subarray(from, end), end)
      at = chunk.length
    }
    this.#name?.push(new Uint8Array(chunk.subarray(from)))
    return chunk.length
  }

  /** `last`: the last bytes of the string; `end`: the position of its quote. Returns the position after it. */
  #endString(last: Uint8Array, end: number): number {
    this.#state = 'between'
    const level = this.#levels.at(-1)
    if (this.#name && level) {
      level.name = nameOf(this.#name.length === 0 ? last : Buffer.concat([...this.#name, last]))
      this.#expectsName = false
    }
    this.#name = undefined
    return end + 1
  }

  #isCutHere(): boolean {
    if (this.#expectsName || this.#depth < 2 || this.#depth > levelsMax) return false
    const levels = this.#levels
    if (levels.length !== this.#depth || levels.at(-1)?.isObject !== true || levels.at(-1)?.name !== 'data')
      return false
    const { fields } = this.#options
    const isBelow = (start: number): boolean => {
      const parent = levels[start]
      if (!parent?.isObject || !fields.has(parent.name)) return false
      const rest = levels.length - start
      return rest === 2 || (rest === 3 && levels[start + 1]?.isObject === false)
    }
    if (isBelow(0)) return true
    return levels[0]?.isObject === true && levels[0].name === this.#within && !fields.has(this.#within) && isBelow(1)
  }

  #openCut(): void {
    if (this.#count >= this.#options.files.max) throw tooManyFiles(this.#options.files)
    this.#kept.push(Buffer.from(`${this.#options.placeholder(this.#count)}"`))
    this.#cut = this.#options.open(this.#count)
    this.#count += 1
    this.#state = 'cut'
  }

  #readCut(chunk: Buffer, from: number): number {
    let at = from
    let quoteAt = -2
    while (at < chunk.length) {
      if (this.#state === 'cut-escape') {
        this.#readEscape(chunk[at]!)
        at += 1
        continue
      }
      if (quoteAt !== -1 && quoteAt < at) quoteAt = chunk.indexOf(quote, at)
      const end = quoteAt < 0 ? chunk.length : quoteAt
      const escapeAt = chunk.subarray(at, end).indexOf(backslash)
      const stop = escapeAt < 0 ? end : at + escapeAt
      if (stop > at) this.#push(chunk.toString('latin1', at, stop))
      if (escapeAt >= 0) {
        this.#state = 'cut-escape'
        this.#escape = ''
        at = stop + 1
        continue
      }
      if (quoteAt < 0) return chunk.length
      this.#cut?.end()
      this.#cut = undefined
      this.#state = 'between'
      return quoteAt + 1
    }
    return at
  }

  #push(text: string): void {
    // biome-ignore lint/suspicious/noControlCharactersInRegex: JSON has them escaped.
    if (/[\u0000-\u001f]/.test(text)) throw invalid('a string contains an unescaped control character')
    this.#cut?.push(text)
  }

  #readEscape(byte: number): void {
    this.#escape += String.fromCharCode(byte)
    const isUnicode = this.#escape.startsWith('u')
    if (isUnicode && this.#escape.length < 5) return
    try {
      const text = JSON.parse(`"\\${this.#escape}"`) as string
      this.#cut?.push(Buffer.from(text).toString('latin1'))
    } catch (cause) {
      throw invalid(`a string contains the invalid escape \\${this.#escape}`, cause)
    }
    this.#state = 'cut'
  }
}

/** `name`: empty when it is none of those that matter. */
type Level = { isObject: boolean; name: string }

function nameOf(raw: Uint8Array): string {
  const text = Buffer.from(raw.buffer, raw.byteOffset, raw.length).toString()
  if (!text.includes('\\')) return text
  try {
    return JSON.parse(`"${text}"`) as string
  } catch {
    // The parser of the text reports the error.
    return ''
  }
}

/** The deepest place of an item is `{ input: { field: [ { data`. */
const levelsMax = 4

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

const structural = [quote, comma, colon, openBracket, closeBracket, openBrace, closeBrace]
const isStructural = Uint8Array.from({ length: 256 }, (_, byte) => (structural.includes(byte) ? 1 : 0))
/** How many characters of a string are read one by one. */
const nearBytes = 32
const nothing = new Uint8Array()

function invalid(what: string, cause?: unknown): AppError {
  return new AppError('INVALID_JSON', `The body is not JSON: ${what}.`, { cause })
}
