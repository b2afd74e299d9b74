import type { Clock, Timer } from '../domain/clock.ts'

/**
 * Collects garbage after large bodies and runs, and again when no more of them end: their records are written later.
 * The collector sees few objects in them, so it would wait until hundreds of megabytes are free to be reused. It works
 * in another thread, so it is started a few times a second at most.
 */
export class Garbage {
  readonly #clock: Pick<Clock, 'setTimer'>
  readonly #collect: () => void
  #bytes = 0
  #isScheduled = false
  #last: Timer | undefined

  constructor(clock: Pick<Clock, 'setTimer'>, collect: () => void) {
    this.#clock = clock
    this.#collect = collect
  }

  /** Counts memory that nobody uses any more. */
  note(bytes: number): void {
    this.#bytes += bytes
    if (this.#isScheduled || this.#bytes < bytesPerCollection) return
    this.#isScheduled = true
    this.#clock.setTimer(afterMs, () => {
      this.#isScheduled = false
      this.#run()
      this.#last?.cancel()
      this.#last = this.#clock.setTimer(idleMs, () => this.#run())
    })
  }

  #run(): void {
    this.#bytes = 0
    this.#collect()
  }
}

const bytesPerCollection = 8_388_608
/** The record of a run, and the response, may still be in use when a body is released. */
const afterMs = 50
const idleMs = 2_000
