import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { block, document } from '../../../support/make.ts'
import { AuthorizationServer, type Oddity } from '../../../support/outbound/authorization-server.ts'
import { ExecutionWorld } from '../execution-world.ts'

let world: ExecutionWorld
let credentials: string
let browser: Record<string, string>
let names = 0

beforeAll(async () => {
  world = await ExecutionWorld.open({ 'outbound-allow': 'loopback' })
  credentials = `/api/workspaces/${world.workspaceId}/credentials`
  browser = await world.signIn()
})
afterAll(() => world.close())

async function create(server: AuthorizationServer, kind: string, fields: object = {}): Promise<string> {
  names += 1
  const name = `credential-${names}`
  const written = {
    name,
    kind,
    hosts: [server.host],
    fields: { issuer: server.url, clientId: server.clientId, ...fields },
  }
  const body = { ...written, secrets: { clientSecret: server.clientSecret } }
  expect((await world.call(credentials, { body })).status).toBe(201)
  return name
}

const get = async (name: string) => (await world.call(`${credentials}/${name}`)).json

async function untilCredential(name: string, isReached: (credential: { state: string; problem?: string }) => boolean) {
  while (!isReached(await get(name))) await Bun.sleep(50)
}

async function start(name: string, headers = browser, returnTo?: string) {
  const body = returnTo === undefined ? {} : { returnTo }
  return await world.call(`${credentials}/${name}/sign-in`, { key: null, headers, body })
}

/** Follows the sign-in as the person's browser does. Returns the URL of the callback, below the service. */
async function agree(url: string): Promise<string> {
  const { headers } = await fetch(url, { redirect: 'manual' })
  return headers.get('location')!.slice(world.url.length)
}

/** A navigation that the provider's page causes. */
async function visit(path: string, { cookie = '' } = browser) {
  const headers = { cookie, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }
  const response = await fetch(world.url + path, { headers, redirect: 'manual' })
  return { status: response.status, location: response.headers.get('location'), text: await response.text() }
}

async function signIn(name: string): Promise<void> {
  expect((await visit(await agree((await start(name)).json.url))).status).toBe(303)
}

async function deploy(server: AuthorizationServer, credential: string) {
  const id = await world.deploy(
    document({
      name: 'Call',
      blocks: [
        block('start', 'api_trigger'),
        block('call', 'api', { url: `${server.url}/api`, retries: 0, onError: 'continue', credential }),
        block('end', 'response', { data: { status: '<call.status>', error: '<call.error>' } }),
      ],
      edges: ['start > call', 'call > end'],
    }),
  )
  return async () => (await world.call(`/api/workflows/${id}/execute`, { body: {} })).json
}

describe('a sign-in with a credential', () => {
  test('leads to the provider with PKCE and back, and then runs use its token', async () => {
    await using server = new AuthorizationServer()
    const fields = { scope: 'read write', parameters: { access_type: 'offline' } }
    const name = await create(server, 'oauth2_authorization_code', fields)
    const run = await deploy(server, name)
    expect(await get(name)).toMatchObject({ state: 'needs_sign_in', problem: 'Nobody has signed in yet.' })
    expect(await run()).toMatchObject({ error: { code: 'CREDENTIAL_SIGN_IN' } })
    const { json } = await start(name, browser, '/settings?tab=credentials#top')
    const callback = await agree(json.url)
    expect(server.authorized).toMatchObject({
      ...{ response_type: 'code', client_id: server.clientId, scope: 'read write', access_type: 'offline' },
      ...{ code_challenge_method: 'S256', redirect_uri: `${world.url}/api/oauth/callback` },
    })
    expect(await visit(callback)).toMatchObject({
      status: 303,
      location: `/settings?tab=credentials&signed-in=${name}#top`,
    })
    expect(await get(name)).toMatchObject({ state: 'ok', problem: null, secrets: ['clientSecret'] })
    expect(await run()).toMatchObject({ status: 200, error: null })
    expect(server.counts).toMatchObject({ tokenRequests: 1, refreshes: 0 })
    expect(await world.call(`${credentials}/${name}/test`, { body: {} })).toMatchObject({ json: { ok: true } })
  })

  test('is refused in another browser, without a session, and with a state that was changed', async () => {
    await using server = new AuthorizationServer()
    const name = await create(server, 'oauth2_authorization_code')
    const callback = await agree((await start(name)).json.url)
    expect(await visit(callback, await world.signIn())).toMatchObject({ status: 403 })
    expect(await visit(callback, {})).toMatchObject({ status: 403 })
    for (const state of ['', 'x', callback.match(/state=([^&]+)/)![1]!.replace(/^../, 'AA')]) {
      const changed = await visit(callback.replace(/state=[^&]+/, `state=${state}`))
      expect(changed.status).toBe(400)
      expect(changed.text).toContain('was not started here')
    }
    expect(server.counts.tokenRequests).toBe(0)
    expect((await start(name, {})).status).toBe(401)
    expect((await world.call(`${credentials}/${name}/sign-in`, { body: {} })).status).toBe(401)
  })

  test('shows why the provider refused, without running what it says', async () => {
    await using server = new AuthorizationServer()
    const name = await create(server, 'oauth2_authorization_code')
    const state = new URL((await start(name)).json.url).searchParams.get('state')
    const refused = new URLSearchParams({ error: 'access_denied', error_description: '<b>No</b>', state: state! })
    refused.set('iss', server.url)
    const page = await visit(`/api/oauth/callback?${refused}`)
    expect(page.status).toBe(409)
    expect(page.text).toContain('access_denied (&lt;b&gt;No&lt;/b&gt;)')
    refused.set('iss', 'http://other.example')
    expect((await visit(`/api/oauth/callback?${refused}`)).text).toContain('iss')
  })

  test('returns only to pages of the service, and needs a kind that signs in', async () => {
    await using server = new AuthorizationServer()
    const name = await create(server, 'oauth2_authorization_code')
    for (const path of ['https://evil.example', '//evil.example', '/\\evil.example', 'settings', '/\n']) {
      expect((await start(name, browser, path)).status).toBe(400)
    }
    const other = await create(server, 'oauth2_client_credentials')
    expect(await start(other)).toMatchObject({ status: 409 })
    expect(await start('unknown')).toMatchObject({ status: 404 })
  })

  test('on another device ends when the person has agreed there', async () => {
    await using server = new AuthorizationServer()
    const name = await create(server, 'oauth2_device')
    const { json, status } = await world.call(`${credentials}/${name}/sign-in`, { body: {} })
    expect([status, json.verificationUrl]).toEqual([200, `${server.url}/enter`])
    expect(Date.parse(json.expiresAt)).toBeGreaterThan(Date.now())
    server.decide(json.userCode, 'approved')
    await untilCredential(name, ({ state }) => state === 'ok')
    expect(await (await deploy(server, name))()).toMatchObject({ status: 200 })
  })

  test('on another device says that the person refused', async () => {
    await using server = new AuthorizationServer()
    const name = await create(server, 'oauth2_device')
    const { json } = await world.call(`${credentials}/${name}/sign-in`, { body: {} })
    server.decide(json.userCode, 'denied')
    await untilCredential(name, ({ problem }) => problem?.includes('access_denied') === true)
    expect(await get(name)).toMatchObject({ state: 'needs_sign_in' })
  })
})

