import type { Clock, Timer } from '../domain/clock.ts'

/**
 * Limits how many attempts may start now. When runs fill the processor, which shows in several of them ending in one
 * commit after another, deliveries yield: one attempt may start for about seven runs, and the rest waits on disk.
 */
export class Yielding {
  readonly #clock: Clock
  readonly #onRoom: () => void
  #busyUntil = Number.NEGATIVE_INFINITY
  /** Attempts that may start while runs fill the processor. */
  #earned = 0
  #timer: Timer | undefined

  /** `onRoom`: called when attempts may start again. */
  constructor(clock: Clock, onRoom: () => void) {
    this.#clock = clock
    this.#onRoom = onRoom
  }

  /** Counts the runs that were recorded in one commit. */
  recorded(runs: number): void {
    if (runs < crowdedRuns) return
    this.#busyUntil = this.#clock.monotonic() + busyMs
    this.#earned = Math.min(this.#earned + runs * attemptsPerRun, earnedMax)
    if (this.#earned >= 1) this.#onRoom()
  }

  /** The attempts that may start in this turn of the event loop. */
  get room(): number {
    const leftMs = this.#busyUntil - this.#clock.monotonic()
    if (leftMs <= 0) return startsPerTurn
    const room = Math.floor(this.#earned)
    if (room === 0) this.#wakeAfter(leftMs)
    return Math.min(room, startsPerTurn)
  }

  started(): void {
    this.#earned = Math.max(0, this.#earned - 1)
  }

  stop(): void {
    this.#timer?.cancel()
  }

  #wakeAfter(delayMs: number): void {
    this.#timer ??= this.#clock.setTimer(delayMs, () => {
      this.#timer = undefined
      this.#onRoom()
    })
  }
}

/** As many runs in one commit mean that callers wait for one another. */
const crowdedRuns = 4
const busyMs = 20
const attemptsPerRun = 0.15
const earnedMax = 16
/** Attempts started in one turn of the event loop, so that other work gets its turn. */
const startsPerTurn = 16
