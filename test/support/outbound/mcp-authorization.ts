type Registered = { id: string; secret: string | undefined; method: string }
type Code = { clientId: string; challenge: string; redirectUri: string; resource: string }

/** A request that the server has received. */
export type SeenRequest = { path: string; authorization: string | undefined; members: Record<string, unknown> }

/**
 * An MCP server that refuses everything, and the authorization server that it names, on one loopback address. Its
 * documents can be changed, moved and removed. It registers clients, checks PKCE and the client of each token request,
 * and rotates refresh tokens.
 */
export class McpAuthorization implements AsyncDisposable {
  /** The value of `WWW-Authenticate`. */
  challenge = 'Bearer'
  /** The bodies of GET requests, by path. Others are not found. */
  readonly documents: Record<string, unknown> = {}
  /** Changes the response to a registration. */
  registered: (members: Record<string, unknown>) => Response = (members) => Response.json(members, { status: 201 })
  readonly seen: SeenRequest[] = []
  readonly #clients = new Map<string, Registered>()
  readonly #codes = new Map<string, Code>()
  #refreshToken = ''
  #count = 0
  readonly #server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => this.#take(request) })

  constructor() {
    this.documents['/.well-known/oauth-protected-resource/mcp'] = this.resourceDocument()
    this.documents['/.well-known/oauth-authorization-server'] = this.serverDocument()
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`
  }
  get mcpUrl(): string {
    return `${this.url}/mcp`
  }

  resourceDocument(more: object = {}) {
    return { resource: this.mcpUrl, authorization_servers: [this.url], scopes_supported: ['read', 'write'], ...more }
  }

  serverDocument(more: object = {}) {
    return {
      issuer: this.url,
      authorization_endpoint: `${this.url}/authorize`,
      token_endpoint: `${this.url}/token`,
      registration_endpoint: `${this.url}/register`,
      code_challenge_methods_supported: ['S256'],
      token_endpoint_auth_methods_supported: ['client_secret_basic', 'none'],
      authorization_response_iss_parameter_supported: true,
      ...more,
    }
  }

  /** Knows a client that somebody has created by hand. */
  addClient(id: string, secret: string): void {
    this.#clients.set(id, { id, secret, method: 'client_secret_basic' })
  }

  forgetClients(): void {
    this.#clients.clear()
  }

  paths(): string[] {
    return this.seen.map(({ path }) => path)
  }

  /** The parameters with which the browser comes back when the person agrees. */
  agree(page: URL): URLSearchParams {
    const asked = (name: string) => page.searchParams.get(name) ?? ''
    const code = this.#next('code')
    this.#codes.set(code, {
      ...{ clientId: asked('client_id'), challenge: asked('code_challenge') },
      ...{ redirectUri: asked('redirect_uri'), resource: asked('resource') },
    })
    return new URLSearchParams({ code, state: asked('state'), iss: this.url })
  }

  async #take(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url)
    const text = await request.text()
    const isForm = request.headers.get('content-type')?.includes('form') === true
    const members = (isForm ? Object.fromEntries(new URLSearchParams(text)) : JSON.parse(text || '{}')) as Record<
      string,
      unknown
    >
    const authorization = request.headers.get('authorization') ?? undefined
    this.seen.push({ path: pathname, authorization, members })
    const headers = { 'www-authenticate': this.challenge }
    if (pathname === '/mcp') return new Response('Sign in first', { status: 401, headers })
    if (pathname === '/register') return this.#register(members)
    if (pathname === '/token') return this.#token(members as Record<string, string>, authorization)
    const document = this.documents[pathname]
    return document === undefined ? new Response('', { status: 404 }) : Response.json(document)
  }

  #register(members: Record<string, unknown>): Response {
    const method = String(members['token_endpoint_auth_method'])
    const secret = method === 'none' ? undefined : this.#next('secret')
    const client = { id: this.#next('client'), secret, method }
    this.#clients.set(client.id, client)
    return this.registered({ ...members, client_id: client.id, ...(secret ? { client_secret: secret } : {}) })
  }

  #token(form: Record<string, string>, authorization: string | undefined): Response {
    const basic = authorization?.startsWith('Basic ') ? atob(authorization.slice(6)).split(':').map(decoded) : undefined
    const client = this.#clients.get(basic?.[0] ?? form['client_id'] ?? '')
    const sent = client?.method === 'client_secret_basic' ? basic?.[1] : form['client_secret']
    if (!client || sent !== client.secret) return refuse('invalid_client')
    if (form['grant_type'] === 'refresh_token') {
      return form['refresh_token'] === this.#refreshToken ? this.#issue() : refuse('invalid_grant')
    }
    const code = this.#codes.get(form['code'] ?? '')
    this.#codes.delete(form['code'] ?? '')
    const challenge = new Bun.CryptoHasher('sha256').update(form['code_verifier'] ?? '').digest('base64url')
    const isRight =
      code?.clientId === client.id && code.challenge === challenge && code.redirectUri === form['redirect_uri']
    return isRight && code.resource === form['resource'] ? this.#issue() : refuse('invalid_grant')
  }

  #issue(): Response {
    this.#refreshToken = this.#next('refresh')
    return Response.json({
      ...{ access_token: this.#next('access'), refresh_token: this.#refreshToken },
      ...{ token_type: 'Bearer', expires_in: 3_600 },
    })
  }

  #next(kind: string): string {
    this.#count += 1
    return `${kind}-${this.#count}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(true)
  }
}

function refuse(error: string): Response {
  return Response.json({ error }, { status: error === 'invalid_client' ? 401 : 400 })
}

const decoded = (text: string) => decodeURIComponent(text)
