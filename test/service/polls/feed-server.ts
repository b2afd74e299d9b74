/** A service with a list at `/list` and a feed at `/feed`, which answers as the test says. */
export class FeedServer {
  readonly requests: { path: string; headers: Headers; at: number }[] = []
  items: readonly unknown[] = []
  feed = ''
  etag: string | undefined
  /** How many requests were answered with 304. */
  unchanged = 0
  /** Answers instead of the list or the feed. */
  answer: (() => Response | Promise<Response>) | undefined
  readonly #server: ReturnType<typeof Bun.serve>

  constructor() {
    this.#server = Bun.serve({
      hostname: '127.0.0.1',
      port: 0,
      idleTimeout: 0,
      fetch: async (request) => {
        const { pathname } = new URL(request.url)
        this.requests.push({ path: pathname, headers: request.headers, at: performance.now() })
        if (this.answer) return await this.answer()
        const headers: Record<string, string> = this.etag === undefined ? {} : { etag: this.etag }
        if (this.etag !== undefined && request.headers.get('if-none-match') === this.etag) {
          this.unchanged += 1
          return new Response(null, { status: 304, headers })
        }
        if (pathname === '/feed') {
          return new Response(this.feed, { headers: { ...headers, 'content-type': 'application/rss+xml' } })
        }
        return Response.json({ data: this.items }, { headers })
      },
    })
  }

  url(path: string): string {
    return `http://127.0.0.1:${this.#server.port}${path}`
  }

  stop(): void {
    this.#server.stop(true)
  }
}
