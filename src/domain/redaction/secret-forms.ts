import { AnchoredForm, anchorOf, escapedAnchorsOf, requiredCharsMax } from './anchors.ts'
import { base64Forms } from './base64-form.ts'
import { CharacterSearch } from './character-search.ts'
import { EncodedText, type Steps } from './encoded-text.ts'
import { hexForms } from './hex-form.ts'
import type { Occurrence, SecretForm } from './secret-form.ts'

/**
 * The forms of a secret that redaction looks for: the secret itself under any nesting of JSON escapes, percent-encoding
 * and HTML entities, all of it in lower or upper case, as hex, and its base64 at each of the three alignments, also
 * with line breaks. A value that was escaped before it was encoded as base64 is found too.
 */
export function formsOf(secret: string): SecretForm[] {
  const wellFormed = secret.toWellFormed()
  // Headers and lines drop the spaces around a value.
  const trimmed = wellFormed.trim()
  const value = trimmed.length < secretCharsMin ? wellFormed : trimmed
  const number = numberText(value)
  const whole = new TextForm(value)
  const texts = new Set(number === undefined ? [] : [number])
  // Host names are written in lower case. Without an anchor, each form is tried on every text.
  if (whole.anchor !== undefined) texts.add(value.toLowerCase()).add(value.toUpperCase())
  texts.delete(value)
  const escaped = whole.anchor === undefined ? [] : escapedAnchorsOf(value)
  const written = new Set([value, JSON.stringify(value).slice(1, -1), encodeURIComponent(value)])
  return [
    whole,
    ...Array.from(texts, (text) => new TextForm(text)),
    ...escaped.map((anchor) => new AnchoredForm(anchor, whole)),
    ...hexForms(value),
    ...[...written].flatMap((text) => [0, 1, 2].flatMap((place) => base64Forms(text, place))),
  ]
}

/** Shorter values appear in too many texts by chance. */
export const secretCharsMin = 6

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
  readonly #starts: CharacterSearch

  constructor(value: string) {
    this.#value = value
    this.#starts = new CharacterSearch(value)
    this.#required = Math.min(value.length, requiredCharsMax)
    const start = value.slice(0, requiredCharsMax)
    this.anchor = anchorOf(start.match(/[A-Za-z0-9_.-]+/g))
    this.#head = /^[A-Za-z0-9_.-]*/.exec(start)![0]
  }

  /** `marker`: a part of the form that the text contains. */
  find(text: string, steps: Steps, marker = this.anchor): Occurrence[] {
    const readings = readingsOf(text, steps)
    const isEscaped = escapedLetter.test(text)
    const head = isEscaped && marker === undefined ? '' : this.#head
    const found = this.#findIn(text, readings, steps, { from: 0, to: text.length, head })
    if (!isEscaped || head === '' || marker === undefined) return found
    // Where ordinary letters are escaped, the first ones may be. Looking for them everywhere would take too long.
    const window = encodedCharsMax * this.#required
    for (let at = text.indexOf(marker), to = 0; at !== -1; at = text.indexOf(marker, at + 1)) {
      const from = Math.max(to, at - window)
      to = at + 1
      found.push(...this.#findIn(text, readings, steps, { from, to, head: '' }))
    }
    return found
  }

  #findIn(text: string, readings: EncodedText[], steps: Steps, { from, to, head }: Range): Occurrence[] {
    const found: Occurrence[] = []
    for (let start = this.#next(text, from, head); start !== -1 && start < to && !steps.areUsedUp; ) {
      let end = -1
      for (const reading of readings) end = Math.max(end, this.#match(reading, start, head.length))
      if (end !== -1) found.push({ start, end })
      start = this.#next(text, end === -1 ? start + 1 : end, head)
    }
    return found
  }

  /** The next position at which the form may start. */
  #next(text: string, from: number, head: string): number {
    return head === '' ? this.#starts.next(text, from) : text.indexOf(head, from)
  }

  /** The end of the form that starts at `start`, or -1. The first `index` characters are known to be there. */
  #match(text: EncodedText, start: number, index: number): number {
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

/** A text is encoded completely or not at all, so each way to read it is separate. */
function readingsOf(text: string, steps: Steps): EncodedText[] {
  const readings = Array.from({ length: percentDepthOf(text) + 1 }, (_, each) => new EncodedText(text, each, steps))
  if (text.includes('&')) readings.push(new EncodedText(text, 0, steps, 'html'))
  if (text.includes('\\u00')) readings.push(new EncodedText(text, 0, steps, 'unicode'))
  return readings
}

type Range = { from: number; to: number; head: string }

/** The most characters that one character of a form becomes, apart from JSON in JSON that is nested deep. */
const encodedCharsMax = 12
const escapedLetter = /\\u00[2-7]|%[2-7]|&#/

/** How often a text may have been percent-encoded: each time turns a percent sign into `%25`. */
function percentDepthOf(text: string): number {
  let depth = text.includes('%') ? 1 : 0
  while (depth > 0 && depth < percentDepthMax && text.includes(`%${'25'.repeat(depth)}`)) depth += 1
  return depth === 0 && text.includes('+') ? 1 : depth
}

/** The same depth as for JSON inside JSON. */
const percentDepthMax = 6

const backslash = 0x5c
