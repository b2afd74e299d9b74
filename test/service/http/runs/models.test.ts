import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createParser } from 'eventsource-parser'
import { block, document } from '../../../support/make.ts'
import { ModelServer, type ScriptedResponse } from '../../../support/models/model-server.ts'
import { ExecutionWorld, start } from '../execution-world.ts'

const key = 'sk-very-secret-key-of-a-model'
let world: ExecutionWorld
let server: ModelServer
let respond: () => ScriptedResponse = () => ({})

beforeAll(async () => {
  world = await ExecutionWorld.open({ 'outbound-allow': 'loopback' })
  server = await ModelServer.start(() => respond())
  const path = `/api/workspaces/${world.workspaceId}/environment/MODEL_KEY`
  expect((await world.call(path, { method: 'PUT', body: { value: key } })).status).toBeLessThan(300)
})
afterAll(async () => {
  await world.close()
  await server[Symbol.asyncDispose]()
})

const asking = (params: Record<string, unknown> = {}) =>
  document({
    name: 'Asking',
    blocks: [
      start(),
      block('ask', 'agent', {
        ...{ provider: 'openai', model: 'gpt-4o-mini', baseUrl: server.url, apiKey: '{{MODEL_KEY}}' },
        ...{ userPrompt: 'Answer: <api.input.question>', retries: 0, ...params },
      }),
    ],
    edges: ['start > ask'],
  })

async function stream(id: string, body: object, signal?: AbortSignal) {
  const response = await fetch(`${world.url}/api/workflows/${id}/execute`, {
    method: 'POST',
    headers: { 'x-api-key': world.apiKey },
    body: JSON.stringify({ stream: true, ...body }),
    ...(signal && { signal }),
  })
  const messages: string[] = []
  const first = Promise.withResolvers<void>()
  const parser = createParser({
    onEvent({ data }) {
      messages.push(data)
      first.resolve()
    },
  })
  const reading = (async () => {
    const decoder = new TextDecoder()
    for await (const chunk of response.body!) parser.feed(decoder.decode(chunk, { stream: true }))
  })()
  return { messages, first: first.promise, reading }
}

test('text reaches the caller while it is generated', async () => {
  const gate = Promise.withResolvers<void>()
  const gates = [Promise.resolve(), gate.promise]
  respond = () => ({ text: ['Hel', 'lo'], gate: () => gates.shift() ?? Promise.resolve() })
  const { messages, first, reading } = await stream(await world.deploy(asking()), { selectedOutputs: ['ask.content'] })
  await first
  // The model holds back the rest until the first piece has arrived here.
  expect(messages).toEqual(['{"blockId":"ask","chunk":"Hel"}'])
  gate.resolve()
  await reading
  expect(messages[1]).toBe('{"blockId":"ask","chunk":"lo"}')
  expect(JSON.parse(messages[2]!)).toMatchObject({ event: 'done', success: true, output: { 'ask.content': 'Hello' } })
  expect(messages[3]).toBe('[DONE]')
})

test('without selected outputs the text of the last agent is streamed', async () => {
  respond = () => ({ text: ['a', 'b'] })
  const { messages, reading } = await stream(await world.deploy(asking()), {})
  await reading
  expect(messages.slice(0, 2)).toEqual(['{"blockId":"ask","chunk":"a"}', '{"blockId":"ask","chunk":"b"}'])
})

test('a caller that leaves ends the request to the model', async () => {
  const gates = [Promise.resolve(), new Promise<void>(() => undefined)]
  respond = () => ({ text: ['a', 'b'], gate: () => gates.shift() ?? Promise.resolve() })
  const abort = new AbortController()
  const seen = server.requests.length
  const { first, reading } = await stream(await world.deploy(asking()), {}, abort.signal)
  await first
  abort.abort()
  await reading.catch(() => undefined)
  await server.requests[seen]!.left
})

type Entry = { id: string; cost: unknown; traceSpans: unknown }

