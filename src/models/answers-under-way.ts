/**
 * Counts answers under way, and has garbage collected whenever they have become many more. The beginning of one leaves
 * some 45 KB of it behind. Left to itself the engine collects when that has come to as much as all that lives; the room in
 * between the things that live is then the service's for good. Pure.
 */
export class AnswersUnderWay {
  readonly #collectGarbage: () => void
  #count = 0
  /** How many there have to be for the next collection. */
  #mark = step

  constructor(collectGarbage: () => void) {
    this.#collectGarbage = collectGarbage
  }

  begin(): void {
    this.#count += 1
    if (this.#count < this.#mark) return
    this.#mark = this.#count + step
    this.#collectGarbage()
  }

  /** A number that only goes up and down a little has nothing collected. */
  end(): void {
    this.#count -= 1
    this.#mark = Math.min(this.#mark, Math.max(step, this.#count + 2 * step))
  }
}

const step = 250
