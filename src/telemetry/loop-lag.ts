import type { Clock, Timer } from '../domain/clock.ts'
import type { Histogram, Metrics } from './metrics.ts'

/**
 * Measures the delay of the event loop: how late a timer fires, several times a second. A request arriving at that
 * moment waits that long. Measuring starts with the first scrape.
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
      'How late timers fired because the event loop was busy; measured from the first scrape on.',
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
