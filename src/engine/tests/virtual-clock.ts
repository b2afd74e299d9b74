import { type Clock, systemClock, type Timer } from '../../domain/clock.ts'

type Waiting = { at: number; order: number; run: () => void }

/**
 * The clock of a test. It stands still while anything works, and jumps to the next timer when nothing does: a wait of a
 * day takes no time, and a time limit ends only a run that nothing else would continue.
 */
export class VirtualClock implements Clock {
  #now: number
  readonly #start: number
  #working = 0
  #order = 0
  #isLooking = false
  #isStopped = false
  /** Whether the run has worked since the clock looked for work. */
  #hasWorked = false
  readonly #timers = new Set<Waiting>()

  constructor(start: number) {
    this.#start = start
    this.#now = start
  }

  now(): number {
    return this.#now
  }

  monotonic(): number {
    return this.#now - this.#start
  }

  /** Measures how long the run keeps the thread. A run that asks is at work, so the clock stands still. */
  readonly turns = {
    monotonic: () => {
      this.#hasWorked = true
      return systemClock.monotonic()
    },
  }

  setTimer(delayMs: number, run: () => void): Timer {
    this.#order += 1
    const timer = { at: this.#now + Math.max(0, delayMs), order: this.#order, run }
    this.#timers.add(timer)
    this.#look()
    return { cancel: () => this.#timers.delete(timer) }
  }

  /** The clock stands still until the work has ended. */
  async during<Result>(work: Promise<Result>): Promise<Result> {
    this.#working += 1
    try {
      return await work
    } finally {
      this.#working -= 1
      this.#look()
    }
  }

  /** No timer fires any more. */
  stop(): void {
    this.#isStopped = true
    this.#timers.clear()
  }

  #look(): void {
    if (this.#isLooking || this.#isStopped || this.#working > 0 || this.#timers.size === 0) return
    this.#isLooking = true
    this.#hasWorked = false
    // Twice: a block may yield once before it sets a timer of its own or begins to work.
    setImmediate(() => setImmediate(() => this.#fire()))
  }

  #fire(): void {
    this.#isLooking = false
    if (this.#working > 0 || this.#isStopped) return
    if (this.#hasWorked) {
      this.#look()
      return
    }
    let next: Waiting | undefined
    for (const timer of this.#timers) {
      if (!next || timer.at < next.at || (timer.at === next.at && timer.order < next.order)) next = timer
    }
    if (!next) return
    this.#timers.delete(next)
    this.#now = Math.max(this.#now, next.at)
    next.run()
    this.#look()
  }
}
