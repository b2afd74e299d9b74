import { afterAll, beforeAll, expect, test } from 'bun:test'
import { block, document } from '../../support/make.ts'
import { rogueServer } from '../../support/mcp-rogue.ts'
import { SdkServer } from '../../support/mcp-server.ts'
import { ModelServer } from '../../support/models/model-server.ts'
import { outboundOf } from '../../support/outbound/peers.ts'
import { World } from '../engine/world.ts'

const outbound = outboundOf(['loopback'])
const world = new World({ fetch: outbound.fetch, open: outbound.open })
let server: SdkServer
let other: SdkServer
beforeAll(async () => {
  server = await SdkServer.start()
  other = await SdkServer.start()
})
afterAll(async () => {
  await world.stop()
  outbound.stop()
  await server[Symbol.asyncDispose]()
  await other[Symbol.asyncDispose]()
})

async function ask(tools: object[], calls: { name: string; args: object }[]) {
  const toolCalls = calls.map(({ name, args }, at) => ({ id: `c${at}`, name, arguments: JSON.stringify(args) }))
  await using model = await ModelServer.start([{ toolCalls }, { text: ['Done'] }])
  const params = {
    ...{ provider: 'openai-compatible', model: 'm', baseUrl: model.url, apiKey: 'key', userPrompt: 'Go', retries: 0 },
    tools,
  }
  const { record } = await world.run(
    document({ blocks: [block('in', 'api_trigger'), block('ask', 'agent', params)], edges: ['in > ask'] }),
    {},
  )
  const offered = (model.requests[0]?.body['tools'] ?? []) as { function: { name: string; parameters: object } }[]
  const output = record.output as { toolCalls: { result: unknown }[] } | null
  return {
    record,
    offered: offered.map((each) => each.function),
    results: output?.toolCalls.map(({ result }) => result),
  }
}

test('a model gets the tools of an MCP server, with their schemas, and calls them', async () => {
  const calls = [
    { name: 'add', args: { a: 20, b: 22 } },
    { name: 'break', args: {} },
  ]
  const { record, offered, results } = await ask([{ type: 'mcp', server: server.url }], calls)
  expect(record.failure).toBeNull()
  expect(offered.map(({ name }) => name)).toEqual(['add', 'draw', 'break', 'wait', 'grow'])
  expect(offered[0]).toMatchObject({ description: 'Adds two numbers', parameters: { required: ['a', 'b'] } })
  expect(results![0]).toEqual({ sum: 42 })
  expect(results![1]).toEqual({ error: { code: 'TOOL_ERROR', message: 'It is broken' } })
})

test('a model gets only the chosen tools, and tools with the same name get that of their server', async () => {
  const tools = [
    { type: 'mcp', server: server.url, tools: ['add'] },
    { type: 'mcp', server: other.url, tools: ['add'] },
  ]
  const { offered, results } = await ask(tools, [{ name: '127_0_0_1_add', args: { a: 1, b: 2 } }])
  expect(offered.map(({ name }) => name)).toEqual(['add', '127_0_0_1_add'])
  expect(results).toEqual([{ sum: 3 }])
  expect(other.count('tools/call')).toBe(1)
})

test('a tool that its server does not have fails the block, with the names of those that it has', async () => {
  const { record } = await ask([{ type: 'mcp', server: server.url, tools: ['fly'] }], [])
  expect(record.failure?.message).toContain('has no tool "fly". It has: add, draw, break, wait, grow.')
})

test('the calls of one run share a session', async () => {
  const before = server.count('initialize')
  await ask([{ type: 'mcp', server: server.url }], [{ name: 'add', args: { a: 1, b: 1 } }])
  expect(server.count('initialize')).toBeLessThanOrEqual(before + 1)
})

test('an agent gets no more than 128 tools from all its servers', async () => {
  const listed = Array.from({ length: 100 }, (_, at) => ({ name: `t${at}`, inputSchema: { type: 'object' } }))
  await using first = rogueServer(({ id }) => ({ id, result: { tools: listed } }))
  await using second = rogueServer(({ id }) => ({ id, result: { tools: listed } }))
  const toolOf = ({ url }: { url: string }) => ({ type: 'mcp', server: url })
  expect((await ask([toolOf(first)], [])).record.failure?.message ?? '').not.toContain('At most 128')
  const { record } = await ask([toolOf(first), toolOf(second)], [])
  expect(record.failure?.message).toContain('the agent has 200 tools. At most 128 are allowed.')
})
