import type { OutboundFailure, OutboundFetch, OutboundOpen } from '../domain/outbound-request.ts'
import { type Counter, durationBoundsS, type Histogram, type Labelled, type Metrics } from './metrics.ts'

/** Requests that workflows send: how many, what became of them, how long they took. */
export class OutboundMetrics {
  readonly #counts: Labelled<Counter>
  readonly #durations: Histogram

  constructor(metrics: Metrics) {
    this.#counts = metrics.counters(
      'millrace_outbound_requests_total',
      'Requests that workflows sent, each attempt by itself: answered with 2xx, 3xx, 4xx or 5xx, or why no answer came.',
      ['outcome'],
    )
    this.#durations = metrics.histogram(
      'millrace_outbound_request_duration_seconds',
      'Time a request of a workflow took, waiting for a free place included; of a language model, until its answer began.',
      durationBoundsS,
    )
  }

  /** The same, counted. */
  counting(fetch: OutboundFetch, monotonic: () => number): OutboundFetch {
    return this.#counting(fetch, monotonic)
  }

  /** The same for answers that are read while they arrive; their time ends when they begin. */
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

type Counted = { ok: true; answer: { status: number } } | OutboundFailure

function nameOf(outcome: Counted): string {
  return outcome.ok ? `${Math.floor(outcome.answer.status / 100)}xx` : outcome.code.toLowerCase()
}
