import type { DeliveryAttempt } from '../domain/delivery.ts'
import { type Counter, durationBoundsS, type Histogram, type Labelled, type Metrics } from './metrics.ts'

/** Webhooks: what became of attempts, how long they took, and how soon the first one came. */
export class WebhookMetrics {
  readonly #counts: Labelled<Counter>
  readonly #durations: Histogram
  readonly #waits: Histogram

  constructor(metrics: Metrics) {
    this.#counts = metrics.counters(
      'millrace_webhook_attempts_total',
      'Attempts to deliver webhooks: answered with 2xx, 3xx, 4xx or 5xx, or why no answer came.',
      ['outcome'],
    )
    this.#durations = metrics.histogram(
      'millrace_webhook_attempt_duration_seconds',
      'Time that an attempt to deliver a webhook took, from looking up the address to the end of the answer.',
      durationBoundsS,
    )
    this.#waits = metrics.histogram(
      'millrace_webhook_first_attempt_delay_seconds',
      'Time from when a run was on disk until its webhook was first tried.',
      durationBoundsS,
    )
  }

  attempted({ status, failure, durationMs }: DeliveryAttempt): void {
    const answered =
      status !== null && (failure === null || failure.code === 'HTTP_ERROR' || failure.code === 'REDIRECTED')
    this.#counts.of(answered ? `${Math.floor(status / 100)}xx` : (failure?.code.toLowerCase() ?? 'none')).add()
    this.#durations.observe(durationMs / 1000)
  }

  firstTried(waitedMs: number): void {
    this.#waits.observe(waitedMs / 1000)
  }
}
