import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { block, document } from '../../../support/make.ts'
import { TokenServer } from '../../../support/outbound/token-server.ts'
import { ExecutionWorld } from '../execution-world.ts'

let world: ExecutionWorld
let server: TokenServer
let credentials: string
let names = 0

beforeAll(async () => {
  world = await ExecutionWorld.open({ 'outbound-allow': 'loopback' })
  credentials = `/api/workspaces/${world.workspaceId}/credentials`
})
afterAll(() => world.close())
beforeEach(() => {
  server = new TokenServer()
})

async function create(kind: string, fields: object, secrets: object): Promise<string> {
  names += 1
  const name = `credential-${names}`
  const created = await world.call(credentials, { body: { name, kind, hosts: [server.host], fields, secrets } })
  expect(created.status).toBe(201)
  return name
}

const client = (more: object = {}) =>
  create(
    'oauth2_client_credentials',
    { tokenUrl: `${server.url}/token`, clientId: 'client', ...more },
    { clientSecret: 'secret-1234' },
  )

async function deploy(
  credential: string,
): Promise<() => Promise<{ status: number; error: { code: string; message: string } | null; log: string }>> {
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
  return async () => {
    const { json, headers } = await world.call(`/api/workflows/${id}/execute`, { body: {} })
    const log = await world.call(`/api/v1/logs/executions/${headers.get('x-execution-id')}`)
    return { ...json, log: log.text }
  }
}

