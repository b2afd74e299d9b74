import type { Clock, Timer } from '../domain/clock.ts'
import type { Histogram, Metrics } from './metrics.ts'

/**
 * How late the event loop is: a timer several times a second, and by how much it came after its time. That is what a
 * request waits that arrives at that moment. Nothing runs before somebody has looked at the metrics once.
 */
export class LoopLag {
  readonly #clock: Clock
  readonly #lags: Histogram
  #timer: Timer | undefined
  #stopped = false

  constructor(metrics: Metrics, clock: Clock) {
    this.#clock = clock
    this.#lags = metrics.histogram(
      'millrace_event_loop_lag_seconds',
      'How long the event loop was busy with something else when a timer was due; measured from the first look at the metrics on.',
      [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    )
  }

  watch(): void {
    if (this.#timer === undefined && !this.#stopped) this.#arm()
  }

  stop(): void {
    this.#stopped = true
    this.#timer?.cancel()
  }

  #arm(): void {
    const dueAt = this.#clock.monotonic() + everyMs
    this.#timer = this.#clock.setTimer(everyMs, () => {
      this.#lags.observe(Math.max(0, this.#clock.monotonic() - dueAt) / 1000)
      this.#arm()
    })
  }
}

const everyMs = 100
