import { type Counter, durationBoundsS, type Histogram, type Labelled, type Metrics } from './metrics.ts'

/** Polls of lists and feeds: outcome, delay and started runs. */
export class PollMetrics {
  readonly #counts: Labelled<Counter>
  readonly #started: Counter
  readonly #delays: Histogram

  constructor(metrics: Metrics) {
    this.#counts = metrics.counters(
      'millrace_polls_total',
      'Polls of lists and feeds: with new items, unchanged, failed, or refused because the trigger changed.',
      ['outcome'],
    )
    this.#started = metrics.counter('millrace_poll_runs_total', 'Runs that new items of polls have started.')
    this.#delays = metrics.histogram(
      'millrace_poll_delay_seconds',
      'Time from the due time of a poll until its request was sent.',
      durationBoundsS,
    )
  }

  ended(outcome: string, started: number, lateMs: number): void {
    this.#counts.of(outcome).add()
    this.#started.add(started)
    this.#delays.observe(lateMs / 1000)
  }
}
