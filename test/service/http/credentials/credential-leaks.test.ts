import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { block, document } from '../../../support/make.ts'
import { Recorder } from '../../../support/outbound/recorder.ts'
import { TokenServer } from '../../../support/outbound/token-server.ts'
import { ExecutionWorld } from '../execution-world.ts'

// Each vector tries to bring a part of a credential to a host that is not one of its hosts.

const secret = 'S3cret+of/a=credential'
const path = '/x/{token}'

let world: ExecutionWorld
let service: Recorder
let stranger: Recorder
let tokens: TokenServer
let workflowId: string

/** Each kind with its fields and secrets. */
const kinds: Record<string, () => { fields: object; secrets: object }> = {
  basic: () => ({ fields: { username: 'ada' }, secrets: { password: secret } }),
  digest: () => ({ fields: { username: 'ada' }, secrets: { password: secret } }),
  bearer: () => ({ fields: {}, secrets: { token: secret } }),
  header: () => ({ fields: { name: 'X-API-Key' }, secrets: { value: secret } }),
  query: () => ({ fields: { name: 'key' }, secrets: { value: secret } }),
  path: () => ({ fields: { name: 'token' }, secrets: { value: secret } }),
  aws_sigv4: () => ({
    fields: { accessKeyId: 'AK', region: 'r', service: 's' },
    secrets: { secretAccessKey: 'key-of-aws', sessionToken: secret },
  }),
  oauth2_client_credentials: () => ({
    fields: { tokenUrl: `${tokens.url}/token`, clientId: 'c' },
    secrets: { clientSecret: 'secret-of-a-client' },
  }),
}

beforeAll(async () => {
  world = await ExecutionWorld.open({ 'outbound-allow': 'loopback' })
  service = new Recorder()
  stranger = new Recorder()
  tokens = new TokenServer()
  tokens.respond = (members) => Response.json({ ...members, access_token: secret })
  for (const [kind, make] of Object.entries(kinds)) {
    const body = { name: kind, kind, hosts: [service.host], ...make() }
    const created = await world.call(`/api/workspaces/${world.workspaceId}/credentials`, { body })
    expect(created.status).toBe(201)
  }
  const reads = {
    url: '<start.input.url>',
    credential: '{{NAME}}',
    method: 'POST',
    body: { n: 1 },
    retries: 0,
    onError: 'continue',
  }
  workflowId = await world.deploy(
    document({
      name: 'Leak',
      blocks: [
        block('start', 'api_trigger'),
        block('call', 'api', reads),
        block('end', 'response', { data: { status: '<call.status>', error: '<call.error>' } }),
      ],
      edges: ['start > call', 'call > end'],
    }),
  )
})
afterAll(async () => {
  service.stop()
  stranger.stop()
  await tokens[Symbol.asyncDispose]()
  await world.close()
})

/** Sends a request with a credential. Returns its error, and everything that strangers and readers of logs see. */
async function send(kind: string, url: string) {
  const name = `/api/workspaces/${world.workspaceId}/environment/NAME`
  await world.call(name, { method: 'PUT', body: { value: kind, plain: true } })
  service.requests.length = 0
  stranger.requests.length = 0
  const { json, headers, text } = await world.call(`/api/workflows/${workflowId}/execute`, { body: { url } })
  const log = await world.call(`/api/v1/logs/executions/${headers.get('x-execution-id')}`)
  const list = await world.call(`/api/v1/logs?workspaceId=${world.workspaceId}&details=full&limit=1`)
  return { error: json.error, seen: JSON.stringify(stranger.requests) + log.text + list.text + text }
}

/** Every form in which the secret may travel. */
const forms = [
  secret,
  encodeURIComponent(secret),
  btoa(secret),
  btoa(`ada:${secret}`),
  'key-of-aws',
  'secret-of-a-client',
  'AWS4-HMAC',
  'Digest ',
]
const expectNoSecret = (seen: string) => {
  for (const form of forms) expect(seen).not.toContain(form)
}

const locations: Record<string, (request: Request) => string> = {
  'another port': () => `${stranger.url}/next`,
  'another name': () => `http://localhost:${new URL(stranger.url).port}/next`,
  'no scheme': () => `//${stranger.host}/next`,
  'the right host as user': () => `http://${service.host.replace(':', '%3A')}@${stranger.host}/next`,
  'everything it received': (request) => {
    const headers = encodeURIComponent(JSON.stringify(Object.fromEntries(request.headers)))
    return `${stranger.url}/next?url=${encodeURIComponent(request.url)}&headers=${headers}`
  },
}

describe.each(Object.keys(kinds))('a credential of kind %s', (kind) => {
  const vectors = Object.keys(locations).flatMap((location) =>
    [301, 302, 303, 307, 308].map((status) => [status, location] as const),
  )
  test.each(vectors)('does not follow a redirect %i to %s', async (status, location) => {
    service.respond = (request) => {
      const challenge = { 'www-authenticate': 'Digest realm="r", nonce="n", qop="auth"' }
      if (kind === 'digest' && !request.headers.has('authorization')) {
        return new Response('', { status: 401, headers: challenge })
      }
      return new Response('', { status, headers: { location: locations[location]!(request) } })
    }
    const { seen } = await send(kind, service.url + path)
    expect(service.requests.length).toBeGreaterThan(0)
    expectNoSecret(seen)
  })

  test.each([
    ['another port', () => `http://${stranger.host}${path}`],
    ['another name of the same machine', () => `http://localhost:${new URL(service.url).port}${path}`],
    ['the host as user', () => `http://${service.host.replace(':', '%3A')}@${stranger.host}${path}`],
    ['the host behind a number', () => `http://2130706433:${new URL(stranger.url).port}${path}`],
    ['a name below', () => `http://x.${service.host}.localhost:1${path}`],
    ['https', () => `https://${service.host.replace(/:.*/, '')}${path}`],
  ] as const)('is not sent to %s', async (_, url) => {
    service.respond = () => Response.json({})
    const { error, seen } = await send(kind, url())
    expect(error).toMatchObject({ code: expect.stringMatching(/^(CREDENTIAL_HOST|INVALID_URL)$/) })
    expect(stranger.requests).toEqual([])
    expectNoSecret(seen)
  })
})

test('a service that repeats what it received shows it in no log, export or list', async () => {
  service.respond = (request) =>
    Response.json({ error: JSON.stringify([...request.headers]), url: request.url }, { status: 400 })
  for (const kind of Object.keys(kinds)) {
    if (kind === 'digest') continue
    const { seen } = await send(kind, service.url + path)
    expectNoSecret(seen)
  }
  const exported = await world.call(`/api/workflows/${workflowId}`)
  const listed = await world.call(`/api/workspaces/${world.workspaceId}/credentials`)
  expectNoSecret(exported.text + listed.text)
})
