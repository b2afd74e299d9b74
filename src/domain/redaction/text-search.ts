/** A text to search for, and the value that it stands for. */
export type Sought<Value> = { text: string; value: Value }

/**
 * Searches for many short texts at once (Wu and Manber's algorithm on pairs of characters). It skips most of a text in
 * steps of almost the length of the shortest needle, however many needles there are.
 */
export class TextSearch<Value> {
  /** How many characters are compared first: the length of the shortest needle. */
  readonly #length: number
  /** How far the window may move, by the hash of its last two characters. */
  readonly #shifts = new Uint8Array(hashes)
  readonly #candidates = new Map<number, Sought<Value>[]>()

  constructor(sought: readonly Sought<Value>[]) {
    this.#length = Math.min(...sought.map(({ text }) => text.length), shiftMax)
    if (this.#length < 2) throw new Error('A needle needs at least two characters.')
    this.#shifts.fill(this.#length - 1)
    for (const one of sought) this.#add(one)
  }

  /**
   * Reports every position where a needle starts, in order. Stops behind `to` and after `comparisonsMax` comparisons;
   * returns where to continue, as the next `from`. The search is over when that is not less than the text's length.
   */
  each(
    text: string,
    found: (at: number, value: Value) => void,
    from = 0,
    { to = text.length, comparisonsMax = Number.POSITIVE_INFINITY } = {},
  ): number {
    const shifts = this.#shifts
    const length = this.#length
    const end = Math.min(to + length - 1, text.length)
    let comparisons = 0
    let at = from + length - 1
    while (at < end && comparisons < comparisonsMax) {
      const hash = hashOf(text.charCodeAt(at - 1), text.charCodeAt(at))
      const shift = shifts[hash] as number
      if (shift > 0) {
        at += shift
        continue
      }
      const start = at - length + 1
      const candidates = this.#candidates.get(hash) as Sought<Value>[]
      comparisons += candidates.length
      for (const one of candidates) if (text.startsWith(one.text, start)) found(start, one.value)
      at += 1
    }
    return at < text.length ? at - length + 1 : text.length
  }

  #add(one: Sought<Value>): void {
    const { text } = one
    for (let index = 1; index < this.#length; index += 1) {
      const hash = hashOf(text.charCodeAt(index - 1), text.charCodeAt(index))
      const shift = this.#length - 1 - index
      this.#shifts[hash] = Math.min(this.#shifts[hash] as number, shift)
      if (shift > 0) continue
      const candidates = this.#candidates.get(hash)
      if (candidates) candidates.push(one)
      else this.#candidates.set(hash, [one])
    }
  }
}

const hashes = 4_096
const shiftMax = 255

function hashOf(first: number, second: number): number {
  return ((first << 5) ^ second) & (hashes - 1)
}
