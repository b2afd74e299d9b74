import type { Redactor } from './redactor.ts'
import { formCharsMax, RedactionWork } from './string-redaction.ts'

/**
 * Removes secrets from a text that arrives in pieces. A piece may end in the middle of a secret, so the end of the text
 * is held back until it can no longer be part of one: the current word or, if a secret contains spaces, as many
 * characters as its longest form. The concatenated results of `push` and `end` are the redacted text.
 */
export class StreamRedactor {
  readonly #redactor: Redactor | undefined
  readonly #endsAtSpaces: boolean
  readonly #formCharsMax: number
  readonly #work = new RedactionWork()
  #held = ''
  /** How many of the first characters are already released, or belong to a secret that is. */
  #covered = 0

  constructor(redactor: Redactor | undefined) {
    this.#redactor = redactor
    const values = redactor?.secrets.map(({ value }) => value) ?? []
    this.#endsAtSpaces = !values.some((value) => /\s/.test(value))
    this.#formCharsMax = Math.min(formCharsMax, formFactor * Math.max(0, ...values.map(({ length }) => length)))
  }

  /** Adds a piece; returns the text that is safe to show now. */
  push(piece: string): string {
    if (this.#redactor === undefined) return piece
    let released = ''
    for (let from = 0; from < piece.length; from += pieceChars) {
      released += this.#release(this.#redactor, piece.slice(from, from + pieceChars))
    }
    return released
  }

  /** Returns the rest of the text. */
  end(): string {
    const { length } = this.#held
    const rest = this.#redactor === undefined ? '' : this.#redactUntil(this.#redactor, length)
    this.#held = ''
    return rest
  }

  #release(redactor: Redactor, piece: string): string {
    // A text that cannot be searched within the limit must not be shown.
    if (this.#work.isUsedUp) return ''
    this.#held += piece
    const space = this.#endsAtSpaces ? this.#held.lastIndexOf(' ') + 1 : 0
    const at = Math.max(space, this.#held.length - this.#formCharsMax)
    return at <= this.#covered ? '' : this.#redactUntil(redactor, at)
  }

  #redactUntil(redactor: Redactor, at: number): string {
    const { text, chars, covered } = redactor.redactStart(this.#held, at, this.#work, this.#covered)
    this.#held = this.#held.slice(chars)
    this.#covered = covered
    return text
  }
}

const pieceChars = 65_536

/** The most characters that one character of a secret becomes: JSON's `\u00e4`, with doubled backslashes. */
const formFactor = 8
