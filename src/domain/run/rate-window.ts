export type Rate = { count: number; windowMs: number }
/** Starts that leave the window together. `first` and `last`: the times of the first and the last one. */
export type RateEntry = { first: number; last: number; count: number }

/**
 * A sliding window: at most `count` starts in any period of `windowMs`. The first 64 starts have an entry each. Further
 * starts within a 64th of the window share an entry and leave the window together with the last of them. So the memory
 * is constant, and the effective rate is at most a 64th lower. Times must never go back.
 */
export class RateWindow {
  readonly #entries: RateEntry[]
  #total: number

  constructor(entries: readonly RateEntry[] = []) {
    this.#entries = entries.map((entry) => ({ ...entry }))
    this.#total = entries.reduce((sum, { count }) => sum + count, 0)
  }

  get entries(): readonly RateEntry[] {
    return this.#entries
  }

  /** The number of starts in the window that ends now. */
  count(now: number, { windowMs }: Rate): number {
    let gone = 0
    for (const { last, count } of this.#entries) {
      if (now - last < windowMs) break
      gone += 1
      this.#total -= count
    }
    if (gone > 0) this.#entries.splice(0, gone)
    return this.#total
  }

  add(now: number, { windowMs }: Rate): void {
    this.#total += 1
    const latest = this.#entries.at(-1)
    if (latest && this.#entries.length >= entriesMax / 2 && now - latest.first < (2 * windowMs) / entriesMax) {
      latest.last = now
      latest.count += 1
    } else this.#entries.push({ first: now, last: now, count: 1 })
  }

  /** The time from which fewer than `count` starts are in the window, if nothing starts before. */
  freeAt(count: number, { windowMs }: Rate): number {
    let left = this.#total
    for (const { last, count: gone } of this.#entries) {
      left -= gone
      if (left < count) return last + windowMs
    }
    return Number.NEGATIVE_INFINITY
  }
}

/** One half is for single starts, the other half for entries that starts share. */
const entriesMax = 128
