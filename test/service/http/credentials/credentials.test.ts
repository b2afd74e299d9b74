import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join, resolve } from 'node:path'
import { block, document } from '../../../support/make.ts'
import { Recorder } from '../../../support/outbound/recorder.ts'
import { ExecutionWorld } from '../execution-world.ts'

let world: ExecutionWorld
let service: Recorder
/** A host that no credential may be sent to. */
let stranger: Recorder
let credentials: string
let names = 0

beforeAll(async () => {
  world = await ExecutionWorld.open({ 'outbound-allow': 'loopback' })
  credentials = `/api/workspaces/${world.workspaceId}/credentials`
  service = new Recorder()
  stranger = new Recorder()
})
afterAll(async () => {
  service.stop()
  stranger.stop()
  await world.close()
})

async function create(kind: string, fields: object, secrets: object, hosts = [service.host]): Promise<string> {
  names += 1
  const name = `credential-${names}`
  const created = await world.call(credentials, { body: { name, kind, hosts, fields, secrets } })
  expect(created.json).toMatchObject({ name, kind, hosts, state: 'untested', usedBy: [] })
  expect(created.status).toBe(201)
  return name
}

/** Runs a workflow with one API block. Returns the outputs of the block, and the log entry as text. */
async function request(params: object) {
  const outputs = Object.fromEntries(['data', 'status', 'error'].map((name) => [name, `<call.${name}>`]))
  const id = await world.deploy(
    document({
      name: 'Call',
      blocks: [
        block('start', 'api_trigger'),
        block('call', 'api', { retries: 0, onError: 'continue', ...params }),
        block('end', 'response', { data: outputs }),
      ],
      edges: ['start > call', 'call > end'],
    }),
  )
  service.requests.length = 0
  stranger.requests.length = 0
  const { json, headers } = await world.call(`/api/workflows/${id}/execute`, { body: {} })
  const log = await world.call(`/api/v1/logs/executions/${headers.get('x-execution-id')}`)
  expect(log.status).toBe(200)
  return { ...(json.output ?? json), log: JSON.stringify(log.json) }
}