async function entries(query: string): Promise<Entry[]> {
  const { status, json } = await world.call(`/api/v1/logs?workspaceId=${world.workspaceId}&${query}`)
  expect(status).toBe(200)
  return (json as { data: Entry[] }).data
}

test('the entry has costs, is found by them, they count as usage, and the key is nowhere', async () => {
  respond = () => ({ text: ['fine'], usage: { prompt: 1_000_000, cached: 400_000, completion: 100_000 } })
  const id = await world.deploy(asking())
  const run = await world.execute(id, { question: 'How are you?' })
  expect(run.status).toBe(200)
  expect(server.requests.at(-1)?.headers.authorization).toBe(`Bearer ${key}`)
  const tokens = { prompt: 1_000_000, completion: 100_000, total: 1_100_000 }
  const cost = { input: 0.12, output: 0.06, total: 0.18 }
  const found = await entries(
    `workflowIds=${id}&details=full&includeTraceSpans=true&model=gpt-4o-mini&minCost=0.18&maxCost=0.18`,
  )
  expect(found[0]?.cost).toEqual({ total: 0.18, tokens, models: { 'gpt-4o-mini': { ...cost, tokens } } })
  expect(await entries(`workflowIds=${id}&minCost=0.1800001`)).toEqual([])
  expect(await entries(`workflowIds=${id}&model=gpt-4o`)).toEqual([])
  const text = JSON.stringify(found)
  expect(text).not.toContain(key)
  const span = /\{"id":"s\d+","name":"gpt-4o-mini".*?"children":\[\]\}/.exec(text)?.[0] ?? ''
  expect(JSON.parse(span)).toMatchObject({
    ...{ type: 'model', model: 'gpt-4o-mini', tokens, cost, timeToFirstTokenMs: expect.any(Number) },
  })
  const usage = await world.call('/api/users/me/usage-limits')
  expect((usage.json as { usage: { currentPeriodCost: number } }).usage.currentPeriodCost).toBeGreaterThanOrEqual(0.18)
})

test("a key that a model's error message repeats is not recorded", async () => {
  respond = () => ({ status: 401, said: `Incorrect API key provided: ${key}` })
  const id = await world.deploy(asking())
  const run = await world.execute(id, { question: 'x' })
  expect(run.json).toMatchObject({ success: false, code: 'EXECUTION_FAILED', blockId: 'ask' })
  const [entry] = await entries(`workflowIds=${id}&includeTraceSpans=true&includeFinalOutput=true`)
  expect(JSON.stringify(entry)).toContain('Incorrect API key provided: {{MODEL_KEY}}')
  expect(JSON.stringify(entry)).not.toContain(key)
})

test.each([
  ['openai', 'bearer', {}, { token: 'token-of-a-credential' }, { authorization: 'Bearer token-of-a-credential' }],
  [
    'anthropic',
    'header',
    { name: 'x-api-key' },
    { value: 'token-of-a-credential' },
    { 'x-api-key': 'token-of-a-credential' },
  ],
] as const)(
  'a model of %s is called with a %s credential in place of a key',
  async (provider, kind, fields, secrets, sent) => {
    respond = () => ({ text: ['Fine.'] })
    const name = `model-${provider}`
    const { host } = new URL(server.url)
    const body = { name, kind, hosts: [host], fields, secrets }
    const created = await world.call(`/api/workspaces/${world.workspaceId}/credentials`, { body })
    expect(created.status).toBe(201)
    const id = await world.deploy(asking({ provider, apiKey: undefined, credential: name }))
    const ran = await world.call(`/api/workflows/${id}/execute`, { body: {} })
    expect(ran.status).toBe(200)
    const { headers } = server.requests.at(-1)!
    expect(headers).toMatchObject(sent)
    const log = await world.call(`/api/v1/logs/executions/${ran.headers.get('x-execution-id')}`)
    expect(log.text).not.toContain('token-of-a-credential')
  },
)
