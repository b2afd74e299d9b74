import type { Clock, Timer } from '../domain/clock.ts'

/**
 * Collects garbage after large bodies and runs, and again when no more of them end: their records are written later.
 * The collector sees few objects in them, so it would wait until hundreds of megabytes are free to be reused. A
 * collection takes 3 to 10 ms. At most a fiftieth of the time goes to it.
 */
export class Garbage {
  readonly #clock: Pick<Clock, 'monotonic' | 'setTimer'>
  readonly #collect: () => void
  #bytes = 0
  #isScheduled = false
  #restUntil = Number.NEGATIVE_INFINITY
  #last: Timer | undefined

  constructor(clock: Pick<Clock, 'monotonic' | 'setTimer'>, collect: () => void) {
    this.#clock = clock
    this.#collect = collect
  }

  /** Counts memory that nobody uses any more. */
  note(bytes: number): void {
    this.#bytes += bytes
    if (this.#isScheduled || this.#bytes < bytesPerCollection) return
    this.#isScheduled = true
    const delayMs = Math.max(afterMs, this.#restUntil - this.#clock.monotonic())
    this.#clock.setTimer(delayMs, () => {
      this.#isScheduled = false
      this.#run()
      this.#last?.cancel()
      this.#last = this.#clock.setTimer(idleMs, () => this.#run())
    })
  }

  #run(): void {
    this.#bytes = 0
    const startedAt = this.#clock.monotonic()
    this.#collect()
    const endedAt = this.#clock.monotonic()
    this.#restUntil = endedAt + restFactor * (endedAt - startedAt)
  }
}

const bytesPerCollection = 8_388_608
/** The record of a run, and the response, may still be in use when a body is released. */
const afterMs = 100
const idleMs = 2_000
const restFactor = 50
