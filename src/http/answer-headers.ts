/**
 * The headers of one answer after another, which differ in some of their values: changing those takes a third less than making
 * them anew, which was a twentieth of what an execution costs in the thread that answers.
 */
export class AnswerHeaders {
  #headers = new Headers()
  #values: Readonly<Record<string, string>> = {}
  #count = 0

  /** To make one `Response` with, at once: it takes a copy. `values` belong to this object from here on. */
  of(values: Readonly<Record<string, string>>): Headers {
    const before = this.#values
    // Nothing of an answer whose headers are refused halfway may stand in the next one.
    this.#values = {}
    let count = 0
    let isAlike = true
    for (const name in values) {
      count += 1
      const value = values[name] as string
      if (before[name] === undefined) isAlike = false
      else if (before[name] !== value) this.#headers.set(name, value)
    }
    if (!isAlike || count !== this.#count) this.#headers = new Headers(values)
    this.#values = values
    this.#count = count
    return this.#headers
  }
}
