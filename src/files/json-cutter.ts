import { AppError } from '../domain/errors.ts'
import { fileItemsMax } from '../domain/file.ts'

export type JsonCutterOptions = {
  /** Names of the fields that hold file items. */
  fields: ReadonlySet<string>
  /** What stands in the text instead of the string number `index`, without quotes. */
  placeholder(index: number): string
  /** Called where a string begins that is cut out. */
  open(index: number): CutString
  /** Told of so many bytes of the text before they are kept; what it throws ends the reading. */
  keeping(bytes: number): void
}

/** Takes the content of one string, its escapes resolved, as characters that each stand for a byte of UTF-8. */
export type CutString = { push(text: string): void; end(): void }

/**
 * Reads JSON in portions of any size and cuts out the `data` of file items: the strings at `<field>.data`,
 * `<field>[n].data`, and the same below `input`, where it is no field itself. Everything else stays text, and is checked
 * by whoever parses it. Throws `INVALID_JSON` for what is wrong inside a string that was cut out.
 *
 * It knows where it is down to the depth where items may be; deeper, it counts brackets. Between quotes it searches
 * for the next quote or backslash, so the long strings cost as much as two searches.
 */
export class JsonCutter {
  readonly #options: JsonCutterOptions
  readonly #kept: Uint8Array[] = []
  /** For each open bracket, the outermost first: whether it is an object, and the member that is being read. */
  readonly #levels: Level[] = []
  #depth = 0
  #state: 'between' | 'string' | 'escape' | 'cut' | 'cut-escape' = 'between'
  /** Where the string being read is a name that may matter: its raw bytes so far. */
  #name: Uint8Array[] | undefined
  #expectsName = false
  #cut: CutString | undefined
  #escape = ''
  #count = 0

  constructor(options: JsonCutterOptions) {
    this.#options = options
  }

  push(portion: Uint8Array): void {
    // A Buffer searches for a byte many times as fast.
    const chunk = Buffer.from(portion.buffer, portion.byteOffset, portion.length)
    let at = 0
    let keptFrom = 0
    while (at < chunk.length) {
      if (this.#state === 'cut' || this.#state === 'cut-escape') {
        at = this.#readCut(chunk, at)
        keptFrom = at
      } else if (this.#state === 'between') {
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

  /** The text without what was cut out. */
  end(): Uint8Array {
    if (this.#cut) throw invalid('a string has no end')
    return Buffer.concat(this.#kept)
  }

  #keep(bytes: Uint8Array): void {
    if (bytes.length === 0) return
    this.#options.keeping(bytes.length)
    // A copy: a view would keep the whole portion in memory. (The slice of a Buffer is a view.)
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

  /** Inside a string that stays: to its end, or the end of the portion. */
  #readString(chunk: Buffer, from: number): number {
    let at = from
    if (this.#state === 'escape') {
      at += 1
      this.#state = 'string'
    }
    let end = -2
    while (at < chunk.length) {
      // Searched for again only when it was passed: a string may hold thousands of escapes.
      if (end !== -1 && end < at) end = chunk.indexOf(quote, at)
      const escapeAt = chunk.subarray(at, end < 0 ? chunk.length : end).indexOf(backslash)
      if (escapeAt >= 0) {
        at += escapeAt + 2
        if (at > chunk.length) this.#state = 'escape'
        continue
      }
      this.#name?.push(new Uint8Array(chunk.subarray(from, end < 0 ? chunk.length : end)))
      if (end < 0) return chunk.length
      this.#endName()
      this.#state = 'between'
      return end + 1
    }
    this.#name?.push(new Uint8Array(chunk.subarray(from)))
    return chunk.length
  }

  #endName(): void {
    const level = this.#levels.at(-1)
    if (!this.#name || !level) return
    const raw = Buffer.concat(this.#name).toString()
    this.#name = undefined
    this.#expectsName = false
    try {
      level.name = raw.includes('\\') ? (JSON.parse(`"${raw}"`) as string) : raw
    } catch {
      // Whoever parses the text will say so.
      level.name = ''
    }
  }

  #isCutHere(): boolean {
    if (this.#expectsName || this.#depth < 2 || this.#depth > levelsMax) return false
    const levels = this.#levels
    if (levels.length !== this.#depth || levels.at(-1)?.isObject !== true || levels.at(-1)?.name !== 'data')
      return false
    const { fields } = this.#options
    const isBelow = (start: number): boolean => {
      const holder = levels[start]
      if (!holder?.isObject || !fields.has(holder.name)) return false
      const rest = levels.length - start
      return rest === 2 || (rest === 3 && levels[start + 1]?.isObject === false)
    }
    if (isBelow(0)) return true
    return levels[0]?.isObject === true && levels[0].name === 'input' && !fields.has('input') && isBelow(1)
  }

  #openCut(): void {
    if (this.#count >= fileItemsMax) {
      throw new AppError('INVALID_INPUT', `A request holds at most ${fileItemsMax} file items.`)
    }
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
    if (/[\u0000-\u001f]/.test(text)) throw invalid('a string holds a control character that is not escaped')
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
      throw invalid(`a string holds the escape \\${this.#escape}, which JSON does not know`, cause)
    }
    this.#state = 'cut'
  }
}

type Level = { isObject: boolean; name: string }

/** `{ input: { field: [ { data` is the deepest place of an item. */
const levelsMax = 4

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const openBracket = 0x5b
const backslash = 0x5c
const closeBracket = 0x5d
const openBrace = 0x7b
const closeBrace = 0x7d

function invalid(what: string, cause?: unknown): AppError {
  return new AppError('INVALID_JSON', `The body is not JSON: ${what}.`, { cause })
}
