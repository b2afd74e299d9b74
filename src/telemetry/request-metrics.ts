import type { AppError } from '../domain/errors.ts'
import { type Counter, durationBoundsS, type Histogram, type Labelled, type Metrics } from './metrics.ts'

/** The requests that the service answers: how many, how, how fast. */
export class RequestMetrics {
  readonly #counts: Labelled<Counter>
  readonly #durations: Labelled<Histogram>
  readonly #errors: Labelled<Counter>
  readonly #routes = new Map<string, RouteMetrics>()

  constructor(metrics: Metrics) {
    this.#counts = metrics.counters('http_requests_total', 'Requests answered.', ['method', 'route', 'status'])
    this.#durations = metrics.histograms(
      'http_request_duration_seconds',
      'Time from the arrival of a request until its answer began.',
      ['method', 'route'],
      durationBoundsS,
    )
    this.#errors = metrics.counters(
      'millrace_errors_total',
      'Requests refused or failed, by the code in the answer. Runs that failed are counted by millrace_runs_total.',
      ['code'],
    )
    for (const code of serviceTroubles) this.#errors.of(code)
  }

  /** `pattern`: the route with `:name` for what varies, never the path that was asked for. */
  route(method: string, pattern: string): RouteMetrics {
    const key = `${method} ${pattern}`
    const known = this.#routes.get(key)
    if (known) return known
    const named = knownMethods.has(method) ? method : 'other'
    const route = pattern.replaceAll(/:(\w+)/g, '{$1}')
    const made = new RouteMetrics({
      count: (status) => this.#counts.of(named, route, String(status)),
      durations: this.#durations.of(named, route),
      errors: this.#errors,
    })
    // A caller chooses the method: those without a name of their own are not kept.
    if (named === method) this.#routes.set(key, made)
    return made
  }

  /** A request that failed before it was known to be one of a route. */
  failed(code: AppError['code']): void {
    this.#errors.of(code).add()
  }
}

/** One route's numbers. */
export class RouteMetrics {
  readonly #statuses: (Counter | undefined)[] = []
  readonly #count: (status: number) => Counter
  readonly #durations: Histogram
  readonly #errors: Labelled<Counter>

  constructor(parts: { count: (status: number) => Counter; durations: Histogram; errors: Labelled<Counter> }) {
    this.#count = parts.count
    this.#durations = parts.durations
    this.#errors = parts.errors
  }

  /** `code`: of the error that the answer is. */
  answered(status: number, tookMs: number, code: AppError['code'] | undefined): void {
    const counter = this.#statuses[status] ?? this.#counterOf(status)
    counter.value++
    this.#durations.observe(tookMs / 1000)
    if (code !== undefined) this.#errors.of(code).add()
  }

  #counterOf(status: number): Counter {
    const counter = this.#count(status)
    this.#statuses[status] = counter
    return counter
  }
}

/** Shown from the start, because alarms compare them with what they were before. */
const serviceTroubles: readonly AppError['code'][] = [
  'INTERNAL',
  'OVERLOADED',
  'STORAGE_UNAVAILABLE',
  'RATE_LIMIT_EXCEEDED',
  'USAGE_LIMIT_EXCEEDED',
]

const knownMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
