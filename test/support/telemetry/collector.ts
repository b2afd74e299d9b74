import { gunzipSync } from 'node:zlib'
import type { Static } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { ExportTraceServiceRequest } from './otlp-schema.ts'

type Message = Static<typeof ExportTraceServiceRequest>
type WireSpan = Message['resourceSpans'][number]['scopeSpans'][number]['spans'][number]

/** A span with its attributes as an object. */
export type SeenSpan = Omit<WireSpan, 'attributes'> & { attributes: Record<string, unknown> }
export type SeenRequest = { path: string; headers: Headers; spans: SeenSpan[]; resource: Record<string, unknown> }

/** A collector for OTLP/HTTP in JSON. It rejects each message that is not valid, and remembers the others. */
export class Collector implements Disposable {
  readonly #server: Bun.Server<undefined>
  /** The problems of invalid messages. */
  readonly faults: string[] = []
  readonly requests: SeenRequest[] = []
  /** The next responses; further ones have the status 200. */
  readonly responses: (() => Response | Promise<Response>)[] = []
  #heard = Promise.withResolvers<void>()
  /** Requests, also those that were turned away. */
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

  /** Resolves when a condition holds. It is checked after each request. */
  async until(condition: (collector: Collector) => boolean): Promise<void> {
    while (!condition(this)) await this.#heard.promise
  }

  [Symbol.dispose](): void {
    void this.#server.stop(true)
  }

  async #receive(request: Request): Promise<Response> {
    this.attempts += 1
    try {
      const next = this.responses.shift()
      if (next) return await next()
      return await this.#accept(request)
    } finally {
      this.#heard.resolve()
      this.#heard = Promise.withResolvers()
    }
  }

  async #accept(request: Request): Promise<Response> {
    const bytes = new Uint8Array(await request.arrayBuffer())
    const isPacked = request.headers.get('content-encoding') === 'gzip'
    const message: unknown = JSON.parse(Buffer.from(isPacked ? gunzipSync(bytes) : bytes).toString())
    const { pathname: path } = new URL(request.url)
    if (request.method !== 'POST' || request.headers.get('content-type') !== 'application/json')
      this.faults.push(`${request.method} with the content type ${request.headers.get('content-type')}`)
    const found = [...Value.Errors(ExportTraceServiceRequest, message)].map((each) => `${each.path}: ${each.message}`)
    this.faults.push(...found)
    if (found.length > 0) return Response.json({ code: 3, message: found[0] }, { status: 400 })
    const { resourceSpans } = message as Message
    this.requests.push({
      path,
      headers: request.headers,
      resource: plain(resourceSpans[0]?.resource.attributes),
      spans: resourceSpans.flatMap(({ scopeSpans }) =>
        scopeSpans.flatMap(({ spans }) => spans.map((span) => ({ ...span, attributes: plain(span.attributes) }))),
      ),
    })
    return Response.json({ partialSuccess: {} })
  }
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
