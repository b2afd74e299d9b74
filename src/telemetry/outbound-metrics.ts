import type { OutboundFailure, OutboundFetch, OutboundOpen } from '../domain/outbound-request.ts'
import { type Counter, durationBoundsS, type Histogram, type Labelled, type Metrics } from './metrics.ts'

/** Requests sent by workflows: number, outcome and duration. */
export class OutboundMetrics {
  readonly #counts: Labelled<Counter>
  readonly #durations: Histogram

  constructor(metrics: Metrics) {
    this.#counts = metrics.counters(
      'millrace_outbound_requests_total',
      'Requests sent by workflows, each attempt separately: 2xx, 3xx, 4xx or 5xx, or why there was no response.',
      ['outcome'],
    )
    this.#durations = metrics.histogram(
      'millrace_outbound_request_duration_seconds',
      'Duration of a request, including the wait for a slot; for language models, until the response started.',
      durationBoundsS,
    )
  }

  /** Wraps a fetch function so that its requests are counted. */
  counting(fetch: OutboundFetch, monotonic: () => number): OutboundFetch {
    return this.#counting(fetch, monotonic)
  }

  /** The same for responses read while they arrive. The duration ends when the response starts. */
  countingOpen(open: OutboundOpen, monotonic: () => number): OutboundOpen {
    return this.#counting(open, monotonic)
  }

  #counting<Request, Outcome extends Counted>(
    send: (request: Request) => Promise<Outcome>,
    monotonic: () => number,
  ): (request: Request) => Promise<Outcome> {
    return async (request) => {
      const startedAt = monotonic()
      const outcome = await send(request)
      this.#counts.of(nameOf(outcome)).add()
      this.#durations.observe((monotonic() - startedAt) / 1000)
      return outcome
    }
  }
}

type Counted = { ok: true; response: { status: number } } | OutboundFailure

function nameOf(outcome: Counted): string {
  return outcome.ok ? `${Math.floor(outcome.response.status / 100)}xx` : outcome.code.toLowerCase()
}
