import type { Counter, Histogram, Metrics } from './metrics.ts'

/** What the log writer does: groups of entries on their way to the disk. */
export class CommitMetrics {
  readonly #durations: Histogram
  readonly #entries: Histogram
  readonly #failures: Counter

  constructor(metrics: Metrics) {
    this.#durations = metrics.histogram(
      'millrace_commit_duration_seconds',
      'Time from handing a group of log entries over until it is on disk.',
      [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    )
    this.#entries = metrics.histogram(
      'millrace_commit_entries',
      'Log entries written in one commit.',
      [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
    )
    this.#failures = metrics.counter(
      'millrace_commit_failures_total',
      'Groups of log entries that could not be written.',
    )
  }

  committed(entries: number, tookMs: number, succeeded: boolean): void {
    if (!succeeded) {
      this.#failures.add()
      return
    }
    this.#entries.observe(entries)
    this.#durations.observe(tookMs / 1000)
  }
}
