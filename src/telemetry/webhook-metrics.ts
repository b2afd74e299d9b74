import type { DeliveryAttempt } from '../domain/webhook/delivery.ts'
import { type Counter, durationBoundsS, type Histogram, type Labelled, type Metrics } from './metrics.ts'

/** Webhook delivery attempts: outcome, duration, and delay of the first attempt. */
export class WebhookMetrics {
  readonly #counts: Labelled<Counter>
  readonly #durations: Histogram
  readonly #waits: Histogram

  constructor(metrics: Metrics) {
    this.#counts = metrics.counters(
      'millrace_webhook_attempts_total',
      'Webhook delivery attempts: 2xx, 3xx, 4xx or 5xx, or why there was no response.',
      ['outcome'],
    )
    this.#durations = metrics.histogram(
      'millrace_webhook_attempt_duration_seconds',
      'Duration of a webhook delivery attempt, from the address look-up to the end of the response.',
      durationBoundsS,
    )
    this.#waits = metrics.histogram(
      'millrace_webhook_first_attempt_delay_seconds',
      'Time from recording a run until its first webhook delivery attempt.',
      durationBoundsS,
    )
  }

  attempted({ status, failure, durationMs }: DeliveryAttempt): void {
    const hasResponse =
      status !== null && (failure === null || failure.code === 'HTTP_ERROR' || failure.code === 'REDIRECTED')
    this.#counts.of(hasResponse ? `${Math.floor(status / 100)}xx` : (failure?.code.toLowerCase() ?? 'none')).add()
    this.#durations.observe(durationMs / 1000)
  }

  firstTried(waitedMs: number): void {
    this.#waits.observe(waitedMs / 1000)
  }
}
