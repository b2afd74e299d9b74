import type { Clock, Timer } from '../../domain/clock.ts'
import type { JobFacts } from '../../domain/run/job.ts'
import type { DuePauses as Ended } from '../../domain/run/pause.ts'

export type DuePausesOptions = {
  store: { endDuePauses(at: number, limit: number): Promise<Ended> }
  clock: Clock
  /** How often to look for pauses that other processes have written; undefined when there is no other process. */
  lookEveryMs: number | undefined
  /** Continues the runs of pauses that have ended. */
  resume(jobs: readonly JobFacts[]): void
  /** The number of runs that wait to continue. */
  waiting(): number
  onFailure(cause: unknown): void
}

/**
 * Ends pauses when their time comes. Only the next time is in memory: the store finds the pauses, however many there
 * are. After a long stop, a million may be due at once; then they end as their runs get their turns.
 */
export class DuePauses {
  readonly #options: DuePausesOptions
  #timer: Timer | undefined
  /** When the timer fires. */
  #nextAt = Number.POSITIVE_INFINITY
  #ending: Promise<void> | undefined
  #stopped = false

  constructor(options: DuePausesOptions) {
    this.#options = options
  }

  /** Looks for due pauses, and waits for the next one. */
  look(): void {
    this.note(this.#options.clock.now())
  }

  /** To be called with the time of a new or changed pause. */
  note(until: number | null): void {
    if (until === null || this.#stopped || until >= this.#nextAt) return
    this.#timer?.cancel()
    this.#nextAt = until
    const delay = Math.min(timerMsMax, Math.max(0, until - this.#options.clock.now()))
    this.#timer = this.#options.clock.setTimer(delay, () => this.#fire())
  }

  async close(): Promise<void> {
    this.#stopped = true
    this.#timer?.cancel()
    await this.#ending
  }

  #fire(): void {
    this.#timer = undefined
    this.#nextAt = Number.POSITIVE_INFINITY
    this.#ending = this.#end().catch((cause: unknown) => {
      this.#options.onFailure(cause)
      this.note(this.#options.clock.now() + retryMs)
    })
  }

  async #end(): Promise<void> {
    const { store, clock, resume, waiting, lookEveryMs } = this.#options
    while (!this.#stopped) {
      if (waiting() >= waitingMax) {
        this.note(clock.now() + againMs)
        break
      }
      const { jobs, nextAt } = await store.endDuePauses(clock.now(), limit)
      resume(jobs)
      const isDue = nextAt !== null && nextAt <= clock.now()
      if (isDue && jobs.length > 0) continue
      // Another process is ending these, or their runs are pausing at the moment.
      this.note(isDue ? clock.now() + againMs : nextAt)
      break
    }
    if (lookEveryMs !== undefined) this.note(clock.now() + lookEveryMs)
  }
}

/** Pauses that end in one transaction. */
const limit = 500
/** While more runs than this wait to continue, no further pauses end, because all of these runs are in memory. */
const waitingMax = 5_000
const retryMs = 1_000
const againMs = 50
/** Timers cannot be longer; then this looks again. */
const timerMsMax = 86_400_000
