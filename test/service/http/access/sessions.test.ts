import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { hashToken, newToken } from '../../../../src/accounts/sessions.ts'
import { type CallOptions, HttpWorld } from '../world.ts'

let world: HttpWorld
beforeAll(async () => {
  world = await HttpWorld.open()
})
afterAll(() => world.close())

const password = 'correct horse'
const own = { 'sec-fetch-site': 'same-origin' }

/** Creates a sign-in link for the owner or another account. Returns its token. */
async function link(createdAt = Date.now(), userId = world.userId): Promise<string> {
  const token = newToken()
  await world.store.createSignInToken({ hash: hashToken(token), userId, createdAt })
  return token
}

const open = (token: string, headers: Record<string, string> = {}) =>
  world.get(`/sign-in?token=${token}`, { key: null, headers })

const cookieIn = (headers: Headers) => (headers.get('set-cookie') ?? '').split(';')[0] ?? ''

async function signedIn(): Promise<string> {
  return cookieIn((await open(await link())).headers)
}

/** A request from a page of the dashboard. */
function asPage(cookie: string, options: CallOptions = {}): CallOptions {
  return { key: null, ...options, headers: { ...own, cookie, ...options.headers } }
}

describe('a sign-in link', () => {
  test('signs in once, and leads to the dashboard', async () => {
    const token = await link()
    const { status, headers } = await open(token)
    expect([status, headers.get('location'), headers.get('cache-control')]).toEqual([302, '/', 'no-store'])
    expect(headers.get('set-cookie')).toMatch(
      /^millrace_session=[\w-]{43}; Path=\/; Max-Age=2592000; HttpOnly; SameSite=Lax$/,
    )
    const me = await world.get('/api/editor/me', asPage(cookieIn(headers)))
    expect(me.json).toMatchObject({ user: { id: world.userId, hasPassword: false }, service: { noAuth: false } })
    const again = await open(token)
    expect([again.headers.get('location'), again.headers.get('set-cookie')]).toEqual(['/sign-in?link=used', null])
  })

  test('that was used still leads its user to the dashboard', async () => {
    const token = await link()
    const cookie = cookieIn((await open(token)).headers)
    const again = await open(token, { cookie })
    expect([again.headers.get('location'), again.headers.get('set-cookie')]).toEqual(['/', null])
  })

  test('is not used up by a browser that prefetches it', async () => {
    const token = await link()
    expect((await open(token, { 'sec-purpose': 'prefetch;prerender' })).headers.get('set-cookie')).toBeNull()
    expect((await world.call('HEAD', `/sign-in?token=${token}`, { key: null })).headers.get('set-cookie')).toBeNull()
    expect(cookieIn((await open(token)).headers)).not.toBe('')
  })

  test('expires after seven days, and when the next one is created', async () => {
    const day = 86_400_000
    expect((await open(await link(Date.now() - 7 * day - 1000))).headers.get('location')).toBe('/sign-in?link=used')
    const first = await link(Date.now() - 6 * day)
    await link()
    expect((await open(first)).headers.get('location')).toBe('/sign-in?link=used')
  })
})

describe('a session', () => {
  test('replaces a key in the management API, and nowhere else', async () => {
    const cookie = await signedIn()
    const { json } = await world.get('/api/workspaces', asPage(cookie))
    expect(json.data).toMatchObject([{ id: world.workspaceId, role: 'owner' }])
    const logs = await world.get(`/api/v1/logs?workspaceId=${world.workspaceId}`, asPage(cookie))
    expect([logs.status, logs.json.code]).toEqual([401, 'API_KEY_REQUIRED'])
  })

  test('is ignored when the request has a key, even an invalid one', async () => {
    const cookie = await signedIn()
    const response = await world.get('/api/workspaces', asPage(cookie, { key: 'mrk_nonsense' }))
    expect([response.status, response.json.code]).toEqual([401, 'INVALID_API_KEY'])
    const empty = await world.get('/api/workspaces', asPage(cookie, { headers: { 'x-api-key': '' } }))
    expect(empty.status).toBe(200)
  })

  test('is found among other cookies by its exact name', async () => {
    const cookie = await signedIn()
    const status = async (cookies: string) => (await world.get('/api/editor/me', asPage(cookies))).status
    expect(await status(`a=b; ${cookie}; not_millrace_session=x`)).toBe(200)
    expect(await status(`x${cookie}`)).toBe(401)
    expect(await status(cookie.replace('=', '=%'))).toBe(401)
  })

  test('ends when its owner signs out', async () => {
    const cookie = await signedIn()
    const out = await world.call('DELETE', '/api/session', asPage(cookie))
    expect([out.status, out.headers.get('set-cookie')]).toEqual([
      204,
      'millrace_session=; Path=/; Max-Age=0; HttpOnly; SameSite=Lax',
    ])
    const after = await world.get('/api/editor/me', asPage(cookie))
    expect([after.status, after.json.code]).toEqual([401, 'SIGN_IN_REQUIRED'])
    expect((await world.call('DELETE', '/api/session', asPage(cookie))).status).toBe(204)
  })

  test('can end all other sessions of its account', async () => {
    const [here, there] = [await signedIn(), await signedIn()]
    const outsider = cookieIn((await open(await link(Date.now(), await world.accounts.addUser()))).headers)
    const status = async (cookie: string) => (await world.get('/api/editor/me', asPage(cookie))).status
    expect([await status(here), await status(there), await status(outsider)]).toEqual([200, 200, 200])
    expect((await world.call('DELETE', '/api/editor/me/sessions', asPage(here))).status).toBe(204)
    expect([await status(here), await status(there), await status(outsider)]).toEqual([200, 401, 200])
  })

  test('that was set over https is sent only over https', async () => {
    const token = await link()
    const { headers } = await open(token, { 'x-forwarded-proto': 'https' })
    expect(headers.get('set-cookie')).toEndWith('; SameSite=Lax; Secure')
  })
})

