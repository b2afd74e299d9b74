import type { Redactor } from './redaction.ts'
import { redactText } from './redaction.ts'

/**
 * Takes secrets out of a text that comes piece by piece. Of half a secret nobody can tell that it is one, so the end of
 * the text is held back until it can be none: the word that is being written, or, where a secret has spaces in it, as
 * much as its longest form. What `push` and `end` give, put together, is the text as a whole without its secrets.
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

  /** What may be read of the text by now and was not given before. */
  push(piece: string): string {
    if (this.#redactor === undefined) return piece
    this.#held += piece
    const space = this.#endsAtSpaces ? this.#held.lastIndexOf(' ') + 1 : 0
    const at = Math.max(space, this.#held.length - this.#formCharsMax)
    return at <= 0 ? '' : this.#release(at)
  }

  /** The rest. */
  end(): string {
    const rest = redactText(this.#held, this.#redactor)
    this.#held = ''
    return rest
  }

  /** Nothing while the cut would go through a secret: then more of the text has to come first. */
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

/** Characters that one of a secret's may take: JSON's `\u00e4`, with a backslash for each backslash in front. */
const formFactor = 8
