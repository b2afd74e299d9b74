/** Makes texts unique: returns each wanted text itself, or the text with a number. Takes linear time for many texts. */
export class FreeTexts {
  readonly #taken: Set<string>
  /** The next number for each wanted text. */
  readonly #next = new Map<string, number>()
  readonly #key: (text: string) => string

  /** `key`: texts with the same key count as the same. */
  constructor(taken: Iterable<string> = [], key: (text: string) => string = (text) => text) {
    this.#taken = new Set(taken)
    this.#key = key
  }

  has(text: string): boolean {
    return this.#taken.has(this.#key(text))
  }

  take(text: string): void {
    this.#taken.add(this.#key(text))
  }

  /** `numbered`: the text with a number, from 2. */
  free(wanted: string, numbered: (number: number) => string): string {
    let text = wanted
    let number = this.#next.get(this.#key(wanted)) ?? 2
    for (; this.has(text); number += 1) text = numbered(number)
    this.#next.set(this.#key(wanted), number)
    this.take(text)
    return text
  }
}