describe('a change with a session', () => {
  const send = async (headers: Record<string, string>, method = 'POST') => {
    const cookie = await signedIn()
    const body = { name: crypto.randomUUID(), blocks: {}, edges: [] }
    return world.call(method, '/api/workflows', { key: null, body, headers: { cookie, ...headers } })
  }
  const statusOf = async (headers: Record<string, string>) => (await send(headers)).status

  test("is accepted from the service's own pages", async () => {
    expect(await statusOf({ 'sec-fetch-site': 'same-origin' })).toBe(201)
    expect(await statusOf({ 'sec-fetch-site': 'none' })).toBe(201)
    expect(await statusOf({ origin: world.url })).toBe(201)
  })

  test('is refused from all other pages, whatever the request claims', async () => {
    const elsewhere = [
      {},
      { 'sec-fetch-site': 'cross-site' },
      // Other ports and subdomains of the same site receive the same cookies.
      { 'sec-fetch-site': 'same-site' },
      { 'sec-fetch-site': 'cross-site', origin: world.url },
      { origin: 'https://evil.example' },
      { origin: `http://127.0.0.1:${world.port + 1}` },
      { origin: 'null' },
      { origin: '' },
      { origin: `${world.url}.evil.example` },
      { origin: 'file://', 'sec-fetch-site': 'cross-site' },
    ]
    for (const headers of elsewhere) {
      const { status, json } = await send(headers)
      expect([headers, status, json.code]).toEqual([headers, 403, 'FORBIDDEN'])
    }
  })

  test('is accepted behind a proxy that forwards the public host', async () => {
    const origin = 'https://flows.example.com'
    expect(await statusOf({ origin, host: 'flows.example.com' })).toBe(201)
    expect(await statusOf({ origin, host: 'flows.example.com:443' })).toBe(201)
    expect(await statusOf({ origin, host: 'internal', 'x-forwarded-host': 'flows.example.com' })).toBe(201)
    const proxied = { origin, 'x-forwarded-host': 'flows.example.com, internal', 'x-forwarded-proto': 'https' }
    expect(await statusOf(proxied)).toBe(201)
    expect(await statusOf({ ...proxied, origin: 'http://flows.example.com' })).toBe(403)
    expect(await statusOf({ ...proxied, origin: 'https://flows.example.com:8443' })).toBe(403)
  })

  test('is not allowed to other pages by a preflight', async () => {
    const asked = await world.call('OPTIONS', '/api/workflows', {
      key: null,
      headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
    })
    expect([...asked.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
  })

  test('a change with a key needs no origin, because programs send none', async () => {
    const body = { name: crypto.randomUUID(), blocks: {}, edges: [] }
    const headers = { 'sec-fetch-site': 'cross-site', cookie: await signedIn() }
    expect((await world.post('/api/workflows', body, { headers })).status).toBe(201)
  })
})

/** A hash takes 50 ms, and more on a busy machine. */
const slowMs = 30_000

describe('signing in with a password', () => {
  const signIn = (body: unknown, headers: Record<string, string> = own) =>
    world.post('/api/session', body, { key: null, headers })
  const email = 'OWNER@example.com'

  test(
    'accepts the password, requires it for a change, and a change ends all other sessions',
    async () => {
      const first = await signedIn()
      const other = await signedIn()
      const set = (body: unknown, cookie = first) =>
        world.call('PUT', '/api/editor/me/password', asPage(cookie, { body }))
      expect((await set({ password: 'short' })).json.code).toBe('INVALID_INPUT')
      expect((await set({ password })).status).toBe(204)
      expect((await world.get('/api/editor/me', asPage(first))).json.user.hasPassword).toBe(true)
      expect((await world.get('/api/editor/me', asPage(other))).status).toBe(401)

      const { status, json, headers } = await signIn({ email, password })
      expect([status, json.userId]).toEqual([200, world.userId])
      expect((await world.get('/api/editor/me', asPage(cookieIn(headers)))).status).toBe(200)

      expect((await set({ password: 'another one' })).json.details).toMatchObject([{ path: 'currentPassword' }])
      const wrong = await set({ password: 'another one', currentPassword: 'wrong horse' })
      expect([wrong.status, wrong.json.code]).toEqual([401, 'INVALID_CREDENTIALS'])
      expect((await set({ password: `${password}!`, currentPassword: password })).status).toBe(204)
      expect((await signIn({ email, password })).status).toBe(401)
      expect((await signIn({ email, password: `${password}!` })).status).toBe(200)
    },
    slowMs,
  )

  test(
    'is required for a new API key',
    async () => {
      const userId = await world.accounts.addUser()
      const cookie = cookieIn((await open(await link(Date.now(), userId))).headers)
      const create = (body: object) =>
        world.call('POST', '/api/editor/keys', asPage(cookie, { body: { name: 'ci', ...body } }))
      expect((await create({})).status).toBe(201)
      await world.call('PUT', '/api/editor/me/password', asPage(cookie, { body: { password } }))
      expect((await create({})).json.details).toMatchObject([{ path: 'currentPassword' }])
      expect((await create({ currentPassword: 'wrong horse' })).json.code).toBe('INVALID_CREDENTIALS')
      expect((await create({ currentPassword: password })).status).toBe(201)
      const listed = await world.get('/api/editor/keys', asPage(cookie))
      expect(listed.json.data).toHaveLength(2)
    },
    slowMs,
  )

  test(
    'uses the current e-mail of the account',
    async () => {
      const userId = await world.accounts.addUser()
      const cookie = cookieIn((await open(await link(Date.now(), userId))).headers)
      const change = (body: unknown) => world.call('PUT', '/api/editor/me/email', asPage(cookie, { body }))
      expect((await change({ email: 'no address' })).json.details).toMatchObject([{ path: 'email' }])
      expect((await change({ email })).json.code).toBe('CONFLICT')
      expect((await change({ email: 'grace@example.com' })).status).toBe(204)
      await world.call('PUT', '/api/editor/me/password', asPage(cookie, { body: { password } }))
      expect((await signIn({ email: 'grace@example.com', password })).json.userId).toBe(userId)
      expect((await signIn({ email: `${userId}@example.com`, password })).status).toBe(401)
      expect((await change({ email: 'g@example.com' })).json.details).toMatchObject([{ path: 'currentPassword' }])
      expect((await change({ email: 'g@example.com', currentPassword: password })).status).toBe(204)
    },
    slowMs,
  )

  test(
    'gives the same response for an unknown account, an account without a password, and a wrong password',
    async () => {
      const userId = await world.accounts.addUser()
      const responses = [
        await signIn({ email: 'nobody@example.com', password }),
        await signIn({ email: `${userId}@example.com`, password }),
        await signIn({ email: `${userId}@example.com`, password: '' }),
      ]
      expect(responses.map(({ status }) => status)).toEqual([401, 401, 400])
      expect(responses[0]?.json).toEqual(responses[1]?.json)
    },
    slowMs,
  )

  test(
    'is refused to pages of another origin, which could sign a visitor in to a foreign account',
    async () => {
      expect((await signIn({ email, password }, { origin: 'https://evil.example' })).status).toBe(403)
      expect((await signIn({ email, password }, {})).status).toBe(403)
    },
    slowMs,
  )

  test(
    'is limited per minute and account, for right and wrong passwords',
    async () => {
      const attempts = await Promise.all(
        Array.from({ length: 14 }, () => signIn({ email: 'bounded@example.com', password })),
      )
      const refused = attempts.filter(({ status }) => status === 429)
      expect(refused).toHaveLength(4)
      expect(Number(refused[0]?.headers.get('retry-after'))).toBeWithin(1, 61)
    },
    slowMs,
  )
})