describe('a request with a credential', () => {
  test.each([
    ['basic', { username: 'ada' }, { password: 'hunter2 ü' }, { authorization: `Basic ${btoa('ada:hunter2 Ã¼')}` }],
    ['bearer', {}, { token: 'token-1234' }, { authorization: 'Bearer token-1234' }],
    ['bearer', { prefix: 'Token' }, { token: 'token-1234' }, { authorization: 'Token token-1234' }],
    ['header', { name: 'X-API-Key' }, { value: 'value-1234' }, { 'x-api-key': 'value-1234' }],
  ] as const)('of kind %s %j has its header', async (kind, fields, secrets, headers) => {
    const name = await create(kind, fields, secrets)
    const { status, log } = await request({ url: `${service.url}/x`, credential: name })
    expect(status).toBe(200)
    expect(service.requests).toMatchObject([{ url: '/x', headers }])
    for (const secret of Object.values(secrets)) expect(log).not.toContain(secret)
    expect(log).not.toContain(Object.values(headers)[0]!)
  })

  test('of kind query has its parameter, in place of one of the same name', async () => {
    const name = await create('query', { name: 'api_key' }, { value: 'v&1234=' })
    const { log } = await request({ url: `${service.url}/x?a=1&api_key=mine&b=%20`, credential: name })
    expect(service.requests[0]?.url).toBe('/x?a=1&b=%20&api_key=v%261234%3D')
    expect(log).not.toMatch(/v&1234=|v%261234/)
  })

  test('of kind path has its part of the path', async () => {
    const name = await create('path', { name: 'token' }, { value: '123:ABC/def' })
    const { log } = await request({ url: `${service.url}/bot{token}/getMe`, credential: name })
    expect(service.requests[0]?.url).toBe('/bot123%3AABC%2Fdef/getMe')
    expect(log).not.toMatch(/123:ABC|123%3AABC/)
    const { error } = await request({ url: `${service.url}/getMe`, credential: name })
    expect(error).toMatchObject({ code: 'CREDENTIAL_FAILED', message: expect.stringContaining('{token}') })
  })

  test('of kind digest answers the challenge of the service, and says when the password is wrong', async () => {
    const challenge = 'Digest realm="all", nonce="n1", qop="auth", algorithm=SHA-256, opaque="o"'
    service.respond = ({ headers, method, url }) => {
      const given = headers.get('authorization') ?? ''
      const part = (name: string) => new RegExp(`${name}="?([^",]+)`).exec(given)?.[1] ?? ''
      const hash = (text: string) => new Bun.CryptoHasher('sha256').update(text).digest('hex')
      const { pathname, search } = new URL(url)
      const plain = hash('ada:all:hunter2 long')
      const asked = hash(`${method}:${pathname}${search}`)
      const expected = hash(`${plain}:n1:${part('nc')}:${part('cnonce')}:auth:${asked}`)
      const isRight = part('response') === expected && part('opaque') === 'o' && part('uri') === pathname + search
      return isRight ? Response.json({}) : new Response('', { status: 401, headers: { 'www-authenticate': challenge } })
    }
    const name = await create('digest', { username: 'ada' }, { password: 'hunter2 long' })
    expect(await request({ url: `${service.url}/x?y=1`, credential: name })).toMatchObject({ status: 200 })
    expect(service.requests).toHaveLength(2)
    const wrong = await create('digest', { username: 'ada' }, { password: 'hunter3 long' })
    expect(await request({ url: `${service.url}/x`, credential: wrong })).toMatchObject({ status: 401 })
    expect(service.requests).toHaveLength(2)
    service.respond = () => Response.json({})
  })

  test('of kind aws_sigv4 is signed', async () => {
    const fields = { accessKeyId: 'AKIDEXAMPLE', region: 'us-east-1', service: 'execute-api' }
    const name = await create('aws_sigv4', fields, { secretAccessKey: 'wJalrXUtnFEMI', sessionToken: 'session-1' })
    const { log } = await request({
      url: `${service.url}/a b?x=1&x=2`,
      method: 'POST',
      body: { n: 1 },
      credential: name,
    })
    expect(service.requests[0]?.headers).toMatchObject({
      authorization: expect.stringMatching(
        /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE\/\d{8}\/us-east-1\/execute-api\/aws4_request, SignedHeaders=.*host.*, Signature=[0-9a-f]{64}$/,
      ),
      'x-amz-date': expect.stringMatching(/^\d{8}T\d{6}Z$/),
      'x-amz-security-token': 'session-1',
    })
    expect(log).not.toMatch(/wJalrXUtnFEMI|session-1/)
  })

  test('reads variables of the environment, and names one that is not set', async () => {
    const environment = `/api/workspaces/${world.workspaceId}/environment`
    await world.call(`${environment}/CRM_TOKEN`, { method: 'PUT', body: { value: 'from-environment' } })
    const name = await create('bearer', {}, { token: 'v1-{{CRM_TOKEN}}' })
    const { log } = await request({ url: service.url, credential: name })
    expect(service.requests[0]?.headers['authorization']).toBe('Bearer v1-from-environment')
    expect(log).not.toContain('from-environment')
    await world.call(`${environment}/CRM_TOKEN`, { method: 'DELETE' })
    const { error } = await request({ url: service.url, credential: name })
    expect(error).toMatchObject({ code: 'CREDENTIAL_FAILED', message: expect.stringContaining('{{CRM_TOKEN}}') })
  })

  test('fails before anything is sent to a host that is not one of its hosts', async () => {
    const name = await create('bearer', {}, { token: 'token-1234' })
    const { error } = await request({ url: stranger.url, credential: name })
    expect(error).toMatchObject({ code: 'CREDENTIAL_HOST', message: expect.stringContaining(stranger.url) })
    expect(stranger.requests).toEqual([])
  })

  test('keeps the credential on a redirect to one of its hosts, and loses it on one to another host', async () => {
    const other = new Recorder()
    const name = await create('bearer', {}, { token: 'token-1234' }, [service.host, other.host])
    service.respond = () => Response.redirect(`${other.url}/next`, 307)
    await request({ url: service.url, credential: name })
    expect(other.requests).toMatchObject([{ url: '/next', headers: { authorization: 'Bearer token-1234' } }])
    service.respond = () => Response.redirect(`${stranger.url}/next`, 307)
    await request({ url: service.url, credential: name })
    expect(stranger.requests).toHaveLength(1)
    expect(JSON.stringify(stranger.requests)).not.toContain('token-1234')
    service.respond = () => Response.json({})
    other.stop()
  })

  test('does not follow a redirect that carries a secret to another host', async () => {
    const name = await create('bearer', {}, { token: 'token-1234' })
    service.respond = ({ headers }) => {
      const token = headers.get('authorization')?.slice(7)
      return Response.redirect(`${stranger.url}/${token}?t=${token}`, 302)
    }
    const { error } = await request({ url: service.url, credential: name })
    expect(error).toMatchObject({ code: 'REDIRECT_REFUSED' })
    expect(stranger.requests).toEqual([])
    service.respond = () => Response.json({})
  })

  test('has an unknown credential: the block fails, and a deployment is refused', async () => {
    const draft = document({
      name: 'Unknown',
      blocks: [block('start', 'api_trigger'), block('call', 'api', { url: service.url, credential: 'nothing' })],
      edges: ['start > call'],
    })
    const id = await world.deploy(draft, false)
    const deployed = await world.call(`/api/workflows/${id}/deploy`, { method: 'POST' })
    expect(deployed.status).toBe(400)
    expect(JSON.stringify(deployed.json)).toContain('no credential \\"nothing\\"')
  })
})

