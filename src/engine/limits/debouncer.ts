import type { Clock, Timer } from '../../domain/clock.ts'
import type { Debounced, DebounceStart } from '../../domain/run/debounce.ts'

export type DebouncerOptions = {
  clock: Pick<Clock, 'monotonic' | 'setTimer'>
  /** See `ProcessStore`. */
  join(start: DebounceStart): Promise<Debounced>
  end(executionId: string, now: number, isForced?: boolean): Promise<number>
}

/** Jobs that wait until their workflow has not been started with the same key for a while. */
export class Debouncer {
  readonly #options: DebouncerOptions
  readonly #timers = new Map<string, Timer>()

  constructor(options: DebouncerOptions) {
    this.#options = options
  }

  /** The job that stands for a start: its own, or an earlier one. */
  join(start: Omit<DebounceStart, 'now'>): Promise<Debounced> {
    return this.#options.join({ ...start, now: this.#options.clock.monotonic() })
  }

  /** Calls `due` when a job of this process is to run, at once if the store cannot say when. */
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

  /** Lets no more starts join a job, and does not run it. */
  async forget(executionId: string): Promise<void> {
    this.#timers.get(executionId)?.cancel()
    this.#timers.delete(executionId)
    // Otherwise no start joins it from its time on.
    await this.#options.end(executionId, this.#options.clock.monotonic(), true).catch(() => undefined)
  }
}

const timerMsMax = 3_600_000
