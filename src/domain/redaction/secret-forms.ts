import { EncodedText, type Steps } from './encoded-text.ts'

/** One encoded form of a secret. `find` locates it in a text; ends are exclusive. */
export type SecretForm = {
  /** A part of the form that no encoding changes, for a fast search; undefined when none is long enough. */
  readonly anchor: string | undefined
  /** Every occurrence, or those before the steps ran out. */
  find(text: string, steps: Steps): Occurrence[]
}

export type Occurrence = { start: number; end: number }

/**
 * The forms of a secret that redaction looks for: the secret itself under any nesting of JSON escapes and
 * percent-encoding, and its base64 at each of the three alignments. A value that was escaped before it was encoded as
 * base64 is found too.
 */
export function formsOf(secret: string): SecretForm[] {
  const wellFormed = secret.toWellFormed()
  // Headers and lines drop the spaces around a value.
  const trimmed = wellFormed.trim()
  const value = trimmed.length < secretCharsMin ? wellFormed : trimmed
  const number = numberText(value)
  const texts = number === undefined ? [value] : [value, number]
  const written = new Set([value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)])
  return [
    ...texts.map((text) => new TextForm(text)),
    ...[...written].flatMap((text) => [0, 1, 2].map((place) => new Base64Form(text, place))),
  ]
}

/** Shorter values appear in too many texts by chance. */
export const secretCharsMin = 6

/** A shorter anchor matches too often; a longer one is not found faster. */
const anchorCharsMin = 3
const anchorCharsMax = 8

/** This many characters identify a long secret. Whatever matches after them is removed as well. */
const requiredCharsMax = 128

/** A numeric secret may come back as a number: `0.50` as 0.5, and more digits than a number holds as rounded. */
function numberText(value: string): string | undefined {
  if (!/^[+-]?\d+(\.\d+)?([eE][+-]?\d+)?$/.test(value)) return undefined
  const text = String(Number(value))
  return text.length < secretCharsMin || text === value || text.includes('e') ? undefined : text
}

class TextForm implements SecretForm {
  readonly anchor: string | undefined
  readonly #value: string
  readonly #required: number
  /** The part at the beginning that every encoding leaves unchanged. */
  readonly #head: string

  constructor(value: string) {
    this.#value = value
    this.#required = Math.min(value.length, requiredCharsMax)
    const start = value.slice(0, requiredCharsMax)
    this.anchor = anchorOf(start.match(/[A-Za-z0-9_.-]+/g))
    this.#head = /^[A-Za-z0-9_.-]*/.exec(start)![0]
  }