describe('a token', () => {
  test('is got once for many requests, and never shown', async () => {
    const run = await deploy(await client({ scope: 'read write', audience: 'all', parameters: { extra: 'x' } }))
    const outcomes = await Promise.all(Array.from({ length: 10 }, run))
    for (const { status, log } of outcomes) {
      expect(status).toBe(200)
      expect(log).not.toMatch(/secret-1234|token-number/)
    }
    const authorization = `Basic ${btoa('client:secret-1234')}`
    const asked = { grant_type: 'client_credentials', scope: 'read write', audience: 'all', extra: 'x' }
    expect(server.requests).toEqual([{ ...asked, authorization }])
  })

  test('is got again once when a service refuses it', async () => {
    const run = await deploy(await client())
    expect((await run()).status).toBe(200)
    server.revoke()
    expect((await run()).status).toBe(200)
    expect(server.requests).toHaveLength(2)
  })

  test('that is still refused fails the block after one repetition', async () => {
    server.respond = (members) => Response.json({ ...members, access_token: 'a-wrong-token' })
    const run = await deploy(await client())
    expect(await run()).toMatchObject({ status: 401, error: { code: 'HTTP_ERROR' } })
    expect(server.requests).toHaveLength(2)
  })

  test.each([
    ['as a form', (members: object) => form(members)],
    ['with the lifetime as text', (members: object) => Response.json({ ...members, expires_in: '3600' })],
    ['without a token type', (members: object) => Response.json({ ...members, token_type: undefined })],
    ['without a lifetime', (members: object) => Response.json({ ...members, expires_in: undefined })],
  ])('may come %s', async (_, respond) => {
    server.respond = respond
    const run = await deploy(await client())
    expect((await run()).status).toBe(200)
    expect((await run()).status).toBe(200)
    expect(server.requests).toHaveLength(1)
  })

  test.each([
    [
      () => Response.json({ error: 'invalid_client', error_description: 'No such client.' }, { status: 401 }),
      'invalid_client (No such client.)',
    ],
    [() => Response.json({ error: 'invalid_scope' }), 'invalid_scope'],
    [() => new Response('<h1>Oops</h1>', { status: 500 }), 'invalid_response'],
    [() => Response.json({ error: { code: 190, message: 'Revoked.' } }, { status: 400 }), '190 (Revoked.)'],
    [() => Response.redirect('https://example.com/', 302), 'got no token'],
  ])('that is not issued fails the block, and the credential says why', async (respond, why) => {
    server.respond = respond
    const name = await client()
    const { error } = await (await deploy(name))()
    expect(error).toMatchObject({ code: 'CREDENTIAL_FAILED', message: expect.stringContaining(why) })
    const { json } = await world.call(`${credentials}/${name}`)
    expect(json).toMatchObject({ state: 'failing', problem: expect.stringContaining(why) })
  })

  test('that is refused with the secret in the error shows it nowhere', async () => {
    server.respond = () => Response.json({ error: 'bad', error_description: 'Wrong: secret-1234.' }, { status: 400 })
    const name = await client()
    const { error, log } = await (await deploy(name))()
    const tested = await world.call(`${credentials}/${name}/test`, { body: { url: `${server.url}/api` } })
    expect(tested.json).toMatchObject({ ok: false, error: expect.stringContaining('bad') })
    const { text } = await world.call(`${credentials}/${name}`)
    expect(log + tested.text + text).not.toContain('secret-1234')
    expect(error).toMatchObject({ code: 'CREDENTIAL_FAILED' })
  })

  test('comes from the endpoint that the metadata of the issuer names', async () => {
    const fields = { issuer: server.url, clientId: 'client', authMethod: 'post' }
    const run = await deploy(await create('oauth2_client_credentials', fields, { clientSecret: 'secret-1234' }))
    expect((await run()).status).toBe(200)
    const asked = { grant_type: 'client_credentials', client_id: 'client', client_secret: 'secret-1234' }
    expect(server.requests).toEqual([asked])
  })

  test('is asked for with a signed assertion', async () => {
    const keys = await crypto.subtle.generateKey(
      { name: 'RSASSA-PKCS1-v1_5', modulusLength: 2_048, publicExponent: Uint8Array.of(1, 0, 1), hash: 'SHA-256' },
      true,
      ['sign', 'verify'],
    )
    const der = new Uint8Array(await crypto.subtle.exportKey('pkcs8', keys.privateKey))
    const pem = `-----BEGIN PRIVATE KEY-----\n${der.toBase64()}\n-----END PRIVATE KEY-----\n`
    const key = {
      client_email: 'robot@example.com',
      private_key: pem,
      private_key_id: 'k1',
      token_uri: `${server.url}/token`,
    }
    const google = await create(
      'google_service_account',
      { scope: 'a b', subject: 'ada@example.com' },
      { key: JSON.stringify(key) },
    )
    const bearer = await create(
      'oauth2_client_credentials',
      { tokenUrl: `${server.url}/token`, clientId: 'client', authMethod: 'private_key_jwt' },
      { privateKey: pem },
    )
    expect((await (await deploy(google))()).status).toBe(200)
    expect((await (await deploy(bearer))()).status).toBe(200)
    const [first, second] = server.requests
    const claims = await verified(first?.['assertion'] ?? '', keys.publicKey)
    expect(first?.['grant_type']).toBe('urn:ietf:params:oauth:grant-type:jwt-bearer')
    expect(claims).toMatchObject({
      iss: 'robot@example.com',
      sub: 'ada@example.com',
      scope: 'a b',
      aud: `${server.url}/token`,
    })
    expect((claims['exp'] ?? 0) - (claims['iat'] ?? 0)).toBe(3_600)
    expect(await verified(second?.['client_assertion'] ?? '', keys.publicKey)).toMatchObject({
      iss: 'client',
      sub: 'client',
    })
  })
})

function form(members: object): Response {
  const pairs = Object.entries(members).map(([name, value]) => [name, String(value)])
  return new Response(new URLSearchParams(pairs).toString(), {
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
  })
}

async function verified(token: string, key: CryptoKey): Promise<Record<string, number>> {
  const [header = '', claims = '', signature = ''] = token.split('.')
  const bytes = Uint8Array.fromBase64(signature, { alphabet: 'base64url' })
  const isValid = await crypto.subtle.verify('RSASSA-PKCS1-v1_5', key, bytes, Buffer.from(`${header}.${claims}`))
  expect(isValid).toBe(true)
  return JSON.parse(Buffer.from(claims, 'base64url').toString())
}
