import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { challengeOf } from '../../../src/accounts/oauth/tokens.ts'
import { hashToken, newToken } from '../../../src/accounts/sessions.ts'
import { HttpWorld } from './world.ts'

let world: HttpWorld
let cookie: string
beforeAll(async () => {
  world = await HttpWorld.open()
  cookie = await sessionOf(world.userId)
})
afterAll(() => world.close())

const redirectUri = 'http://127.0.0.1/callback'
const verifier = 'v'.repeat(43)

/** Signs an account in by a link. Returns its cookie. */
async function sessionOf(userId: string): Promise<string> {
  const token = newToken()
  await world.store.createSignInToken({ hash: hashToken(token), userId, createdAt: Date.now() })
  const { headers } = await world.get(`/sign-in?token=${token}`, { key: null })
  return headers.get('set-cookie')?.split(';')[0] ?? ''
}

async function register(uris: readonly string[] = [redirectUri]) {
  return await world.call('POST', '/oauth/register', { key: null, body: { redirect_uris: uris, client_name: 'Desk' } })
}
async function clientId(): Promise<string> {
  return (await register()).json.client_id
}

function queryFor(client: string, more: Record<string, string> = {}): string {
  return new URLSearchParams({
    ...{ client_id: client, redirect_uri: 'http://127.0.0.1:4711/callback', response_type: 'code', state: 'here' },
    ...{ code_challenge: challengeOf(verifier) ?? '', code_challenge_method: 'S256', ...more },
  }).toString()
}

const page = (session = cookie) => ({ key: null, headers: { cookie: session, origin: world.url } })
const decide = async (query: string, workspaceId = world.workspaceId, session = cookie) =>
  await world.call('POST', '/api/editor/applications/consent', { ...page(session), body: { query, workspaceId } })

async function codeFor(client: string, more?: Record<string, string>, workspaceId?: string, session?: string) {
  const { json, text } = await decide(queryFor(client, more), workspaceId, session)
  const code = URL.parse(json.redirectTo ?? '')?.searchParams.get('code')
  if (!code) throw new Error(`There is no code in ${text}`)
  return code
}

async function post(path: string, form: Record<string, string>) {
  return await world.call('POST', path, { key: null, text: new URLSearchParams(form).toString() })
}
const exchange = async (client: string, code: string, more: Record<string, string> = {}) =>
  await post('/oauth/token', {
    ...{ grant_type: 'authorization_code', client_id: client, code, code_verifier: verifier },
    ...{ redirect_uri: 'http://127.0.0.1:4711/callback', ...more },
  })
const refresh = async (client: string, token: string, more: Record<string, string> = {}) =>
  await post('/oauth/token', { grant_type: 'refresh_token', client_id: client, refresh_token: token, ...more })

/** The status of a request of the MCP server with a token. */
async function ping(token: string, path = '/mcp') {
  const headers = { authorization: `Bearer ${token}` }
  return await world.call('POST', path, { key: null, headers, body: { jsonrpc: '2.0', id: 1, method: 'ping' } })
}
async function toolNames(token: string): Promise<string[]> {
  const headers = { authorization: `Bearer ${token}` }
  const body = { jsonrpc: '2.0', id: 1, method: 'tools/list' }
  const { json } = await world.call('POST', '/mcp', { key: null, headers, body })
  return json.result.tools.map(({ name }: { name: string }) => name)
}

describe('a registration', () => {
  const refused = {
    'a plain http address': ['http://desk.example/'],
    'an address with a fragment': ['https://desk.example/#top'],
    'an address with a password': ['https://me:secret@desk.example/'],
    'a script': ['javascript:/alert(1)'],
    'a relative address': ['/callback'],
    'no address': [],
    'too many addresses': Array.from({ length: 11 }, (_, n) => `https://desk.example/${n}`),
    'a long address': [`https://desk.example/${'x'.repeat(2_000)}`],
  }
  for (const [name, uris] of Object.entries(refused)) {
    test(`is refused with ${name}`, async () => {
      expect(await register(uris)).toMatchObject({ status: 400, json: { error: 'invalid_redirect_uri' } })
    })
  }

  test('accepts https, a loopback address, and schemes of applications', async () => {
    const uris = ['https://desk.example/', 'http://localhost:1/', 'http://[::1]/', 'desk.example:/back', 'desk://back']
    expect(await register(uris)).toMatchObject({
      status: 201,
      json: { client_name: 'Desk', redirect_uris: uris, token_endpoint_auth_method: 'none' },
    })
  })
})

