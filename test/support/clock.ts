import type { Clock, Timer } from '../../src/domain/clock.ts'

/** A clock that a test advances. */
export class ManualClock implements Clock {
  #nowMs: number
  #elapsedMs = 0
  #timers = new Set<Due>()
  #watchers = new Set<() => void>()

  constructor(nowMs = Date.UTC(2025, 0, 1)) {
    this.#nowMs = nowMs
  }

  now(): number {
    return this.#nowMs
  }

  monotonic(): number {
    return this.#elapsedMs
  }

  setTimer(delayMs: number, run: () => void): Timer {
    const due: Due = { atMs: this.#elapsedMs + Math.max(0, delayMs), run }
    this.#timers.add(due)
    for (const watcher of [...this.#watchers]) watcher()
    return { cancel: () => void this.#timers.delete(due) }
  }

  /** Timers that have neither run nor been cancelled. */
  get pending(): number {
    return this.#timers.size
  }

  /** Milliseconds until the next timer is due. */
  get nextInMs(): number | undefined {
    const next = this.#next()
    return next && next.atMs - this.#elapsedMs
  }

  /** Advances by `ms` and runs the due timers in order, each at its own time. */
  advance(ms: number): void {
    const endMs = this.#elapsedMs + ms
    for (let next = this.#next(); next && next.atMs <= endMs; next = this.#next()) {
      this.#moveTo(next.atMs)
      this.#timers.delete(next)
      next.run()
    }
    this.#moveTo(endMs)
  }

  /** Sets the time of day like an operator, without affecting the timers. */
  setNow(nowMs: number): void {
    this.#nowMs = nowMs
  }

  /** Resolves as soon as at least `count` timers are pending. */
  whenPending(count = 1): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (this.#timers.size < count) return
        this.#watchers.delete(look)
        resolve()
      }
      this.#watchers.add(look)
      look()
    })
  }

  #next(): Due | undefined {
    let next: Due | undefined
    for (const due of this.#timers) if (!next || due.atMs < next.atMs) next = due
    return next
  }

  #moveTo(elapsedMs: number): void {
    this.#nowMs += elapsedMs - this.#elapsedMs
    this.#elapsedMs = elapsedMs
  }
}

type Due = { atMs: number; run: () => void }
