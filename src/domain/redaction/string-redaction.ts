import type { Slices } from '../slices.ts'
import { Steps } from './encoded-text.ts'
import type { SecretForm } from './secret-form.ts'

/** A form of the secret with this name. */
export type NamedForm = { name: string; form: SecretForm }

export type Place = { start: number; end: number }

/** The steps that one text may still take. Any text needs few; one made to need many is not stored. */
export class RedactionWork {
  #left = stepsMax
  #pauseAt = stepsMax - stepsPerSlice

  get taken(): number {
    return stepsMax - this.#left
  }

  get isUsedUp(): boolean {
    return this.#left <= 0
  }

  take(steps: number): void {
    this.#left -= steps
  }

  /** True once for each slice of the work. */
  isPauseDue(): boolean {
    if (this.#left > this.#pauseAt) return false
    this.#pauseAt = this.#left - stepsPerSlice
    return true
  }
}

/** A step takes about 10 ns. */
const stepsMax = 50_000_000
const stepsPerSlice = 500_000

/** Replaces every form in a text; the whole text when it cannot be searched within the limit. */
export function redactString(value: string, forms: ReadonlySet<NamedForm>, work: RedactionWork): string {
  const found = findAll(value, forms, work)
  return Array.isArray(found) ? replaceUntil(value.length, value, found, 0) : `{{${found.usedUpBy}}}`
}

/** The same for a long text, in windows. */
export function* redactLongString(value: string, forms: ReadonlySet<NamedForm>, work: RedactionWork): Slices<string> {
  let redacted = ''
  let covered = 0
  let chars = windowChars
  for (let from = 0; from < value.length; yield) {
    const window = value.slice(from, from + chars)
    const isLast = from + window.length === value.length
    const start = redactStart(window, isLast ? window.length : window.length - formCharsMax, forms, work, covered)
    redacted += start.text
    if (work.isUsedUp || isLast) break
    from += start.chars
    covered = start.covered
    chars = start.chars === 0 ? chars * 2 : windowChars
  }
  return redacted
}

const windowChars = 65_536

/** The most characters that identify any form: those of a long secret that count, escaped several times. */
export const formCharsMax = 16_384

/**
 * The beginning of a text without secrets. `chars`: how much of the text it is; `covered`: how many of the characters
 * behind it are in `text`, or belong to a secret that is.
 */
export type RedactedStart = { text: string; chars: number; covered: number }

/**
 * Redacts a text up to `at`, or to the beginning of the form that `at` is in. The first `covered` characters are
 * hidden. `chars` is 0 when more text is needed.
 */
export function redactStart(
  value: string,
  at: number,
  forms: ReadonlySet<NamedForm>,
  work: RedactionWork,
  covered: number,
): RedactedStart {
  const found = findAll(value, forms, work)
  if (!Array.isArray(found)) return { text: `{{${found.usedUpBy}}}`, chars: value.length, covered: 0 }
  const around = matchAround(at, found)
  // Usually it is better not to divide a form, because its end may not be in the text yet.
  // The end of a long secret may not be in the text yet.
  const isOpen = around?.end === value.length && around.end > at && value.length < openCharsMax
  if (isOpen && around.start <= covered + contextChars) return { text: '', chars: 0, covered }
  const cut = around && around.start > covered + contextChars ? around.start : at
  const end = cut === at ? (around?.end ?? at) : cut
  const chars = Math.max(0, cut - contextChars)
  return { text: replaceUntil(cut, value, found, covered), chars, covered: Math.max(covered, end) - chars }
}

/** A form may end differently behind other characters, so some of them stay in front of the rest. */
const contextChars = 8

/** More than the longest secret in any form. */
const openCharsMax = 1_048_576

type Found = Place & { name: string }

/** Sorted by their starts. The longest match first when several start at the same position: it contains the others. */
function findAll(value: string, forms: ReadonlySet<NamedForm>, work: RedactionWork): Found[] | { usedUpBy: string } {
  const found: Found[] = []
  const steps = new Steps(value.length, forms.size)
  let before = steps.left
  for (const { name, form } of forms) {
    for (const { start, end } of form.find(value, steps)) found.push({ start, end, name })
    work.take(before - steps.left + value.length / 16 + 16)
    before = steps.left
    if (steps.areUsedUp || work.isUsedUp) return { usedUpBy: name }
  }
  return found.sort((a, b) => a.start - b.start || b.end - a.end)
}

/** The match that `at` is inside of, together with the matches that overlap it. */
function matchAround(at: number, found: readonly Found[]): Place | undefined {
  let start = 0
  let end = 0
  for (const each of found) {
    if (each.start >= at) break
    if (each.start >= end) start = each.start
    end = Math.max(end, each.end)
  }
  return end > at ? { start, end } : undefined
}

/** The text up to `cut`, but without its first `covered` characters. */
function replaceUntil(cut: number, value: string, found: readonly Found[], covered: number): string {
  let redacted = ''
  let copied = covered
  for (const { start, end, name } of found) {
    if (start >= cut) break
    if (end <= copied) continue
    // Where secrets overlap, remove both completely.
    if (start > copied) redacted += value.slice(copied, start)
    redacted += `{{${name}}}`
    copied = end
  }
  return redacted + value.slice(copied, cut)
}