describe('the authorization page', () => {
  test('describes the request and the application that sends it', async () => {
    const query = encodeURIComponent(queryFor(await clientId()))
    const { json } = await world.get(`/api/editor/applications/consent?query=${query}`, page())
    expect(json).toMatchObject({ name: 'Desk', sentTo: 'this computer (127.0.0.1:4711)', refusal: null })
    expect(json.workspaces).toMatchObject([{ id: world.workspaceId, role: 'owner' }])
  })

  test('sends nobody to an address that is not registered exactly', async () => {
    const client = (await register(['https://desk.example/a', redirectUri])).json.client_id
    const foreign = [
      ...['https://desk.example/', 'https://desk.example/a/', 'https://desk.example/a?b', 'https://desk.example:444/a'],
      ...[
        'http://127.0.0.1/other',
        'http://localhost/callback',
        'http://127.0.0.1/callback?x',
        'https://127.0.0.1/callback',
      ],
      ...['https://desk.example@evil.example/a', 'http://user@127.0.0.1/callback', 'javascript:alert(1)'],
    ]
    for (const uri of foreign) {
      const { status, text } = await decide(queryFor(client, { redirect_uri: uri }))
      expect([uri, status, text.includes('redirectTo')]).toEqual([uri, 400, false])
    }
    for (const uri of ['https://desk.example/a', redirectUri, 'http://127.0.0.1:65535/callback']) {
      expect([uri, (await decide(queryFor(client, { redirect_uri: uri }))).status]).toEqual([uri, 200])
    }
    expect((await decide(queryFor('unknown'))).status).toBe(400)
    expect((await decide(`${queryFor(client)}&client_id=${client}`)).status).toBe(400)
  })

  const refusals = {
    'another response type': [{ response_type: 'token' }, 'unsupported_response_type'],
    'no challenge': [{ code_challenge: '' }, 'invalid_request'],
    'a plain challenge': [{ code_challenge_method: 'plain' }, 'invalid_request'],
    'another resource': [{ resource: 'https://elsewhere.example/mcp' }, 'invalid_target'],
    'the API as the resource': [{ resource: '<base>/api' }, 'invalid_target'],
    'a long state': [{ state: 'x'.repeat(2_001) }, 'invalid_request'],
  } as const
  for (const [name, [more, error]] of Object.entries(refusals)) {
    test(`gives no code for ${name}, and shows why`, async () => {
      const base = world.services.settings.baseUrl()
      const filled = Object.entries(more).map(([key, value]) => [key, value.replace('<base>', base)])
      const query = queryFor(await clientId(), Object.fromEntries(filled))
      expect((await decide(query)).status).toBe(400)
      const { json } = await world.get(`/api/editor/applications/consent?query=${encodeURIComponent(query)}`, page())
      const back = new URL(json.refusal.redirectTo)
      expect([back.searchParams.get('error'), back.searchParams.get('iss')]).toEqual([error, base])
    })
  }

  test('grants only workspaces of the account, and only the one that the resource names', async () => {
    const [client, base] = [await clientId(), world.services.settings.baseUrl()]
    expect((await decide(queryFor(client), 'nowhere')).status).toBe(404)
    const query = queryFor(client, { resource: `${base}/mcp/another` })
    expect((await decide(query)).status).toBe(400)
  })

  test('needs a session of this service, on its own page', async () => {
    const body = { query: queryFor(await clientId()), workspaceId: world.workspaceId }
    const path = '/api/editor/applications/consent'
    expect((await world.call('POST', path, { key: null, body })).status).toBe(401)
    const headers = { cookie, origin: 'https://elsewhere.example' }
    expect((await world.call('POST', path, { key: null, headers, body })).status).toBe(403)
  })
})

describe('a code', () => {
  const refusals = {
    'another verifier': [{ code_verifier: 'w'.repeat(43) }, 'invalid_grant'],
    'a short verifier': [{ code_verifier: 'v' }, 'invalid_grant'],
    'another address': [{ redirect_uri: 'http://127.0.0.1:4712/callback' }, 'invalid_grant'],
    'another client': [{ client_id: 'other' }, 'invalid_grant'],
    'another resource': [{ resource: 'https://elsewhere.example/mcp' }, 'invalid_target'],
    'another grant type': [{ grant_type: 'password' }, 'unsupported_grant_type'],
    'no verifier': [{ code_verifier: '' }, 'invalid_request'],
  } as const
  for (const [name, [more, error]] of Object.entries(refusals)) {
    test(`gives no tokens with ${name}`, async () => {
      const client = await clientId()
      const result = await exchange(client, await codeFor(client), more)
      expect(result).toMatchObject({ status: 400, json: { error } })
      expect(result.headers.get('cache-control')).toBe('no-store')
    })
  }

  test('revokes the tokens that it gave when it is used again', async () => {
    const client = await clientId()
    const code = await codeFor(client)
    const { json, status } = await exchange(client, code)
    expect([status, json.token_type, json.expires_in, json.scope]).toEqual([200, 'Bearer', 3_600, 'mcp'])
    expect((await ping(json.access_token)).status).toBe(200)
    expect(await exchange(client, code)).toMatchObject({ status: 400, json: { error: 'invalid_grant' } })
    expect((await ping(json.access_token)).status).toBe(401)
    expect((await refresh(client, json.refresh_token)).json.error).toBe('invalid_grant')
  })
})