test('a client certificate and a private authority authenticate both sides, on connections of their own', async () => {
  const folder = resolve(import.meta.dir, '../../../support/certificates')
  const pem = (name: string) => readFileSync(join(folder, name), 'utf8')
  const seen: string[] = []
  const server = createServer(
    {
      key: pem('service.key'),
      cert: pem('service.pem'),
      ca: pem('client-authority.pem'),
      requestCert: true,
      rejectUnauthorized: false,
    },
    (incoming, outgoing) => {
      const { authorized } = incoming.socket as unknown as { authorized: boolean }
      seen.push(authorized ? 'certificate' : 'none')
      outgoing.end('{}')
    },
  )
  await new Promise<void>((listening) => void server.listen(0, '127.0.0.1', listening))
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  const url = `https://${host}/`
  const certificate = { certificate: pem('client.pem'), authority: pem('authority.pem') }
  const both = await create('client_certificate', certificate, { privateKey: pem('client.key') }, [host])
  const trusting = await create('bearer', { authority: pem('authority.pem') }, { token: 'token-1234' }, [host])
  const plain = await create('bearer', {}, { token: 'token-1234' }, [host])
  expect(await request({ url, credential: both })).toMatchObject({ status: 200 })
  expect(await request({ url, credential: trusting })).toMatchObject({ status: 200 })
  expect(await request({ url, credential: both })).toMatchObject({ status: 200 })
  expect(seen).toEqual(['certificate', 'none', 'certificate'])
  // The authority counts only for requests with its credential.
  expect(await request({ url, credential: plain })).toMatchObject({ error: { code: 'CONNECTION_FAILED' } })
  server.closeAllConnections()
  server.close()
})

describe('a credential', () => {
  test('shows its use and its state, and never a secret', async () => {
    const name = await create('bearer', {}, { token: 'token-never-shown' })
    await request({ url: service.url, credential: name })
    service.respond = () => new Response('', { status: 401 })
    const tested = await world.call(`${credentials}/${name}/test`, { body: { url: service.url } })
    expect(tested.json).toEqual({ ok: false, status: 401, error: 'The service responded with 401.' })
    service.respond = () => Response.json({})
    for (;;) {
      const { json, text } = await world.call(`${credentials}/${name}`)
      expect(text).not.toContain('never-shown')
      expect(json).toMatchObject({ secrets: ['token'], usedBy: [{ name: expect.stringMatching(/^Call/) }] })
      if (json.state === 'failing' && json.lastUsedAt !== null) break
      await Bun.sleep(50)
    }
    expect((await world.call(credentials)).text).not.toContain('never-shown')
    // A use right after a change counts for what the credential is now.
    await world.call(`${credentials}/${name}`, { method: 'PATCH', body: { secrets: { token: 'another-token' } } })
    await request({ url: service.url, credential: name })
    while ((await world.call(`${credentials}/${name}`)).json.state !== 'ok') await Bun.sleep(50)
  })

  test('keeps secrets that a change does not name', async () => {
    const name = await create('basic', { username: 'ada' }, { password: 'password-1' })
    const changed = await world.call(`${credentials}/${name}`, {
      method: 'PATCH',
      body: { fields: { username: 'eve' } },
    })
    expect(changed.json).toMatchObject({ fields: { username: 'eve' }, secrets: ['password'] })
    await request({ url: service.url, credential: name })
    expect(service.requests[0]?.headers['authorization']).toBe(`Basic ${btoa('eve:password-1')}`)
    const without = await world.call(`${credentials}/${name}`, {
      method: 'PATCH',
      body: { secrets: { password: null } },
    })
    expect(without).toMatchObject({ status: 400, json: { code: 'INVALID_INPUT' } })
  })

  test('is neither renamed nor deleted while workflows use it, unless that is forced', async () => {
    const name = await create('bearer', {}, { token: 'token-1234' })
    await request({ url: service.url, credential: name })
    const renamed = await world.call(`${credentials}/${name}`, { method: 'PATCH', body: { name: 'other' } })
    expect(renamed).toMatchObject({ status: 409, json: { error: expect.stringContaining('cannot be renamed') } })
    expect((await world.call(`${credentials}/${name}`, { method: 'DELETE' })).status).toBe(409)
    expect((await world.call(`${credentials}/${name}?force=true`, { method: 'DELETE' })).status).toBe(204)
    expect((await world.call(`${credentials}/${name}`)).status).toBe(404)
    const unused = await create('bearer', {}, { token: 'token-1234' })
    expect((await world.call(`${credentials}/${unused}`, { method: 'DELETE' })).status).toBe(204)
  })

  test('is refused with everything that is wrong with it', async () => {
    const body = { name: 'a b', kind: 'basic', hosts: ['*.com', 'ok.example'], fields: { user: 1 }, secrets: {} }
    const refused = await world.call(credentials, { body })
    expect(refused).toMatchObject({ status: 400, json: { code: 'INVALID_INPUT' } })
    const paths = refused.json.details.map(({ path }: { path: string }) => path)
    expect(paths).toEqual(['name', 'hosts.0', 'fields.user', 'fields.username', 'secrets.password'])
    const shapes = await world.call(credentials, { body: { name: 1, hosts: 'x', secrets: { a: 1 } } })
    expect(shapes.json.details).toHaveLength(3)
    const unknown = { name: 'x', kind: 'constructor', hosts: ['a.example'], fields: {}, secrets: {} }
    expect((await world.call(credentials, { body: unknown })).status).toBe(400)
  })
})
