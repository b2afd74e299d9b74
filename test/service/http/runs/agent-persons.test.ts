import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { block, document } from '../../../support/make.ts'
import { ModelServer } from '../../../support/models/model-server.ts'
import { ExecutionWorld, start } from '../execution-world.ts'

let world: ExecutionWorld
beforeAll(async () => {
  world = await ExecutionWorld.open({ 'outbound-allow': 'loopback' })
})
afterAll(() => world.close())

const call = (id: string, name: string, args: object) => ({ id, name, arguments: JSON.stringify(args) })

const asking = (server: ModelServer, tools: readonly object[]) =>
  document({
    blocks: [
      start([{ name: 'amount', type: 'number' }]),
      block('clerk', 'agent', {
        ...{ provider: 'openai-compatible', model: 'm', baseUrl: server.url, apiKey: 'key', retries: 0 },
        ...{ userPrompt: 'Pay <api.amount>?', tools },
      }),
    ],
    edges: ['start > clerk'],
  })

const pausesOf = async (workflowId: string) =>
  (await world.call(`/api/workspaces/${world.workspaceId}/pauses?workflowId=${workflowId}`)).json.data

async function pauseOf(workflowId: string, count = 1) {
  for (;;) {
    const found = await pausesOf(workflowId)
    if (found.length >= count) return found[0]
    await Bun.sleep(10)
  }
}

async function ended(executionId: string) {
  for (;;) {
    const { json } = await world.call(`/api/jobs/${executionId}`)
    if (['completed', 'failed'].includes(json.status)) return json
    await Bun.sleep(10)
  }
}

const answer = (workflowId: string, executionId: string, contextId: string, input: object) =>
  world.call(`/api/resume/${workflowId}/${executionId}/${contextId}`, { body: { input } })

describe('an agent with a person as a tool', () => {
  test('asks, pauses the run, and continues the conversation with the answer', async () => {
    await using server = await ModelServer.start([
      { toolCalls: [call('c1', 'ask_person', { message: 'May I pay 5?' })] },
      { text: ['Paid.'] },
    ])
    const id = await world.deploy(asking(server, [{ type: 'human', title: 'A payment' }]))
    const { status, json } = await world.execute(id, { amount: 5 })
    expect([status, json.status, json.paused[0].kind]).toEqual([202, 'paused', 'approval'])
    const { executionId, contextId, outerBlockId } = await pauseOf(id)
    expect(outerBlockId).toBe('clerk')
    expect(server.requests).toHaveLength(1)
    const taken = await answer(id, executionId, contextId, { approved: true, answer: 'Yes, but only once' })
    expect(taken.status).toBe(200)
    const { output } = await ended(executionId)
    expect(output.content).toBe('Paid.')
    expect(output.toolCalls).toMatchObject([
      { name: 'ask_person', arguments: { message: 'May I pay 5?' }, result: { approved: true } },
    ])
    expect(server.requests).toHaveLength(2)
    const messages = JSON.stringify(server.requests[1])
    expect(messages).toContain('Yes, but only once')
    expect(messages).toContain('May I pay 5?')
  }, 30_000)

  test('runs the other tools once, before the person is asked, also when the run is asynchronous', async () => {
    let sent = 0
    const peer = Bun.serve({
      ...{ port: 0, hostname: '127.0.0.1' },
      fetch: () => {
        sent += 1
        return Response.json({ price: 7 })
      },
    })
    await using server = await ModelServer.start([
      {
        toolCalls: [
          call('c1', 'ask_person', { message: 'First?' }),
          call('c2', 'price', {}),
          call('c3', 'ask_person', { message: 'Second?' }),
        ],
      },
      { text: ['Done.'] },
    ])
    const price = { type: 'api', name: 'price', params: { url: `http://127.0.0.1:${peer.port}/` } }
    const id = await world.deploy(asking(server, [{ type: 'human' }, price]))
    const { json } = await world.execute(id, { amount: 5 }, { headers: { 'x-execution-mode': 'async' } })
    const { executionId } = json
    const first = await pauseOf(id)
    expect(sent).toBe(1)
    await answer(id, executionId, first.contextId, { approved: false })
    for (;;) {
      const [next] = await pausesOf(id)
      if (next && next.contextId !== first.contextId) {
        await answer(id, executionId, next.contextId, { answer: 'Fine' })
        break
      }
      await Bun.sleep(10)
    }
    const { output } = await ended(executionId)
    expect([output.content, sent, server.requests.length]).toEqual(['Done.', 1, 2])
    expect(output.toolCalls.map((each: { result: unknown }) => each.result)).toMatchObject([
      { approved: false },
      { price: 7 },
      { approved: true, fields: { answer: 'Fine' } },
    ])
    const { json: entry } = await world.call(`/api/v1/logs/executions/${executionId}`)
    expect(JSON.stringify(entry).match(/"name":"price"/g)?.length).toBeGreaterThan(0)
    await peer.stop(true)
  }, 30_000)

  test('makes every change of the store, before and after the answer', async () => {
    const count = call('c', 'store', { operation: 'increment', key: 'n' })
    await using server = await ModelServer.start([
      { toolCalls: [{ ...count, id: 'c1' }, { ...count, id: 'c2' }, call('c3', 'ask_person', { message: 'More?' })] },
      { toolCalls: [{ ...count, id: 'c4' }] },
      { text: ['Done.'] },
    ])
    const id = await world.deploy(asking(server, [{ type: 'human' }, { type: 'store' }]))
    await world.execute(id, { amount: 5 })
    const { executionId, contextId } = await pauseOf(id)
    await answer(id, executionId, contextId, { answer: 'Yes' })
    const { output } = await ended(executionId)
    const values = output.toolCalls.map(({ result }: { result: { value?: unknown } }) => result.value)
    // The calls of one response run at the same time.
    const [first, second, ...later] = values
    expect([new Set([first, second]), later]).toEqual([new Set([1, 2]), [undefined, 3]])
  }, 30_000)

  test('tells the model when an editor lets the question expire', async () => {
    await using server = await ModelServer.start([
      { toolCalls: [call('c1', 'ask_person', { message: 'May I?' })] },
      { text: ['Nobody answered.'] },
    ])
    const id = await world.deploy(asking(server, [{ type: 'human' }]))
    await world.execute(id, { amount: 5 })
    const { executionId, contextId } = await pauseOf(id)
    const until = new Date(Date.now() + 50).toISOString()
    await world.call(`/api/workspaces/${world.workspaceId}/pauses/${contextId}/extend`, { body: { until } })
    const { output } = await ended(executionId)
    expect(output.toolCalls).toMatchObject([{ result: { approved: false, timedOut: true } }])
  }, 30_000)

  test('tells the model when the question is missing, without a pause', async () => {
    await using server = await ModelServer.start([
      { toolCalls: [call('c1', 'ask_person', { text: 'May I?' })] },
      { text: ['I cannot ask.'] },
    ])
    const id = await world.deploy(asking(server, [{ type: 'human' }]))
    const { status, json } = await world.execute(id, { amount: 5 })
    expect([status, json.output.content]).toEqual([200, 'I cannot ask.'])
    expect(JSON.stringify(server.requests[1])).toContain('must be a text')
  }, 30_000)
})
