import type { Redactor } from './redactor.ts'
import { redactText } from './redactor.ts'

/**
 * Removes secrets from a text that arrives in pieces. A piece may end in the middle of a secret, so the end of the text
 * is held back until it can no longer be part of one: the current word or, if a secret contains spaces, as many
 * characters as its longest form. The concatenated results of `push` and `end` are the redacted text.
 */
export class StreamRedactor {
  readonly #redactor: Redactor | undefined
  readonly #endsAtSpaces: boolean
  readonly #formCharsMax: number
  #held = ''

  constructor(redactor: Redactor | undefined) {
    this.#redactor = redactor
    const values = redactor?.secrets.map(({ value }) => value) ?? []
    this.#endsAtSpaces = !values.some((value) => /\s/.test(value))
    this.#formCharsMax = formFactor * Math.max(0, ...values.map(({ length }) => length))
  }

  /** Adds a piece; returns the text that is safe to show now. */
  push(piece: string): string {
    if (this.#redactor === undefined) return piece
    this.#held += piece
    const space = this.#endsAtSpaces ? this.#held.lastIndexOf(' ') + 1 : 0
    const at = Math.max(space, this.#held.length - this.#formCharsMax)
    return at <= 0 ? '' : this.#release(at)
  }

  /** Returns the rest of the text. */
  end(): string {
    const rest = redactText(this.#held, this.#redactor)
    this.#held = ''
    return rest
  }

  /** Releases nothing while the cut would split a secret; more text must arrive first. */
  #release(at: number): string {
    const before = this.#held.slice(0, at)
    const behind = this.#held.slice(at)
    const released = redactText(before, this.#redactor)
    const whole = redactText(this.#held, this.#redactor)
    if (whole !== this.#held && released + redactText(behind, this.#redactor) !== whole) return ''
    this.#held = behind
    return released
  }
}

/** The most characters that one character of a secret becomes: JSON's `\u00e4`, with doubled backslashes. */
const formFactor = 8
