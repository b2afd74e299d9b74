import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { InvalidGrantError, InvalidTokenError } from '@modelcontextprotocol/sdk/server/auth/errors.js'
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js'
import type { AuthorizationParams, OAuthServerProvider } from '@modelcontextprotocol/sdk/server/auth/provider.js'
import { getOAuthProtectedResourceMetadataUrl, mcpAuthRouter } from '@modelcontextprotocol/sdk/server/auth/router.js'
import { createMcpExpressApp } from '@modelcontextprotocol/sdk/server/express.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import type { OAuthClientInformationFull, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js'
import type { Transport } from '@modelcontextprotocol/sdk/shared/transport.js'
import { z } from 'zod'

/** An MCP server of the official SDK with its authorization server. The person agrees to every sign-in at once. */
export class ProtectedMcpServer implements AsyncDisposable {
  readonly people = new AgreeingPeople()
  readonly #http: Server

  private constructor(http: Server) {
    this.#http = http
  }

  static async start(): Promise<ProtectedMcpServer> {
    let handle: (request: object, response: object) => void = () => {}
    const http = createServer((request, response) => handle(request, response))
    await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
    const server = new ProtectedMcpServer(http)
    handle = server.#app()
    return server
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#http.address() as AddressInfo).port}`
  }
  get url(): string {
    return `${this.origin}/mcp`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#http.closeAllConnections()
    await new Promise((resolve) => this.#http.close(resolve))
  }

  #app() {
    const app = createMcpExpressApp()
    const resourceServerUrl = new URL(this.url)
    const unlimited = { rateLimit: false as const }
    app.use(
      mcpAuthRouter({
        ...{ provider: this.people, issuerUrl: new URL(this.origin), resourceServerUrl, scopesSupported: ['add'] },
        ...{ clientRegistrationOptions: unlimited, tokenOptions: unlimited, authorizationOptions: unlimited },
      }),
    )
    const resourceMetadataUrl = getOAuthProtectedResourceMetadataUrl(resourceServerUrl)
    const guard = requireBearerAuth({ verifier: this.people, requiredScopes: ['add'], resourceMetadataUrl })
    app.post('/mcp', guard, async (request: Handled[0] & { body: unknown }, response: Handled[1]) => {
      const server = new McpServer({ name: 'protected', version: '1.0.0' })
      const inputSchema = { a: z.number(), b: z.number() }
      server.registerTool('add', { description: 'Adds two numbers', inputSchema }, ({ a, b }) => ({
        content: [{ type: 'text', text: `${a + b}` }],
      }))
      const transport = new StreamableHTTPServerTransport({})
      await server.connect(transport as Transport)
      await transport.handleRequest(request, response, request.body)
    })
    return app
  }
}

type Handled = Parameters<StreamableHTTPServerTransport['handleRequest']>

type Code = AuthorizationParams & { clientId: string }
type Grant = { clientId: string; access: string; refresh: string; expiresAt: number; resource: URL; scopes: string[] }

/** The accounts of the authorization server. A refresh token works once. */
class AgreeingPeople implements OAuthServerProvider {
  readonly counts = { registrations: 0, refreshes: 0 }
  readonly #clients = new Map<string, OAuthClientInformationFull>()
  readonly #codes = new Map<string, Code>()
  #grants: Grant[] = []

  readonly clientsStore: OAuthServerProvider['clientsStore'] = {
    getClient: (id) => this.#clients.get(id),
    registerClient: (client) => {
      this.counts.registrations += 1
      const known = client as OAuthClientInformationFull
      this.#clients.set(known.client_id, known)
      return known
    },
  }

  /** Ends all access tokens; refresh tokens stay. */
  expire(): void {
    for (const grant of this.#grants) grant.expiresAt = 0
  }

  /** Takes back what people have agreed to. */
  revoke(): void {
    this.#grants = []
  }

  async authorize(client: OAuthClientInformationFull, asked: AuthorizationParams, response: Redirecting) {
    const code = crypto.randomUUID()
    this.#codes.set(code, { ...asked, clientId: client.client_id })
    const back = new URL(asked.redirectUri)
    back.searchParams.set('code', code)
    back.searchParams.set('state', asked.state ?? '')
    response.redirect(back.href)
  }

  async challengeForAuthorizationCode(_client: OAuthClientInformationFull, code: string): Promise<string> {
    return this.#codes.get(code)?.codeChallenge ?? ''
  }

  async exchangeAuthorizationCode(
    { client_id: clientId }: OAuthClientInformationFull,
    code: string,
    _verifier?: string,
    redirectUri?: string,
    resource?: URL,
  ): Promise<OAuthTokens> {
    const asked = this.#codes.get(code)
    this.#codes.delete(code)
    const isRight = asked?.clientId === clientId && asked.redirectUri === redirectUri
    if (!isRight || !resource || asked.resource?.href !== resource.href) throw new InvalidGrantError('Wrong code')
    return this.#issue({ clientId, resource, scopes: asked.scopes ?? [] })
  }

  async exchangeRefreshToken(
    { client_id: clientId }: OAuthClientInformationFull,
    token: string,
    _scopes?: string[],
    resource?: URL,
  ): Promise<OAuthTokens> {
    this.counts.refreshes += 1
    const grant = this.#grants.find(({ refresh }) => refresh === token)
    if (grant?.clientId !== clientId || grant.resource.href !== resource?.href) {
      throw new InvalidGrantError('The refresh token is not valid')
    }
    this.#grants = this.#grants.filter((each) => each !== grant)
    return this.#issue(grant)
  }

  async verifyAccessToken(token: string) {
    const grant = this.#grants.find(({ access }) => access === token)
    if (!grant || grant.expiresAt < Date.now()) throw new InvalidTokenError('The token has expired')
    const { clientId, scopes, resource } = grant
    return { token, clientId, scopes, resource, expiresAt: Math.ceil(grant.expiresAt / 1_000) }
  }

  #issue({ clientId, resource, scopes }: Pick<Grant, 'clientId' | 'resource' | 'scopes'>): OAuthTokens {
    const [access, refresh] = [crypto.randomUUID(), crypto.randomUUID()]
    this.#grants.push({ clientId, access, refresh, expiresAt: Date.now() + 3_600_000, resource, scopes })
    return { access_token: access, refresh_token: refresh, token_type: 'bearer', expires_in: 3_600 }
  }
}

type Redirecting = { redirect(url: string): void }
