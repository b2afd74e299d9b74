/** How a server answers that bends the rules. */
export type Oddity = 'form' | 'no-expiry' | 'expiry-as-text' | 'error-with-200' | 'no-token-type' | 'nested-error'

type Grant = { refreshToken: string; accessToken: string; expiresAt: number; isRevoked: boolean }
type Code = { challenge: string; redirectUri: string }
type Device = { code: string; state: 'pending' | 'approved' | 'denied' }

/**
 * An authorization server on loopback with a metadata document, PKCE, device codes, and refresh tokens that it rotates.
 * A refresh token that is used twice revokes its whole grant. `/api` accepts tokens that are valid.
 */
export class AuthorizationServer implements AsyncDisposable {
  lifetimeS = 3_600
  oddity: Oddity | undefined
  /** Token requests answer with this status instead, as if the server were down. */
  outage: number | undefined
  rotates = true
  /** The requests that the server has received. */
  readonly counts = { refreshes: 0, reuses: 0, calls: 0, refused: 0, tokenRequests: 0 }
  /** The parameters of the latest authorization request. */
  authorized: Record<string, string> = {}
  /** Runs between the rotation of a refresh token and its response. */
  afterRotation: () => Promise<void> | void = () => {}
  readonly clientId = 'millrace-test'
  readonly clientSecret = 'secret-of-the-client'
  readonly #grants = new Set<Grant>()
  readonly #used = new Map<string, Grant>()
  readonly #codes = new Map<string, Code>()
  readonly #devices = new Map<string, Device>()
  #count = 0
  readonly #server: ReturnType<typeof Bun.serve>

  constructor(port = 0) {
    this.#server = Bun.serve({ port, hostname: '127.0.0.1', fetch: (request) => this.#take(request) })
  }

  get host(): string {
    return `127.0.0.1:${this.#server.port}`
  }
  get url(): string {
    return `http://${this.host}`
  }

  /** The user code of the latest device sign-in is approved or denied. */
  decide(userCode: string, state: 'approved' | 'denied'): void {
    this.#devices.get(userCode)!.state = state
  }

  /** Makes every token invalid, as if its time were over. Refresh tokens stay. */
  expire(): void {
    for (const grant of this.#grants) grant.expiresAt = 0
  }

  /** Makes all grants invalid, as if their person had taken them back. */
  revoke(): void {
    for (const grant of this.#grants) grant.isRevoked = true
  }

  async #take(request: Request): Promise<Response> {
    const url = new URL(request.url)
    switch (url.pathname) {
      case '/.well-known/openid-configuration':
        return Response.json({
          issuer: this.url,
          authorization_endpoint: `${this.url}/authorize`,
          token_endpoint: `${this.url}/token`,
          device_authorization_endpoint: `${this.url}/device`,
          authorization_response_iss_parameter_supported: true,
        })
      case '/authorize':
        return this.#authorize(url.searchParams)
      case '/device':
        return this.#startDevice()
      case '/token':
        return await this.#token(request)
      default:
        return this.#call(request)
    }
  }

  /** The person agrees at once: the browser is sent back with a code. */
  #authorize(parameters: URLSearchParams): Response {
    this.authorized = Object.fromEntries(parameters)
    const code = this.#next('code')
    const redirectUri = parameters.get('redirect_uri') ?? ''
    this.#codes.set(code, { challenge: parameters.get('code_challenge') ?? '', redirectUri })
    const back = new URL(redirectUri)
    back.searchParams.set('code', code)
    back.searchParams.set('state', parameters.get('state') ?? '')
    back.searchParams.set('iss', this.url)
    return Response.redirect(back.href, 302)
  }

