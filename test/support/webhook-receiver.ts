/** One request that a receiver got. */
export type Received = { at: number; headers: Headers; body: string; path: string }

/**
 * A webhook receiver on a free port. `respond` returns the response to the n-th request (from 1); by default, every
 * request is accepted. Tests wait for requests, never for time.
 */
export class Receiver {
  readonly received: Received[] = []
  readonly #server: ReturnType<typeof Bun.serve>
  #arrival = Promise.withResolvers<void>()

  constructor(respond: (request: Received, n: number) => Response | Promise<Response> = () => new Response('ok')) {
    this.#server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      idleTimeout: 0,
      fetch: async (request) => {
        const { pathname } = new URL(request.url)
        const got = { at: Date.now(), headers: request.headers, body: await request.text(), path: pathname }
        this.received.push(got)
        this.#arrival.resolve()
        this.#arrival = Promise.withResolvers()
        return respond(got, this.received.length)
      },
    })
  }

  get port(): number {
    return this.#server.port!
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`
  }

  /** Resolves when at least `count` requests have arrived. */
  async arrivals(count: number): Promise<Received[]> {
    while (this.received.length < count) await this.#arrival.promise
    return this.received
  }

  /** The idempotency keys of the requests, in order. */
  get keys(): (string | null)[] {
    return this.received.map(({ headers }) => headers.get('idempotency-key'))
  }

  [Symbol.dispose](): void {
    this.#server.stop(true)
  }
}
