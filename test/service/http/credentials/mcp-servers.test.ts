import { afterAll, beforeAll, expect, test } from 'bun:test'
import { block, document } from '../../../support/make.ts'
import { rogueServer } from '../../../support/mcp-rogue.ts'
import { SdkServer } from '../../../support/mcp-server.ts'
import { ExecutionWorld } from '../execution-world.ts'

let world: ExecutionWorld
let server: SdkServer
let browser: Record<string, string>

beforeAll(async () => {
  server = await SdkServer.start('streamable', 'secret-of-the-tracker')
  world = await ExecutionWorld.open({ 'outbound-allow': 'loopback' })
  browser = await world.signIn()
  const credential = (name: string, token: string) => ({
    body: { name, kind: 'bearer', hosts: [new URL(server.url).host], secrets: { token } },
  })
  const path = `/api/workspaces/${world.workspaceId}/credentials`
  expect((await world.call(path, credential('tracker', 'secret-of-the-tracker'))).status).toBe(201)
  expect((await world.call(path, credential('wrong', 'another-token'))).status).toBe(201)
})
afterAll(async () => {
  await world.close()
  await server[Symbol.asyncDispose]()
})

const listTools = (body: object) =>
  world.call('/api/editor/mcp/tools', {
    ...{ key: null, headers: browser },
    body: { workspaceId: world.workspaceId, server: server.url, ...body },
  })

test('a block calls a tool with a credential of the workspace, whose secret is not in the log', async () => {
  const params = { server: server.url, credential: 'tracker', tool: 'add', arguments: { a: '<api.n>', b: 1 } }
  const id = await world.deploy(
    document({
      name: 'Add',
      blocks: [
        block('start', 'api_trigger', { inputFormat: [{ name: 'n', type: 'number' }] }),
        block('it', 'mcp', params),
      ],
      edges: ['start > it'],
    }),
  )
  const { json } = await world.execute(id, { n: 41 })
  expect(json.output.structured).toEqual({ sum: 42 })
  const { text } = await world.call(`/api/v1/logs?workspaceId=${world.workspaceId}&details=full&includeTraceSpans=true`)
  expect(text).toContain('127.0.0.1')
  expect(text).not.toContain('secret-of-the-tracker')
})

test('the editor lists the tools of a server, and asks it again only when they are old or the user asks', async () => {
  const before = server.count('tools/list')
  const { status, json } = await listTools({ credential: 'tracker' })
  expect(status).toBe(200)
  expect(json.data[0]).toMatchObject({ name: 'add', description: 'Adds two numbers', parameters: { type: 'object' } })
  await listTools({ credential: 'tracker' })
  expect(server.count('tools/list')).toBe(before + 1)
  await listTools({ credential: 'tracker', isFresh: true })
  expect(server.count('tools/list')).toBe(before + 2)
})

test('the editor says why a server cannot be used, without secrets', async () => {
  const refused = await listTools({ credential: 'wrong' })
  expect([refused.status, refused.json.code]).toEqual([409, 'CONFLICT'])
  expect(refused.json.error).toContain('returned the status 401. Check the credential "wrong".')
  expect(refused.text).not.toContain('another-token')
  expect((await listTools({ credential: 'nobody' })).json.error).toContain('no credential "nobody"')
  expect((await listTools({ server: 'http://10.0.0.1/' })).json.error).toContain('could not be reached')
  expect((await listTools({ server: 'mcp' })).status).toBe(409)
})

test('the editor hides the secret of a credential that a server repeats in its tools', async () => {
  await using echo = rogueServer(({ id }, request) => {
    const said = `Sent with ${request.headers.get('authorization')}`
    const inputSchema = { type: 'object', properties: { key: { type: 'string', description: said } } }
    return { id, result: { tools: [{ name: 'echo', description: said, inputSchema }] } }
  })
  const body = { name: 'echo', kind: 'bearer', hosts: [new URL(echo.url).host], secrets: { token: 'secret-of-echo' } }
  await world.call(`/api/workspaces/${world.workspaceId}/credentials`, { body })
  for (const isFresh of [true, false]) {
    const { json, text } = await listTools({ server: echo.url, credential: 'echo', isFresh })
    const said = 'Sent with Bearer {{echo}}'
    const parameters = { properties: { key: { description: said } } }
    expect(json.data).toMatchObject([{ name: 'echo', description: said, parameters }])
    expect(text).not.toContain('secret-of-echo')
  }
})

test('a stop of the service ends its sessions at MCP servers, with their credentials', async () => {
  await listTools({ credential: 'tracker', isFresh: true })
  const { session } = server.messages.findLast(({ method }) => method === 'tools/list')!
  await world.restart()
  browser = await world.signIn()
  expect(server.ended).toContain(session!)
})
