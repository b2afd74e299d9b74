/** A server on loopback that records its requests. */
export class Recorder implements AsyncDisposable {
  readonly requests: { url: string; headers: Record<string, string>; body: string }[] = []
  respond: (request: Request) => Response | Promise<Response> = () => Response.json({ ok: true })
  readonly #server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => this.#take(request) })

  get host(): string {
    return `127.0.0.1:${this.#server.port}`
  }
  get url(): string {
    return `http://${this.host}`
  }

  async #take(request: Request): Promise<Response> {
    const { pathname, search } = new URL(request.url)
    const headers = Object.fromEntries(request.headers)
    this.requests.push({ url: pathname + search, headers, body: await request.clone().text() })
    return await this.respond(request)
  }

  stop(): void {
    this.#server.stop(true)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(true)
  }
}
