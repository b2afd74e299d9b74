import type { Steps } from './encoded-text.ts'

/** One encoded form of a secret. `find` locates it in a text; ends are exclusive. */
export type SecretForm = {
  /**
   * A part of the JSON text of every string with this form, for a fast search; undefined when none is long enough. It
   * contains no quote.
   */
  readonly anchor: string | undefined
  /** Every occurrence, or those before the steps ran out. */
  find(text: string, steps: Steps): Occurrence[]
}

export type Occurrence = { start: number; end: number }
