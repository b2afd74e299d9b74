import type { Counter, Histogram, Metrics } from './metrics.ts'

/** Metrics of the log writer: groups of log entries, and steps of asynchronous runs. */
export class CommitMetrics {
  readonly #durations: Histogram
  readonly #rows: Histogram
  readonly #failures: Counter

  constructor(metrics: Metrics) {
    this.#durations = metrics.histogram(
      'millrace_commit_duration_seconds',
      'Time from handing results of runs to the store until they are on disk.',
      [0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    )
    this.#rows = metrics.histogram(
      'millrace_commit_rows',
      'Log entries, and steps of asynchronous runs, per commit.',
      [1, 2, 4, 8, 16, 32, 64, 128, 256, 512],
    )
    this.#failures = metrics.counter('millrace_commit_failures_total', 'Failed commits of results of runs.')
  }

  committed(rows: number, tookMs: number, succeeded: boolean): void {
    if (!succeeded) {
      this.#failures.add()
      return
    }
    this.#rows.observe(rows)
    this.#durations.observe(tookMs / 1000)
  }
}