describe('a refresh token', () => {
  test('is for its client and resource, and changes with each use', async () => {
    const [client, base] = [await clientId(), world.services.settings.baseUrl()]
    const first = (await exchange(client, await codeFor(client, { resource: `${base}/mcp` }))).json
    expect((await refresh('other', first.refresh_token)).json.error).toBe('invalid_grant')
    const elsewhere = await refresh(client, first.refresh_token, { resource: `${base}/mcp/x` })
    expect(elsewhere.json.error).toBe('invalid_target')
    const second = (await refresh(client, first.refresh_token, { resource: `${base}/mcp` })).json
    expect(second.refresh_token).not.toBe(first.refresh_token)
    expect((await ping(first.access_token)).status).toBe(401)
    expect((await ping(second.access_token)).status).toBe(200)
    // A client that sent the same request twice at once gets the same tokens.
    const { expires_in: _, ...again } = (await refresh(client, first.refresh_token)).json
    expect(second).toMatchObject(again)

    const third = (await refresh(client, second.refresh_token)).json
    expect((await refresh(client, first.refresh_token)).json.error).toBe('invalid_grant')
    expect((await ping(third.access_token)).status).toBe(401)
  })
})

describe('an access token', () => {
  test('acts with the role that its account has at the time of the request', async () => {
    const userId = await world.accounts.addUser()
    await world.accounts.addMember(userId, world.workspaceId, 'editor')
    const client = await clientId()
    const code = await codeFor(client, {}, world.workspaceId, await sessionOf(userId))
    const { access_token: token, refresh_token: next } = (await exchange(client, code)).json
    expect(await toolNames(token)).toContain('deploy_workflow')
    await world.store.setMember(world.workspaceId, userId, 'viewer')
    expect(await toolNames(token)).not.toContain('deploy_workflow')
    expect(await toolNames(token)).toContain('list_workflows')
    await world.store.removeMember(world.workspaceId, userId)
    expect((await ping(token)).status).toBe(401)
    expect((await refresh(client, next)).json.error).toBe('invalid_grant')
  })

  test('works in its workspace only, and for nothing but MCP', async () => {
    const client = await clientId()
    const { access_token: token, refresh_token: next } = (await exchange(client, await codeFor(client))).json
    expect((await ping(token, `/mcp/${world.workspaceId}`)).status).toBe(200)
    expect((await ping(token, '/mcp/another')).status).toBe(404)
    for (const key of [token, next]) {
      expect((await world.get('/api/workflows', { key })).status).toBe(401)
      expect((await world.get('/api/v1/logs', { key })).status).toBe(401)
      const headers = { authorization: `Bearer ${key}` }
      expect((await world.get('/api/workflows', { key: null, headers })).status).toBe(401)
    }
    // A refresh token is not an access token.
    expect((await ping(next)).status).toBe(401)
  })
})

test('guesses are limited, and lock out no client at the same address', async () => {
  const client = await clientId()
  const { access_token: token, refresh_token: next } = (await exchange(client, await codeFor(client))).json
  const guess = (n: number) => `mrr_${'a'.repeat(22)}.${String(n).padStart(54, 'b')}`
  const statuses = new Set<number>()
  for (let n = 0; n < 70; n += 1) statuses.add((await refresh(client, guess(n))).status)
  expect([...statuses]).toContain(429)
  expect((await ping(`mra_${'x'.repeat(54)}`)).status).toBe(429)
  expect((await post('/oauth/revoke', { client_id: client, token: guess(0) })).status).toBe(429)
  expect((await ping(token)).status).toBe(200)
  expect((await refresh(client, next)).status).toBe(200)
})

test('the keys with which tools call the API are valid for a minute only, and cannot be made up', async () => {
  const client = await clientId()
  const { access_token: token } = (await exchange(client, await codeFor(client))).json
  const row = await world.services.oauth.find(token)
  const key = world.services.oauth.ownKey(row?.id ?? '')
  expect((await world.get('/api/workflows', { key })).status).toBe(200)
  const [, id = '', at = '', mac = ''] = /^mri_(.*)\.(\d+)\.(.*)$/.exec(key) ?? []
  for (const forged of [`mri_${id}.${Number(at) + 1}.${mac}`, `mri_other.${at}.${mac}`, 'mri_', 'mri_x.1.y']) {
    expect((await world.get('/api/workflows', { key: forged })).status).toBe(401)
  }
})
