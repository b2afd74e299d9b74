import { gunzipSync } from 'node:zlib'
import type { Static, TSchema } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { findMetricFaults, type MetricsMessage, metricsIn, type SeenMetric } from './otlp-metrics.ts'
import { ExportMetricsServiceRequest, ExportTraceServiceRequest } from './otlp-schema.ts'

type Message = Static<typeof ExportTraceServiceRequest>
type WireSpan = Message['resourceSpans'][number]['scopeSpans'][number]['spans'][number]

/** A span with its attributes as an object. */
export type SeenSpan = Omit<WireSpan, 'attributes'> & { attributes: Record<string, unknown> }
/** A message has spans or metrics. */
export type SeenRequest = {
  path: string
  headers: Headers
  resource: Record<string, unknown>
  spans: SeenSpan[]
  metrics: SeenMetric[]
}

/** A collector for OTLP/HTTP in JSON. It rejects each message that is not valid, and remembers the others. */
export class Collector implements Disposable {
  readonly #server: Bun.Server<undefined>
  /** The problems of invalid messages. */
  readonly faults: string[] = []
  readonly requests: SeenRequest[] = []
  /** The next responses; further ones have the status 200. */
  readonly responses: (() => Response | Promise<Response>)[] = []
  #heard = Promise.withResolvers<void>()
  /** All requests, including rejected ones. */
  attempts = 0

  constructor() {
    this.#server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => this.#receive(request) })
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`
  }

  get spans(): SeenSpan[] {
    return this.requests.flatMap(({ spans }) => spans)
  }

  /** The latest message with metrics. */
  get metrics(): SeenMetric[] {
    return this.requests.findLast(({ metrics }) => metrics.length > 0)?.metrics ?? []
  }

  /** Resolves when a condition holds. It is checked when a request arrives and after it. */
  async until(condition: (collector: Collector) => boolean): Promise<void> {
    while (!condition(this)) await this.#heard.promise
  }

  [Symbol.dispose](): void {
    void this.#server.stop(true)
  }

  async #receive(request: Request): Promise<Response> {
    this.attempts += 1
    this.#notify()
    try {
      const next = this.responses.shift()
      if (next) return await next()
      return await this.#accept(request)
    } finally {
      this.#notify()
    }
  }

  #notify(): void {
    this.#heard.resolve()
    this.#heard = Promise.withResolvers()
  }

  async #accept(request: Request): Promise<Response> {
    const bytes = new Uint8Array(await request.arrayBuffer())
    const isPacked = request.headers.get('content-encoding') === 'gzip'
    const message: unknown = JSON.parse(Buffer.from(isPacked ? gunzipSync(bytes) : bytes).toString())
    const { pathname: path } = new URL(request.url)
    if (request.method !== 'POST' || request.headers.get('content-type') !== 'application/json')
      this.faults.push(`${request.method} with the content type ${request.headers.get('content-type')}`)
    const body = path.endsWith('/v1/metrics') ? this.#metricsOf(message) : this.#spansOf(message)
    if (typeof body === 'string') {
      this.faults.push(body)
      return Response.json({ code: 3, message: body }, { status: 400 })
    }
    this.requests.push({ path, headers: request.headers, ...body })
    return Response.json({ partialSuccess: {} })
  }

  /** A text is the problem of the message. */
  #spansOf(message: unknown): Body | string {
    const fault = faultOf(ExportTraceServiceRequest, message)
    if (fault !== undefined) return fault
    const { resourceSpans } = message as Message
    const spans = resourceSpans.flatMap(({ scopeSpans }) =>
      scopeSpans.flatMap((scope) => scope.spans.map((span) => ({ ...span, attributes: plain(span.attributes) }))),
    )
    return { resource: plain(resourceSpans[0]?.resource.attributes), spans, metrics: [] }
  }

  #metricsOf(message: unknown): Body | string {
    const fault = faultOf(ExportMetricsServiceRequest, message)
    if (fault !== undefined) return fault
    const metrics = metricsIn(message as MetricsMessage)
    const [rule] = findMetricFaults(metrics)
    const { resourceMetrics } = message as MetricsMessage
    return rule ?? { resource: plain(resourceMetrics[0]?.resource.attributes), spans: [], metrics }
  }
}

type Body = Omit<SeenRequest, 'path' | 'headers'>

function faultOf(schema: TSchema, message: unknown): string | undefined {
  const [first] = Value.Errors(schema, message)
  return first && `${first.path}: ${first.message}`
}

/** Attributes as an object; integers as numbers. */
function plain(attributes: WireSpan['attributes']): Record<string, unknown> {
  return Object.fromEntries(
    (attributes ?? []).map(({ key, value }) => {
      const [kind, inner] = Object.entries(value)[0] as [string, unknown]
      return [key, kind === 'intValue' ? Number(inner) : inner]
    }),
  )
}