describe('a token of a person', () => {
  test('is refreshed with the rotated refresh token, once for many requests', async () => {
    await using server = new AuthorizationServer()
    const name = await create(server, 'oauth2_authorization_code')
    await signIn(name)
    const run = await deploy(server, name)
    for (let round = 1; round <= 3; round += 1) {
      server.expire()
      const outcomes = await Promise.all(Array.from({ length: 15 }, run))
      expect(outcomes.map(({ status }) => status)).toEqual(outcomes.map(() => 200))
      expect(server.counts).toMatchObject({ refreshes: round, reuses: 0 })
    }
  })

  test.each<Oddity>(['form', 'no-expiry', 'expiry-as-text', 'no-token-type', 'error-with-200', 'nested-error'])(
    'works with a server that responds oddly: %s',
    async (oddity) => {
      await using server = new AuthorizationServer()
      server.oddity = oddity
      const name = await create(server, 'oauth2_authorization_code')
      await signIn(name)
      const run = await deploy(server, name)
      server.expire()
      expect(await run()).toMatchObject({ status: 200 })
      server.revoke()
      expect(await run()).toMatchObject({ error: { code: 'CREDENTIAL_SIGN_IN' } })
    },
  )

  test('that its person has taken back needs another sign-in, and says why', async () => {
    await using server = new AuthorizationServer()
    const name = await create(server, 'oauth2_authorization_code')
    await signIn(name)
    const run = await deploy(server, name)
    expect(await run()).toMatchObject({ status: 200 })
    server.revoke()
    expect(await run()).toMatchObject({
      error: { code: 'CREDENTIAL_SIGN_IN', message: expect.stringContaining('the grant was revoked') },
    })
    expect(await get(name)).toMatchObject({ state: 'needs_sign_in', problem: expect.stringContaining('invalid_grant') })
    await signIn(name)
    expect(await run()).toMatchObject({ status: 200 })
  })

  test('survives an outage of the server', async () => {
    await using server = new AuthorizationServer()
    const name = await create(server, 'oauth2_authorization_code')
    await signIn(name)
    const run = await deploy(server, name)
    server.expire()
    server.outage = 503
    expect(await run()).toMatchObject({ error: { code: 'CREDENTIAL_FAILED' } })
    expect(await get(name)).toMatchObject({ state: 'failing' })
    server.outage = undefined
    expect(await run()).toMatchObject({ status: 200 })
    expect(await get(name)).toMatchObject({ state: 'ok' })
  })

  test('is refreshed after the statuses that the author names', async () => {
    await using server = new AuthorizationServer()
    const name = await create(server, 'oauth2_authorization_code', { refreshStatuses: '403, 419' })
    await signIn(name)
    const run = await deploy(server, name)
    server.expire()
    expect(await run()).toMatchObject({ status: 401 })
    expect(server.counts.refreshes).toBe(0)
  })
})
