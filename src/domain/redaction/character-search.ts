import { entityCode, entityEnd, hexDigit } from './encoded-text.ts'

/**
 * Finds the positions in a text where a value may start in any encoding. It reads at most a dozen characters for each
 * position, and rejects almost all that start something else. So a long text made only of `%25` or `&` costs little.
 */
export class CharacterSearch {
  readonly #first: number
  /** 2 for characters beyond U+FFFF. */
  readonly #firstLength: number
  /** The UTF-8 bytes of the first character. */
  readonly #bytes: Uint8Array
  readonly #second: number

  constructor(value: string) {
    const [first = '', second = ''] = value
    this.#first = first.charCodeAt(0)
    this.#firstLength = first.length
    this.#bytes = new TextEncoder().encode(first)
    this.#second = second === '' ? none : second.charCodeAt(0)
  }

  /** The next such position from `from` on, or -1. */
  next(text: string, from: number): number {
    for (let at = from; at < text.length; at += 1) {
      const code = text.charCodeAt(at)
      // Try only the first of several consecutive backslashes: the others lead to the same match.
      if (code === backslash && !(at > from && text.charCodeAt(at - 1) === backslash)) return at
      if (code === this.#first && this.#mayGoOn(text, at + this.#firstLength)) return at
      if (code === plus && this.#first === space) return at
      if (code === percentSign && this.#isPercentEncoded(text, at)) return at
      if (code === ampersand && this.#isEntity(text, at)) return at
    }
    return -1
  }

  /** Whether the second character may be at `at`. Characters that begin an encoding may stand for any. */
  #mayGoOn(text: string, at: number): boolean {
    const code = text.charCodeAt(at)
    if (code === this.#second || code === backslash || code === plus || this.#second === none) return true
    if (code === percentSign) return hexDigit(text.charCodeAt(at + 1)) !== none
    return code === ampersand
  }

  /** Whether the first character, or a backslash before it, is percent-encoded at `at`, any number of times. */
  #isPercentEncoded(text: string, at: number): boolean {
    for (let place = at + 1; ; place += 2) {
      const byte = byteAt(text, place)
      if (byte === backslash) return true
      if (byte === this.#bytes[0]) return this.#isRestEncoded(text, at, place)
      if (byte !== percentSign) return false
    }
  }

  /** The same for the further bytes of the character whose first byte is at `place`. */
  #isRestEncoded(text: string, at: number, place: number): boolean {
    const chars = place + 2 - at
    for (let index = 1; index < this.#bytes.length; index += 1) {
      if (byteAt(text, place + index * chars) !== this.#bytes[index]) return false
    }
    return true
  }

  #isEntity(text: string, at: number): boolean {
    const code = entityCode(text, at, entityEnd(text, at))
    return code === backslash || code === this.#first || (code !== undefined && code > 0xffff)
  }
}

/** The byte that the two hexadecimal digits at `at` stand for; -1 when there are none. */
function byteAt(text: string, at: number): number {
  const high = hexDigit(text.charCodeAt(at))
  const low = hexDigit(text.charCodeAt(at + 1))
  return high === none || low === none ? none : high * 16 + low
}

const none = -1
const backslash = 0x5c
const percentSign = 0x25
const ampersand = 0x26
const plus = 0x2b
const space = 0x20
