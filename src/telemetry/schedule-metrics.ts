import { type Counter, durationBoundsS, type Histogram, type Labelled, type Metrics } from './metrics.ts'

/** Due times of schedules: outcome and delay. */
export class ScheduleMetrics {
  readonly #counts: Labelled<Counter>
  readonly #delays: Histogram

  constructor(metrics: Metrics) {
    this.#counts = metrics.counters(
      'millrace_schedule_times_total',
      'Resolved due times of schedules: started, waiting for the previous run, or skipped and why.',
      ['fate'],
    )
    this.#delays = metrics.histogram(
      'millrace_schedule_delay_seconds',
      'Time from the due time of a run until it was on disk.',
      durationBoundsS,
    )
  }

  decided(outcome: string, delayMs: number): void {
    this.#counts.of(outcome).add()
    if (outcome === 'started') this.#delays.observe(Math.max(0, delayMs) / 1000)
  }
}
