import type { Clock, Timer } from '../domain/clock.ts'

/**
 * How many attempts may start now. When runs fill the processor (several end in one commit, again and again) deliveries
 * yield to them: one attempt for some seven runs, the rest waits on disk until there are fewer.
 */
export class Yielding {
  readonly #clock: Clock
  readonly #onRoom: () => void
  #busyUntil = Number.NEGATIVE_INFINITY
  /** Attempts that runs have earned while they fill the processor. */
  #earned = 0
  #timer: Timer | undefined

  /** `onRoom`: called when attempts may start again. */
  constructor(clock: Clock, onRoom: () => void) {
    this.#clock = clock
    this.#onRoom = onRoom
  }

  /** Runs that were recorded in one commit. */
  recorded(runs: number): void {
    if (runs < crowdedRuns) return
    this.#busyUntil = this.#clock.monotonic() + busyMs
    this.#earned = Math.min(this.#earned + runs * attemptsPerRun, earnedMax)
    if (this.#earned >= 1) this.#onRoom()
  }

  /** Attempts that may start in this turn of the loop. */
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

/** Runs in one commit that say that callers wait for one another. */
const crowdedRuns = 4
const busyMs = 20
const attemptsPerRun = 0.15
const earnedMax = 16
/** In one turn of the loop, so that what else there is to do has its turn. */
const startsPerTurn = 16
