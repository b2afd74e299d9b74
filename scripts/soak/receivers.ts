import { percentile } from './samples.ts'

/**
 * Webhook receivers in this process. All paths belong to one origin: `/good` accepts, `/failing` responds with 500, and
 * `/hanging` never responds.
 */
export class SoakReceivers {
  readonly #arrived = new Set<string>()
  readonly #expected = new Map<string, number>()
  readonly #latencies: number[] = []
  readonly #server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    fetch: async (request) => {
      const path = new URL(request.url).pathname
      if (path.startsWith('/hanging')) return new Promise<Response>(() => {})
      if (path.startsWith('/failing')) return new Response('no', { status: 500 })
      const now = Date.now()
      const { timestamp, data } = (await request.json()) as { timestamp: number; data: { executionId: string } }
      if (!this.#arrived.has(data.executionId)) this.#latencies.push(now - timestamp)
      this.#arrived.add(data.executionId)
      this.#settle(data.executionId)
      return new Response('ok')
    },
  })

  url(kind: 'good' | 'failing' | 'hanging'): string {
    return `http://127.0.0.1:${this.#server.port}/${kind}`
  }

  /** A run has ended whose delivery `/good` should get. */
  expect(executionId: string): void {
    this.#expected.set(executionId, Date.now())
    this.#settle(executionId)
  }

  /** Waits, and returns how many expected deliveries have not arrived. */
  async missingAfter(ms: number): Promise<number> {
    await Bun.sleep(ms)
    return this.#expected.size
  }

  /** Milliseconds from the end of a run to the arrival of its delivery. */
  latencies(): { count: number; p99: number; max: number } {
    return {
      count: this.#latencies.length,
      p99: percentile(this.#latencies, 0.99),
      max: this.#latencies.reduce((max, ms) => Math.max(max, ms), 0),
    }
  }

  #settle(executionId: string): void {
    if (!this.#arrived.has(executionId) || !this.#expected.delete(executionId)) return
    this.#arrived.delete(executionId)
  }

  [Symbol.dispose](): void {
    this.#server.stop(true)
  }
}
