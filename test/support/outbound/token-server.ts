/** An authorization server on loopback, and a service at `/api` that accepts the newest of its tokens. */
export class TokenServer implements AsyncDisposable {
  /** The forms that token requests sent, with their `Authorization`. */
  readonly requests: (Record<string, string> & { authorization?: string })[] = []
  /** Changes the response to a token request. */
  respond: (members: Record<string, unknown>) => Response = (members) => Response.json(members)
  lifetimeS: number | undefined = 3_600
  /** How many tokens were issued. */
  issued = 0
  /** Resolves before a token request gets its response. */
  gate: Promise<void> = Promise.resolve()
  readonly #server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => this.#take(request) })

  get host(): string {
    return `127.0.0.1:${this.#server.port}`
  }
  get url(): string {
    return `http://${this.host}`
  }

  /** Makes the service refuse the newest token. */
  revoke(): void {
    this.issued += 1
  }

  async #take(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url)
    if (pathname === '/.well-known/openid-configuration') return new Response('', { status: 404 })
    if (pathname === '/.well-known/oauth-authorization-server') {
      return Response.json({ issuer: this.url, token_endpoint: `${this.url}/token` })
    }
    if (pathname === '/token') return await this.#issue(request)
    const isNewest = request.headers.get('authorization') === `Bearer ${this.#token}`
    return isNewest ? Response.json({ ok: true }) : new Response('', { status: 401 })
  }

  get #token(): string {
    return `token-number-${this.issued}`
  }

  async #issue(request: Request): Promise<Response> {
    const authorization = request.headers.get('authorization') ?? undefined
    const form = Object.fromEntries(new URLSearchParams(await request.text()))
    this.requests.push({ ...form, ...(authorization === undefined ? {} : { authorization }) })
    await this.gate
    this.issued += 1
    const expiry = this.lifetimeS === undefined ? {} : { expires_in: this.lifetimeS }
    return this.respond({ access_token: this.#token, token_type: 'Bearer', ...expiry })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(true)
  }
}
