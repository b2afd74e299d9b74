import { AnchoredForm, anchorOf, requiredCharsMax } from './anchors.ts'
import { EncodedText, hexDigit, type Steps } from './encoded-text.ts'
import type { Occurrence, SecretForm } from './secret-form.ts'

/** The forms that find the base64 of a text that starts `place` bytes into a group of three. */
export function base64Forms(text: string, place: number): SecretForm[] {
  const form = new Base64Form(text, place)
  const [first, second] = form.halves
  if (first === undefined || second === undefined) return [form]
  return [new AnchoredForm(first, form), new AnchoredForm(second, form)]
}

class Base64Form implements SecretForm {
  readonly anchor: string | undefined
  /** Two anchors that one line break cannot both cut, if the form is long enough. */
  readonly halves: readonly string[]
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
    this.halves = halvesOf(start.slice(0, lineCharsMin))
    this.#head = /^[A-Za-z0-9]*/.exec(start)![0]
    const low = place === 0 ? 0 : 2 * (3 - place)
    const lowBits = low === 0 ? 0 : digits.indexOf(all[first - 1] as string) & (2 ** low - 1)
    this.#before = (digit) => low > 0 && (digit & (2 ** low - 1)) === lowBits
    const high = (padded.length * 8) % 6
    const highBits = high === 0 ? 0 : digits.indexOf(all[last] as string) >> (6 - high)
    this.#behind = (digit) => high > 0 && digit >> (6 - high) === highBits
  }

  find(text: string, steps: Steps): Occurrence[] {
    const found = this.#findIn(text, steps)
    const unwrapped = unwrap(text)
    if (!unwrapped) return found
    for (const { start, end } of this.#findIn(unwrapped.text, steps))
      found.push({ start: unwrapped.placeOf(start), end: unwrapped.placeOf(end - 1) + 1 })
    return found
  }

  #findIn(text: string, steps: Steps): Occurrence[] {
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
    for (let at = from; at < text.length; at += 1) {
      if (!'+/-_%\\'.includes(text[at] as string)) continue
      if (text.charCodeAt(at) !== percentSign || hexDigit(text.charCodeAt(at + 1)) !== -1) return at
    }
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

const percentSign = 0x25

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

/** PEM has the shortest lines. The next line break is at least this far away. */
const lineCharsMin = 64
const halfCharsMin = 5

/** An anchor for each half; none when the form is too short for two. */
function halvesOf(start: string): string[] {
  const middle = start.length >> 1
  const anchors = [start.slice(0, middle), start.slice(middle)].map((half) =>
    anchorOf(half.match(/[A-Za-z0-9]+/g), halfCharsMin),
  )
  return anchors.filter((anchor) => anchor !== undefined).length === 2 ? (anchors as string[]) : []
}

/** The text without line breaks between base64 digits, and where its characters are in the original. */
function unwrap(text: string): { text: string; placeOf(at: number): number } | undefined {
  const parts: Part[] = []
  let removed = 0
  const unwrapped = text.replace(lineBreak, (found, at: number) => {
    removed += found.length
    parts.push({ start: at + found.length - removed, removed })
    return ''
  })
  if (removed === 0) return undefined
  return { text: unwrapped, placeOf: (at) => at + removedBefore(parts, at) }
}

/** Where a part of the unwrapped text starts, and how many characters were removed before it. */
type Part = { start: number; removed: number }

function removedBefore(parts: readonly Part[], at: number): number {
  let low = 0
  let high = parts.length
  while (low < high) {
    const middle = (low + high) >> 1
    if (parts[middle]!.start <= at) low = middle + 1
    else high = middle
  }
  return parts[low - 1]?.removed ?? 0
}

/** As it is, JSON-escaped or percent-encoded; continued lines of headers are indented. */
const lineBreak = /(?<=[A-Za-z0-9+/_-])(?:\r?\n|(?:\\+r)?\\+n|(?:%0D)?%0A)[ \t]*(?=[A-Za-z0-9+/=_-])/gi
