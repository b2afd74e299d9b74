import type { Steps } from './encoded-text.ts'
import type { Occurrence, SecretForm } from './secret-form.ts'

/** This many characters identify a long secret. Whatever matches after them is removed as well. */
export const requiredCharsMax = 128

/** A shorter anchor matches too often; a longer one is not found faster. */
const anchorCharsMin = 3
const anchorCharsMax = 8

type FormWithMarker = { find(text: string, steps: Steps, marker: string): Occurrence[] }

/** Another anchor for a form: texts that do not contain the form's own anchor contain this one. */
export class AnchoredForm implements SecretForm {
  readonly anchor: string
  readonly #form: FormWithMarker
  readonly #marker: string

  constructor(anchor: string, form: FormWithMarker) {
    this.anchor = anchor
    this.#marker = JSON.parse(`"${anchor}"`) as string
    this.#form = form
  }

  find(text: string, steps: Steps): Occurrence[] {
    return this.#form.find(text, steps, this.#marker)
  }
}

/** The end of the longest run, because secrets of one kind often share their beginning. */
export function anchorOf(runs: readonly string[] | null, charsMin = anchorCharsMin): string | undefined {
  const longest = (runs ?? []).reduce((best, run) => (run.length > best.length ? run : best), '')
  return longest.length < charsMin ? undefined : longest.slice(-anchorCharsMax)
}

/**
 * Anchors for strings that hold this value with every letter escaped: as `\u0041`, `%41`, `&#65;` or `&#x41;`. Such a
 * string has no unescaped part that could be searched for.
 */
export function escapedAnchorsOf(value: string): string[] {
  const chosen = runToEscape(value.slice(0, requiredCharsMax))
  if (chosen === undefined) return []
  const anchors = [`&#${chosen.charCodeAt(0)};&#${chosen.charCodeAt(1)}`]
  for (const hex of new Set([hexOf(chosen), hexOf(chosen).toUpperCase()])) {
    const [first, second, third] = [hex.slice(0, 2), hex.slice(2, 4), hex.slice(4)]
    anchors.push(`\\\\u00${first}`, `%${first}%${second}%${third}`, `&#x${first};&#`)
  }
  return [...new Set(anchors)].map((anchor) => anchor.slice(0, anchorCharsMax))
}

/**
 * Three consecutive ASCII characters. Prefers letters, because some encoders escape nothing else, and characters whose
 * hex code has only decimal digits, because these need one anchor for both cases.
 */
function runToEscape(start: string): string | undefined {
  let best: string | undefined
  let bestScore = -1
  for (let at = 0; at + 3 <= start.length; at += 1) {
    const run = start.slice(at, at + 3)
    if (!/^[!-~]{3}$/.test(run)) continue
    const score = Number(/^[A-Za-z]/.test(run)) * 4 + Number(/^[A-Za-z]{3}/.test(run)) * 2 + Number(isDecimal(run))
    if (score > bestScore) [best, bestScore] = [run, score]
  }
  return best
}

function isDecimal(run: string): boolean {
  return /^\d+$/.test(hexOf(run))
}

function hexOf(ascii: string): string {
  return Buffer.from(ascii).toString('hex')
}
