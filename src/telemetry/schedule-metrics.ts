import { type Counter, durationBoundsS, type Histogram, type Labelled, type Metrics } from './metrics.ts'

/** Due times of schedules: what became of them, and how late. */
export class ScheduleMetrics {
  readonly #counts: Labelled<Counter>
  readonly #delays: Histogram

  constructor(metrics: Metrics) {
    this.#counts = metrics.counters(
      'millrace_schedule_times_total',
      'Due times of schedules that were decided: started, waiting for the run before, or left out and why.',
      ['fate'],
    )
    this.#delays = metrics.histogram(
      'millrace_schedule_delay_seconds',
      'Time from when a run was due until it was on disk.',
      durationBoundsS,
    )
  }

  decided(fate: string, delayMs: number): void {
    this.#counts.of(fate).add()
    if (fate === 'started') this.#delays.observe(Math.max(0, delayMs) / 1000)
  }
}