  #startDevice(): Response {
    const code = this.#next('device')
    const userCode = `USER-${this.#count}`
    this.#devices.set(userCode, { code, state: 'pending' })
    return Response.json({
      ...{ device_code: code, user_code: userCode, verification_uri: `${this.url}/enter` },
      ...{ expires_in: 600, interval: 1 },
    })
  }

  async #token(request: Request): Promise<Response> {
    this.counts.tokenRequests += 1
    const form = new URLSearchParams(await request.text())
    if (this.outage !== undefined) return new Response('down for maintenance', { status: this.outage })
    const basic = `Basic ${btoa(`${this.clientId}:${this.clientSecret}`)}`
    const isKnown = request.headers.get('authorization') === basic || form.get('client_id') === this.clientId
    if (!isKnown) return this.#refuse('invalid_client')
    switch (form.get('grant_type')) {
      case 'authorization_code':
        return this.#exchange(form)
      case 'refresh_token':
        return await this.#refresh(form.get('refresh_token') ?? '')
      case 'urn:ietf:params:oauth:grant-type:device_code':
        return this.#poll(form.get('device_code') ?? '')
      default:
        return this.#refuse('unsupported_grant_type')
    }
  }

  #exchange(form: URLSearchParams): Response {
    const code = this.#codes.get(form.get('code') ?? '')
    this.#codes.delete(form.get('code') ?? '')
    const verifier = form.get('code_verifier') ?? ''
    const challenge = new Bun.CryptoHasher('sha256').update(verifier).digest('base64url')
    if (code?.challenge !== challenge || code.redirectUri !== form.get('redirect_uri')) {
      return this.#refuse('invalid_grant')
    }
    return this.#issue(this.#newGrant())
  }

  #poll(deviceCode: string): Response {
    const device = [...this.#devices.values()].find(({ code }) => code === deviceCode)
    if (!device) return this.#refuse('expired_token')
    if (device.state === 'pending') return this.#refuse('authorization_pending')
    return device.state === 'denied' ? this.#refuse('access_denied') : this.#issue(this.#newGrant())
  }

  async #refresh(refreshToken: string): Promise<Response> {
    this.counts.refreshes += 1
    const reused = this.#used.get(refreshToken)
    if (reused) {
      this.counts.reuses += 1
      reused.isRevoked = true
      return this.#refuse('invalid_grant', 'the refresh token was used before')
    }
    const grant = [...this.#grants].find((each) => each.refreshToken === refreshToken && !each.isRevoked)
    if (!grant) return this.#refuse('invalid_grant', 'the grant was revoked')
    if (this.rotates) {
      this.#used.set(refreshToken, grant)
      grant.refreshToken = this.#next('refresh')
    }
    grant.accessToken = this.#next('access')
    grant.expiresAt = Date.now() + this.lifetimeS * 1_000
    await this.afterRotation()
    return this.#issue(grant)
  }

  #newGrant(): Grant {
    const expiresAt = Date.now() + this.lifetimeS * 1_000
    const grant = {
      refreshToken: this.#next('refresh'),
      accessToken: this.#next('access'),
      expiresAt,
      isRevoked: false,
    }
    this.#grants.add(grant)
    return grant
  }

  #issue({ accessToken, refreshToken }: Grant): Response {
    const rotated = { access_token: accessToken, refresh_token: refreshToken }
    const usual = { ...rotated, token_type: 'Bearer', expires_in: this.lifetimeS }
    switch (this.oddity) {
      case 'form': {
        const form = new URLSearchParams(Object.entries(usual).map(([name, value]) => [name, String(value)]))
        const headers = { 'content-type': 'application/x-www-form-urlencoded' }
        return new Response(form.toString(), { headers })
      }
      case 'no-expiry':
        return Response.json({ ...rotated, token_type: 'Bearer' })
      case 'expiry-as-text':
        return Response.json({ ...usual, expires_in: String(this.lifetimeS) })
      case 'no-token-type':
        return Response.json({ ...rotated, expires_in: this.lifetimeS })
      default:
        return Response.json(usual)
    }
  }

  #refuse(error: string, description?: string): Response {
    const members = { error, ...(description === undefined ? {} : { error_description: description }) }
    if (this.oddity === 'nested-error')
      return Response.json({ error: { code: error, message: description } }, { status: 400 })
    return Response.json(members, { status: this.oddity === 'error-with-200' ? 200 : 400 })
  }

  #call(request: Request): Response {
    this.counts.calls += 1
    const sent = request.headers.get('authorization')
    const now = Date.now()
    for (const { accessToken, expiresAt, isRevoked } of this.#grants) {
      if (sent === `Bearer ${accessToken}` && now < expiresAt && !isRevoked) return Response.json({ ok: true })
    }
    this.counts.refused += 1
    return Response.json({ ok: false }, { status: 401 })
  }

  #next(kind: string): string {
    this.#count += 1
    return `${kind}-token-${this.#count}-${crypto.randomUUID()}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#server.stop(true)
  }
}
