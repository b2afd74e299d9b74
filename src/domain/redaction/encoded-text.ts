/**
 * Reads a text character by character through layers of encoding: JSON escapes nested to any depth, and in addition
 * percent-encoding applied `percentDepth` times (a plus sign is then a space), HTML entities, or unicode escapes of
 * characters that need none. `at` is the position of the next character.
 */
export class EncodedText {
  at = 0
  readonly #text: string
  readonly #steps: Steps
  /** The text before the two digits of an encoded byte; empty when the text is not percent-encoded. */
  readonly #percent: string
  readonly #decoding: Decoding
  /** Whether the last thing read was a backslash. */
  #isEscaped = false

  constructor(text: string, percentDepth: number, steps: Steps, decoding: Decoding = 'none') {
    this.#text = text
    this.#decoding = decoding
    this.#steps = steps
    this.#percent = percentDepth === 0 ? '' : `%${'25'.repeat(percentDepth - 1)}`
  }

  /**
   * Skips the characters that equal those of `wanted` from `index` on and that no encoding changes; returns the count.
   */
  takeSame(wanted: string, index: number): number {
    const text = this.#text
    const start = this.at
    let at = start
    for (let each = index; each < wanted.length; each += 1, at += 1) {
      const code = wanted.charCodeAt(each)
      if (code !== text.charCodeAt(at) || code === backslash || code === percentSign) break
      if (code === ampersand && this.#decoding === 'html') break
    }
    if (at > start) this.#isEscaped = false
    this.#steps.left -= at - start + 1
    this.at = at
    return at - start
  }

  /** Skips `wanted` (a code point other than a backslash) if it comes next in any encoding. */
  take(wanted: number): boolean {
    const start = this.at
    const isEscaped = this.#isEscaped
    this.#isEscaped = false
    const code = this.#next()
    if (code === wanted) return true
    if (code === plus && wanted === space && this.#percent !== '') return true
    if (code === backslash || isEscaped) {
      const letter = code === backslash ? this.#behindBackslashes() : code
      if (letter === wanted && wanted !== none) return true
      if (letter === escapeLetters.get(wanted)) return true
      if (letter === letterU && this.#unicodeEscape() === wanted) return true
    }
    this.at = start
    return false
  }

  /** Skips the backslashes that come next; returns the count. */
  takeBackslashes(): number {
    let count = 0
    let behind = this.at
    while (count < backslashesMax && this.#next() === backslash) {
      count += 1
      behind = this.at
    }
    this.at = behind
    this.#isEscaped = count > 0
    return count
  }

  /** Skips one base64 digit, in either alphabet. */
  takeDigit(wanted: number): boolean {
    const start = this.at
    let code = this.#next()
    if (code === backslash && wanted === slash) code = this.#behindBackslashes()
    if (code === wanted || (wanted === plus && code === minus) || (wanted === slash && code === underscore)) return true
    this.at = start
    return false
  }

  #behindBackslashes(): number {
    let code = this.#next()
    for (let count = 1; code === backslash && count < backslashesMax; count += 1) code = this.#next()
    return code
  }

  /** The code point of `uXXXX`, after its `u`. Reads a surrogate pair as one code point. */
  #unicodeEscape(): number {
    const high = this.#hexDigits(4)
    if (high < 0xd800 || high > 0xdbff) return high
    if (this.#next() !== backslash || this.#behindBackslashes() !== letterU) return none
    const low = this.#hexDigits(4)
    return low < 0xdc00 || low > 0xdfff ? none : 0x10000 + (high - 0xd800) * 0x400 + (low - 0xdc00)
  }

  #hexDigits(count: number): number {
    let value = 0
    for (let left = count; left > 0; left -= 1) {
      const digit = hexDigit(this.#next())
      if (digit === none) return none
      value = value * 16 + digit
    }
    return value
  }

  /** The next code point after all decoding except that of JSON; -1 at the end. */
  #next(): number {
    this.#steps.left -= 1
    const code = this.#text.codePointAt(this.at) ?? none
    if (code === percentSign && this.#percent !== '') {
      const decoded = this.#percentEncoded()
      if (decoded !== none) return decoded
    }
    if (code === ampersand && this.#decoding === 'html') return this.#entity() ?? this.#skip(code)
    if (code === backslash && this.#decoding === 'unicode') return this.#unicodeUnit() ?? this.#skip(code)
    return this.#skip(code)
  }

  #skip(code: number): number {
    this.at += code > 0xffff ? 2 : 1
    return code
  }

  /** The character whose HTML entity comes next; undefined, without reading anything, when there is none. */
  #entity(): number | undefined {
    const end = entityEnd(this.#text, this.at)
    const code = entityCode(this.#text, this.at, end)
    if (code === undefined) return undefined
    this.at = end + 1
    return code
  }

  /** The same for `\uXXXX`; a surrogate pair is one character. */
  #unicodeUnit(): number | undefined {
    const found = unicodeUnits.exec(this.#text.slice(this.at, this.at + unitsCharsMax))
    if (!found) return undefined
    const [whole, high = '', low = '', single = ''] = found
    this.at += whole.length
    if (single !== '') return Number.parseInt(single, 16)
    return String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low, 16)).codePointAt(0)
  }

  /** The character whose UTF-8 bytes come next as `%XX`; -1, without reading anything, when there is none. */
  #percentEncoded(): number {
    const start = this.at
    const first = this.#percentByte()
    const more = first < 0x80 ? 0 : first >= 0xf0 ? 3 : first >= 0xe0 ? 2 : first >= 0xc0 ? 1 : -1
    let code = more === 0 ? first : first & (0x3f >> more)
    for (let left = more; left > 0; left -= 1) {
      const byte = this.#percentByte()
      code = byte >= 0x80 && byte < 0xc0 && code !== none ? code * 64 + (byte & 0x3f) : none
    }
    if (first === none || more === -1 || code === none) {
      this.at = start
      return none
    }
    return code
  }

