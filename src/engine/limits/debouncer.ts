import type { Clock, Timer } from '../../domain/clock.ts'
import type { Debounced, DebounceStart } from '../../domain/run/debounce.ts'

export type DebouncerOptions = {
  clock: Pick<Clock, 'monotonic' | 'setTimer'>
  /** See `ProcessStore`. */
  join(start: DebounceStart): Promise<Debounced>
  end(executionId: string, now: number, isForced?: boolean): Promise<number>
}

/** Delays jobs until their workflow has had no start with the same key for `quietMs`. */
export class Debouncer {
  readonly #options: DebouncerOptions
  readonly #timers = new Map<string, Timer>()

  constructor(options: DebouncerOptions) {
    this.#options = options
  }

  /** Returns the job that will run for a start: its own, or an earlier one. */
  join(start: Omit<DebounceStart, 'now'>): Promise<Debounced> {
    return this.#options.join({ ...start, now: this.#options.clock.monotonic() })
  }

  /** Resolves after a short time. */
  moment(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#options.clock.setTimer(momentMs, resolve)
    return promise
  }

  /** Calls `due` when a job of this process is due. If the store does not respond, the job counts as due. */
  watch(executionId: string, dueInMs: number, due: () => void): void {
    const timer = this.#options.clock.setTimer(Math.min(Math.max(1, Math.ceil(dueInMs)), timerMsMax), () => {
      this.#options
        .end(executionId, this.#options.clock.monotonic())
        .catch(() => 0)
        .then((leftMs) => {
          if (!this.#timers.has(executionId)) return
          if (leftMs > 0) this.watch(executionId, leftMs, due)
          else {
            this.#timers.delete(executionId)
            due()
          }
        })
    })
    this.#timers.set(executionId, timer)
  }

  /** Stops waiting for a job. No more starts join it, and `due` is not called. */
  async forget(executionId: string): Promise<void> {
    this.#timers.get(executionId)?.cancel()
    this.#timers.delete(executionId)
    // If this fails, starts can join the job until its due time.
    await this.#options.end(executionId, this.#options.clock.monotonic(), true).catch(() => undefined)
  }
}

const momentMs = 20
const timerMsMax = 3_600_000
