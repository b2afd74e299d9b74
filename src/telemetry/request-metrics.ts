import type { AppError } from '../domain/errors.ts'
import { type Counter, durationBoundsS, type Histogram, type Labelled, type Metrics } from './metrics.ts'

/** Requests to the service: number, status and duration. */
export class RequestMetrics {
  readonly #counts: Labelled<Counter>
  readonly #durations: Labelled<Histogram>
  readonly #errors: Labelled<Counter>
  readonly #routes = new Map<string, RouteMetrics>()

  constructor(metrics: Metrics) {
    this.#counts = metrics.counters('http_requests_total', 'HTTP requests handled.', ['method', 'route', 'status'])
    this.#durations = metrics.histograms(
      'http_request_duration_seconds',
      'Time from the arrival of a request until its response started.',
      ['method', 'route'],
      durationBoundsS,
    )
    this.#errors = metrics.counters(
      'millrace_errors_total',
      'Requests rejected or failed, by error code. Failed runs are counted in millrace_runs_total.',
      ['code'],
    )
    for (const code of serviceTroubles) this.#errors.of(code)
  }

  /** `pattern`: the route with `:name` for parameters, never the requested path. */
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
    // Callers choose the method, so unknown methods are not kept.
    if (named === method) this.#routes.set(key, made)
    return made
  }

  /** A request that failed before its route was known. */
  failed(code: AppError['code']): void {
    this.#errors.of(code).add()
  }
}

/** The metrics of one route. */
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

  /** `code`: the error code of the response. */
  responded(status: number, tookMs: number, code: AppError['code'] | undefined): void {
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

/** Shown from the start, because alerts compare them with earlier values. */
const serviceTroubles: readonly AppError['code'][] = [
  'INTERNAL',
  'OVERLOADED',
  'STORAGE_UNAVAILABLE',
  'RATE_LIMIT_EXCEEDED',
  'USAGE_LIMIT_EXCEEDED',
]

const knownMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])