  #percentByte(): number {
    if (!this.#text.startsWith(this.#percent, this.at)) return none
    const at = this.at + this.#percent.length
    const high = hexDigit(this.#text.charCodeAt(at))
    const low = hexDigit(this.#text.charCodeAt(at + 1))
    if (high === none || low === none) return none
    this.at = at + 2
    return high * 16 + low
  }
}

/** An encoding that is read in addition to JSON escapes and percent-encoding. */
type Decoding = 'none' | 'html' | 'unicode'

/**
 * How many characters may be read while one text is searched. An ordinary text needs a few per character. Without this
 * limit, a text made only of backslashes, with a secret made to match it, would block every request for a minute.
 */
export class Steps {
  left: number

  constructor(chars: number, forms: number) {
    this.left = stepsMin + (stepsPerCharMax + forms) * chars
  }

  get areUsedUp(): boolean {
    return this.left <= 0
  }
}

const stepsMin = 100_000
const stepsPerCharMax = 16

const none = -1
const backslash = 0x5c
const ampersand = 0x26
const percentSign = 0x25
const plus = 0x2b
const minus = 0x2d
const slash = 0x2f
const underscore = 0x5f
const space = 0x20
const letterU = 0x75

/** Six levels of JSON inside JSON. */
const backslashesMax = 64

const semicolon = 0x3b
const numberSign = 0x23
const letterX = 0x78

const entityCharsMax = 12
/** Two units only where they are a surrogate pair. */
const unicodeUnits = /^\\+u(?:(d[89ab][\da-f]{2})\\+u(d[c-f][\da-f]{2})|([\da-f]{4}))/i
const unitsCharsMax = 2 * (backslashesMax + 5)
const entityNames: ReadonlyMap<string, number> = new Map([
  ['amp', ampersand],
  ['lt', 0x3c],
  ['gt', 0x3e],
  ['quot', 0x22],
  ['apos', 0x27],
  ['nbsp', 0xa0],
])

/** The position of the semicolon that ends the HTML entity at `at`; -1 when there is none nearby. */
export function entityEnd(text: string, at: number): number {
  for (let end = at + 1; end < at + entityCharsMax; end += 1) {
    const code = text.charCodeAt(end)
    if (code === semicolon) return end
    if (code === ampersand) return -1
  }
  return -1
}

/** The character of the HTML entity at `at`, whose `entityEnd` is known; undefined when there is none. */
export function entityCode(text: string, at: number, end: number): number | undefined {
  if (end === -1) return undefined
  if (text.charCodeAt(at + 1) !== numberSign) return entityNames.get(text.slice(at + 1, end))
  const isHex = (text.charCodeAt(at + 2) | 0x20) === letterX
  const base = isHex ? 16 : 10
  const from = at + (isHex ? 3 : 2)
  let code = 0
  for (let place = from; place < end; place += 1) {
    const digit = hexDigit(text.charCodeAt(place))
    if (digit === none || digit >= base) return undefined
    code = code * base + digit
  }
  return end > from ? code : undefined
}

const escapeLetters: ReadonlyMap<number, number> = new Map(
  Array.from('\b\f\n\r\t', (character, index) => [character.charCodeAt(0), 'bfnrt'.charCodeAt(index)]),
)

/** The value of a hexadecimal digit; -1 for any other character. */
export function hexDigit(code: number): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30
  const lower = code | 0x20
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x57 : none
}
