import { afterAll, beforeAll, expect, test } from 'bun:test'
import { block, document } from '../../../support/make.ts'
import { consent } from '../../../support/mcp-oauth-client.ts'
import { ProtectedMcpServer } from '../../../support/mcp-protected-server.ts'
import { ExecutionWorld } from '../execution-world.ts'

let world: ExecutionWorld
let server: ProtectedMcpServer
let credentials: string
let browser: Record<string, string>
let names = 0

beforeAll(async () => {
  server = await ProtectedMcpServer.start()
  world = await ExecutionWorld.open({ 'outbound-allow': 'loopback' })
  credentials = `/api/workspaces/${world.workspaceId}/credentials`
  browser = await world.signIn()
})
afterAll(async () => {
  await world.close()
  await server[Symbol.asyncDispose]()
})

async function create(fields: object = {}): Promise<string> {
  names += 1
  const name = `tracker-${names}`
  const body = { name, kind: 'mcp_oauth', fields: { server: server.url, ...fields } }
  const { status, json } = await world.call(credentials, { body })
  expect([status, json.hosts, json.state]).toEqual([201, [new URL(body.fields.server).host], 'needs_sign_in'])
  return name
}

const get = async (name: string) => (await world.call(`${credentials}/${name}`)).json

async function start(name: string): Promise<URL> {
  const { status, json } = await world.call(`${credentials}/${name}/sign-in`, { key: null, headers: browser, body: {} })
  expect([status, json.error]).toEqual([200, undefined])
  return new URL(json.url)
}

/** Follows the sign-in as the person's browser does, and back to the service. */
async function follow(page: URL): Promise<Response> {
  const answer = await fetch(page, { redirect: 'manual' })
  return await visit(answer.headers.get('location')!)
}

async function visit(address: string): Promise<Response> {
  const headers = { cookie: browser['cookie']!, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }
  return await fetch(address, { headers, redirect: 'manual' })
}

async function signIn(name: string): Promise<void> {
  expect((await follow(await start(name))).status).toBe(303)
}

async function deploy(credential: string) {
  const params = { server: server.url, credential, tool: 'add', arguments: { a: 40, b: 2 }, onError: 'continue' }
  const id = await world.deploy(
    document({
      name: 'Add',
      blocks: [
        block('start', 'api_trigger'),
        block('it', 'mcp', params),
        block('end', 'response', { data: { content: '<it.content>', error: '<it.error>' } }),
      ],
      edges: ['start > it', 'it > end'],
    }),
  )
  return async () => (await world.call(`/api/workflows/${id}/execute`, { body: {} })).json
}

const sum = { content: [{ type: 'text', text: '42' }], error: null }

test('a person signs in for a server of the official SDK, and runs call its tools with refreshed tokens', async () => {
  const name = await create()
  const run = await deploy(name)
  expect(await run()).toMatchObject({ error: { code: 'CREDENTIAL_SIGN_IN' } })
  const page = await start(name)
  expect(Object.fromEntries(page.searchParams)).toMatchObject({ resource: server.url, scope: 'add' })
  expect((await follow(page)).status).toBe(303)
  expect(await get(name)).toMatchObject({ state: 'ok', problem: null, secrets: [] })
  expect(await run()).toEqual(sum)
  for (const round of [1, 2]) {
    server.people.expire()
    expect(await run()).toEqual(sum)
    expect(server.people.counts.refreshes).toBe(round)
  }
  await world.restart()
  browser = await world.signIn()
  expect(await run()).toEqual(sum)
  server.people.expire()
  expect(await run()).toEqual(sum)
})

const listTools = (credential: string, address = server.url) => {
  const body = { workspaceId: world.workspaceId, server: address, credential }
  return world.call('/api/editor/mcp/tools', { key: null, headers: browser, body })
}

test('the editor lists the tools of the server, and says what is missing', async () => {
  const name = await create()
  expect((await listTools('')).json.error).toContain('create a credential of the kind "MCP server: sign in"')
  expect((await listTools(name)).json.error).toContain('needs someone to sign in')
  await signIn(name)
  expect((await listTools(name)).json.data).toMatchObject([{ name: 'add' }])
})

test('a person signs in at the MCP server of Millrace itself', async () => {
  const address = `${world.url}/mcp`
  const name = await create({ server: address })
  const page = await start(name)
  const back = await consent(world.url, browser['cookie']!, page, world.workspaceId)
  expect((await visit(back.href)).status).toBe(303)
  const names = (await listTools(name, address)).json.data.map((tool: { name: string }) => tool.name)
  expect(names).toContain('list_workflows')
})

test('a grant that was taken back needs another sign-in, which registers the service again', async () => {
  const name = await create()
  await signIn(name)
  const run = await deploy(name)
  server.people.revoke()
  expect(await run()).toMatchObject({ error: { code: 'CREDENTIAL_SIGN_IN' } })
  expect(await get(name)).toMatchObject({ state: 'needs_sign_in', problem: expect.stringContaining('invalid_grant') })
  const { registrations } = server.people.counts
  await signIn(name)
  expect(await run()).toEqual(sum)
  expect(server.people.counts.registrations).toBe(registrations + 1)
})

test('a change of the server while a person signs in ends the sign-in, and moves the host', async () => {
  const name = await create()
  const page = await start(name)
  const fields = { server: 'https://other.example/mcp' }
  const changed = await world.call(`${credentials}/${name}`, { method: 'PATCH', body: { fields } })
  expect(changed.json.hosts).toEqual(['other.example'])
  const response = await follow(page)
  expect(response.status).toBe(409)
  expect(await response.text()).toContain('was changed meanwhile')
})

test('what the sign-in agreed on is encrypted in the database', async () => {
  const name = await create()
  await signIn(name)
  const rows = await world.rows('SELECT token FROM credentials WHERE name = $1', name)
  const [{ token }] = rows as [{ token: Uint8Array }]
  expect(token.length).toBeGreaterThan(0)
  expect(Buffer.from(token).includes('accessToken')).toBe(false)
})
