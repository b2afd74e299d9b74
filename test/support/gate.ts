/** A server that holds each request until the test lets it respond. */
export class Gate {
  readonly #server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => this.#take(request) })
  readonly #held: { path: string; answer: () => void }[] = []
  readonly arrived: string[] = []
  /** The number of requests that wait for a response. */
  get held(): number {
    return this.#held.length
  }

  /** Whether the gate responds at once. */
  isOpen = false
  #arrival = Promise.withResolvers<void>()

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`
  }

  /** Resolves with the received paths when `count` requests have arrived. */
  async arrivals(count: number): Promise<string[]> {
    while (this.arrived.length < count) await this.#arrival.promise
    return this.arrived.slice(0, count)
  }

  /** Resolves when `count` requests to a path have arrived. */
  async arrivalsAt(path: string, count: number): Promise<void> {
    while (this.arrived.filter((each) => each === path).length < count) await this.#arrival.promise
  }

  answerAll(): void {
    for (const { answer } of this.#held.splice(0)) answer()
  }

  /** Responds to the request that has waited longest; with `path`, to the oldest one to this path. */
  answer(path?: string): void {
    const place = path === undefined ? 0 : this.#held.findIndex((held) => held.path === path)
    if (place >= 0) this.#held.splice(place, 1)[0]?.answer()
  }

  stop(): Promise<void> {
    return this.#server.stop(true)
  }

  #take(request: Request): Promise<Response> {
    const path = new URL(request.url).pathname
    return new Promise((resolve) => {
      const answer = () => resolve(Response.json({ path }))
      if (this.isOpen) answer()
      else this.#held.push({ path, answer })
      this.arrived.push(path)
      this.#arrival.resolve()
      this.#arrival = Promise.withResolvers()
    })
  }
}