  find(text: string, steps: Steps): Occurrence[] {
    const readings = readingsOf(text, steps)
    const found: Occurrence[] = []
    for (let start = this.#next(text, 0); start !== -1 && !steps.areUsedUp; ) {
      let end = -1
      for (const reading of readings) end = Math.max(end, this.#match(reading, start))
      if (end !== -1) found.push({ start, end })
      start = this.#next(text, end === -1 ? start + 1 : end)
    }
    return found
  }

  /** The next position at which the form may start. */
  #next(text: string, from: number): number {
    if (this.#head !== '') return text.indexOf(this.#head, from)
    const first = this.#value.charCodeAt(0)
    for (let at = from; at < text.length; at += 1) {
      const code = text.charCodeAt(at)
      // Try only the first of several consecutive backslashes: the others lead to the same match.
      if (code === backslash && !(at > from && text.charCodeAt(at - 1) === backslash)) return at
      if (code === percentSign || (code === plus && first === space) || code === first) return at
    }
    return -1
  }

  /** The end of the form that starts at `start`, or -1. */
  #match(text: EncodedText, start: number): number {
    let index = this.#head.length
    text.at = start + index
    while (index < this.#value.length) {
      const same = text.takeSame(this.#value, index)
      index += same
      if (index === this.#value.length) break
      const wanted = this.#value.codePointAt(index) as number
      const taken = wanted === backslash ? this.#matchBackslashes(text, index) : text.take(wanted) ? 1 : 0
      if (taken === 0) return index >= this.#required ? text.at : -1
      index += wanted > 0xffff ? 2 : taken
    }
    return text.at
  }

  /**
   * Consecutive backslashes are at least as many in every encoding; the ones that escape the next character belong to
   * them.
   */
  #matchBackslashes(text: EncodedText, index: number): number {
    let wanted = 1
    while (this.#value.charCodeAt(index + wanted) === backslash) wanted += 1
    const start = text.at
    if (text.takeBackslashes() >= wanted) return wanted
    text.at = start
    return 0
  }
}

/** A text is percent-encoded completely or not at all, so each depth is read separately. */
function readingsOf(text: string, steps: Steps): EncodedText[] {
  return Array.from({ length: percentDepthOf(text) + 1 }, (_, each) => new EncodedText(text, each, steps))
}

/** How often a text may have been percent-encoded: each time turns a percent sign into `%25`. */
function percentDepthOf(text: string): number {
  let depth = text.includes('%') ? 1 : 0
  while (depth > 0 && depth < percentDepthMax && text.includes(`%${'25'.repeat(depth)}`)) depth += 1
  return depth === 0 && text.includes('+') ? 1 : depth
}

/** The same depth as for JSON inside JSON. */
const percentDepthMax = 6

const backslash = 0x5c
const percentSign = 0x25
const plus = 0x2b
const space = 0x20

/** The base64 of a secret that starts `place` bytes into a group of three. */
class Base64Form implements SecretForm {
  readonly anchor: string | undefined
  /** The characters that depend only on the secret. */
  readonly #core: string
  readonly #required: number
  readonly #head: string
  /** The bits of the secret in the characters before and after the core. */
  readonly #before: (digit: number) => boolean
  readonly #behind: (digit: number) => boolean

  constructor(value: string, place: number) {
    const bytes = new TextEncoder().encode(value)
    const padded = new Uint8Array(place + bytes.length)
    padded.set(bytes, place)
    const all = padded.toBase64({ omitPadding: true })
    const first = Math.ceil((place * 8) / 6)
    const last = Math.floor((padded.length * 8) / 6)
    this.#core = all.slice(first, last)
    this.#required = Math.min(this.#core.length, requiredCharsMax)
    const start = this.#core.slice(0, requiredCharsMax)
    this.anchor = anchorOf(start.match(/[A-Za-z0-9]+/g))
    this.#head = /^[A-Za-z0-9]*/.exec(start)![0]
    const low = place === 0 ? 0 : 2 * (3 - place)
    const lowBits = low === 0 ? 0 : digits.indexOf(all[first - 1] as string) & (2 ** low - 1)
    this.#before = (digit) => low > 0 && (digit & (2 ** low - 1)) === lowBits
    const high = (padded.length * 8) % 6
    const highBits = high === 0 ? 0 : digits.indexOf(all[last] as string) >> (6 - high)
    this.#behind = (digit) => high > 0 && digit >> (6 - high) === highBits
  }

  find(text: string, steps: Steps): Occurrence[] {
    const encoded = new EncodedText(text, 1, steps)
    const found: Occurrence[] = []
    for (let start = this.#next(text, 0); start !== -1 && !steps.areUsedUp; ) {
      const end = this.#match(encoded, start)
      if (end !== -1) found.push(this.#widen(text, start, end))
      start = this.#next(text, end === -1 ? start + 1 : end)
    }
    return found
  }

  #next(text: string, from: number): number {
    if (this.#head !== '') return text.indexOf(this.#head, from)
    for (let at = from; at < text.length; at += 1) if ('+/-_%\\'.includes(text[at] as string)) return at
    return -1
  }

  #match(text: EncodedText, start: number): number {
    text.at = start + this.#head.length
    for (let index = this.#head.length; index < this.#core.length; index += 1) {
      index += text.takeSame(this.#core, index)
      if (index === this.#core.length) break
      if (!text.takeDigit(this.#core.charCodeAt(index))) return index >= this.#required ? text.at : -1
    }
    return text.at
  }

  /** Includes the characters that hold some bits of the secret; the whole text if it is nothing but base64. */
  #widen(text: string, start: number, end: number): Occurrence {
    const before = start === 0 ? undefined : (digitOf(text, start - 1) ?? escapedDigit(text, start - 3, start))
    const behind = end === text.length ? undefined : (digitOf(text, end) ?? escapedDigit(text, end, end + 3))
    const from = before && this.#before(before.digit) ? start - before.chars : start
    let to = behind && this.#behind(behind.digit) ? end + behind.chars : end
    if (from === 0 || !digitOf(text, from - 1)) while (to < end + 3 && text[to] === '=') to += 1
    return { start: from, end: to }
  }
}

const digits = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_'

/** A base64 digit and the number of characters it occupies. */
type Digit = { digit: number; chars: number }

function digitOf(text: string, at: number): Digit | undefined {
  const digit = digits.indexOf(text.charAt(at))
  return digit === -1 ? undefined : { digit: digit < 64 ? digit : digit - 2, chars: 1 }
}

function escapedDigit(text: string, start: number, end: number): Digit | undefined {
  const escaped = text.slice(Math.max(0, start), end).toUpperCase()
  if (escaped.startsWith('\\/')) return { digit: 63, chars: 2 }
  if (escaped === '%2B') return { digit: 62, chars: 3 }
  return escaped === '%2F' ? { digit: 63, chars: 3 } : undefined
}

/** The end of the longest run, because secrets of one kind often share their beginning. */
function anchorOf(runs: readonly string[] | null): string | undefined {
  const longest = (runs ?? []).reduce((best, run) => (run.length > best.length ? run : best), '')
  return longest.length < anchorCharsMin ? undefined : longest.slice(-anchorCharsMax)
}
