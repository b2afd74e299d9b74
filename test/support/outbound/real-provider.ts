import Provider from 'oidc-provider'

/** The OpenID provider of the package `oidc-provider`, on loopback. It has one client, and rotates refresh tokens. */
export async function startRealProvider(redirectUri: string, tokenSeconds: number) {
  const port = await freePort()
  const issuer = `http://127.0.0.1:${port}`
  const provider = new Provider(issuer, {
    clients: [
      {
        ...{ client_id: 'millrace', client_secret: 'secret-of-the-client', redirect_uris: [redirectUri] },
        ...{ grant_types: ['authorization_code', 'refresh_token'], response_types: ['code'] },
      },
    ],
    scopes: ['openid', 'offline_access'],
    findAccount: (_: unknown, accountId: string) => ({ accountId, claims: () => ({ sub: accountId }) }),
    pkce: { required: () => true },
    rotateRefreshToken: true,
    issueRefreshToken: async () => true,
    ttl: { AccessToken: tokenSeconds, Grant: 3_600, Interaction: 600, Session: 600, IdToken: 60, RefreshToken: 3_600 },
    cookies: { keys: ['a key for cookies'] },
  })
  const server = provider.listen(port, '127.0.0.1')
  return { issuer, stop: () => new Promise((resolve) => server.close(resolve)) }
}

async function freePort(): Promise<number> {
  const server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response() })
  const { port } = server
  await server.stop(true)
  return port!
}

/** Signs in and agrees on the provider's pages, as a person does in a browser. Returns the URL of the callback. */
export async function agreeAt(url: string, callback: string): Promise<string> {
  const cookies = new Map<string, string>()
  let next = url
  for (let step = 0; step < 20; step += 1) {
    if (next.startsWith(callback)) return next
    let response = await visit(next, cookies)
    if (response.status === 200) {
      // A form: first for the name and the password, then for the consent.
      const page = await response.text()
      const action = /<form[^>]*action="([^"]+)"/.exec(page)?.[1]
      const prompt = /name="prompt" value="([^"]+)"/.exec(page)?.[1]
      if (action === undefined || prompt === undefined)
        throw new Error(`There is no form at ${next}: ${page.slice(0, 500)}`)
      const body = new URLSearchParams({ prompt, login: 'ada', password: 'any' }).toString()
      response = await visit(new URL(action, next).href, cookies, body)
    }
    const location = response.headers.get('location')
    if (location === null) throw new Error(`${next} responded with ${response.status}: ${await response.text()}`)
    next = new URL(location, next).href
  }
  throw new Error('The provider redirects without end')
}

async function visit(url: string, cookies: Map<string, string>, body?: string): Promise<Response> {
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const type = body === undefined ? {} : { 'content-type': 'application/x-www-form-urlencoded' }
  const sent = body === undefined ? {} : { method: 'POST', body }
  const response = await fetch(url, { ...sent, headers: { cookie, ...type }, redirect: 'manual' })
  for (const line of response.headers.getSetCookie()) {
    const [pair = ''] = line.split(';')
    const equals = pair.indexOf('=')
    cookies.set(pair.slice(0, equals), pair.slice(equals + 1))
  }
  return response
}
