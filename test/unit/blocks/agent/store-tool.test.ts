import { afterAll, beforeEach, describe, expect, test } from 'bun:test'
import { AgentTools } from '../../../../src/blocks/agent-tools.ts'
import { registry } from '../../../../src/blocks/registry.ts'
import { MemoryEntries } from '../../../../src/domain/entry/memory-entries.ts'
import { defaultLimits } from '../../../../src/domain/limits.ts'
import type { PartContext } from '../../../../src/engine/block.ts'
import { compilePlan } from '../../../../src/engine/compile/plan.ts'
import { StepHistory } from '../../../../src/engine/run/step-history.ts'
import { block, document } from '../../../support/make.ts'
import { ModelServer } from '../../../support/models/model-server.ts'
import { outboundOf } from '../../../support/outbound/peers.ts'
import { World } from '../../engine/world.ts'
import { makeContext } from '../context.ts'

let memory = new MemoryEntries()
beforeEach(() => {
  memory = new MemoryEntries()
})
const outbound = outboundOf(['loopback'])
const world = new World({
  ...{ fetch: outbound.fetch, open: outbound.open },
  entries: {
    change: (request) => memory.change(request),
    read: (key) => memory.read(key),
    list: (query) => memory.list(query),
  },
})
afterAll(async () => {
  outbound.stop()
  await world.stop()
})

const agentWith = (server: { url: string }, tool: object) =>
  document({
    blocks: [
      block('in', 'api_trigger'),
      block('ask', 'agent', {
        ...{ provider: 'openai-compatible', model: 'm', baseUrl: server.url, apiKey: 'key', userPrompt: 'Go' },
        ...{ retries: 0, tools: [{ type: 'store', ...tool }] },
      }),
    ],
    edges: ['in > ask'],
  })

/** Runs an agent whose model makes these calls, one in each response. Returns the results. */
async function ask(calls: readonly object[], tool: object = {}, input: object = {}) {
  const each = calls.map((args, at) => ({
    toolCalls: [{ id: `c${at}`, name: 'store', arguments: JSON.stringify(args) }],
  }))
  await using server = await ModelServer.start([...each, { text: ['Done'] }])
  const { record } = await world.run(agentWith(server, tool), input)
  const { toolCalls = [] } = (record.output ?? {}) as { toolCalls?: { result: unknown }[] }
  return { record, requests: server.requests, results: toolCalls.map(({ result }) => result) }
}

async function put(key: string, value: unknown, workflowId: string | null = 'w') {
  const change = { type: 'set' as const, value: JSON.stringify(value), expiresAt: null }
  await memory.change({ workspaceId: 'ws', workflowId, key, change, now: Date.now() })
}

async function keys(workflowId: string | null = 'w') {
  const query = { prefix: '', after: null, limit: 100, bytesMax: 1_000_000, now: Date.now() }
  return (await memory.list({ workspaceId: 'ws', workflowId, ...query })).entries.map(({ key }) => key)
}

describe('a model with the store as a tool', () => {
  test('sets, reads, counts and lists entries', async () => {
    const { results } = await ask([
      { operation: 'set', key: 'a', value: { deep: [1] } },
      { operation: 'get', key: 'a' },
      { operation: 'increment', key: 'n', by: 2 },
      { operation: 'list' },
      { operation: 'delete', key: 'a' },
    ])
    expect(results).toMatchObject([
      { value: { deep: [1] }, found: false, changed: true },
      { value: { deep: [1] }, found: true },
      { value: 2, found: false, changed: true },
      { items: [{ key: 'a' }, { key: 'n', value: 2 }] },
      { value: null, found: true, changed: true },
    ])
    expect(await keys()).toEqual(['n'])
  })

  test('reaches only keys with the prefix of the author, and does not see it', async () => {
    await put('secret', 1)
    await put('user/7/b', 2)
    await put('user/70', 3)
    const calls = [
      { operation: 'get', key: 'secret' },
      { operation: 'set', key: 'a', value: 1 },
      { operation: 'list' },
      { operation: 'list', prefix: 'b' },
      { operation: 'list', after: 'a' },
      { operation: 'set', key: '', value: 1 },
    ]
    const { results, requests } = await ask(calls, { prefix: 'user/<in.input.id>/' }, { id: 7 })
    expect(results).toMatchObject([
      { value: null, found: false },
      { changed: true },
      { items: [{ key: 'a' }, { key: 'b' }] },
      { items: [{ key: 'b' }] },
      { items: [{ key: 'b' }] },
      { error: { code: 'INVALID_KEY' } },
    ])
    expect(await keys()).toEqual(['secret', 'user/7/a', 'user/7/b', 'user/70'])
    expect(JSON.stringify(requests.map(({ body }) => body))).not.toContain('user/')
  })

  test('uses only the scope of the author, and only the operations that the author allows', async () => {
    await put('a', 'of the workspace', null)
    const tool = { scope: 'workspace', operations: ['get', 'list'] }
    const calls = [
      { operation: 'get', key: 'a' },
      { operation: 'get', key: 'a', scope: 'workflow' },
      { operation: 'delete', key: 'a' },
    ]
    const { results, requests } = await ask(calls, tool)
    expect(results).toMatchObject([
      { value: 'of the workspace' },
      { error: { code: 'INVALID_ARGUMENTS' } },
      { error: { code: 'INVALID_ARGUMENTS' } },
    ])
    expect(await keys(null)).toEqual(['a'])
    const [{ function: shown }] = requests[0]!.body['tools'] as [{ function: { parameters: { properties: object } } }]
    expect(Object.keys(shown.parameters.properties)).toEqual(['operation', 'key', 'prefix', 'after', 'limit'])
  })

  test('does not run when a reference leaves the prefix without a value', async () => {
    for (const prefix of ['<in.input.absent>', '<in.input.empty>']) {
      const { record, requests } = await ask([{ operation: 'list' }], { prefix }, { empty: '' })
      expect(record.failure?.message).toContain('its setting "prefix" is not valid')
      expect(requests).toEqual([])
    }
  })

  test('changes an entry once for each call, also if the run repeats the calls after a crash', async () => {
    const count = { name: 'store', arguments: JSON.stringify({ operation: 'increment', key: 'n' }) }
    await using server = await ModelServer.start(({ body }) => {
      const { length } = (body['messages'] as { role: string }[]).filter(({ role }) => role === 'tool')
      if (length === 0) return { toolCalls: [{ id: 'a', ...count }] }
      return length === 1
        ? {
            toolCalls: [
              { id: 'b', ...count },
              { id: 'c', ...count },
            ],
          }
        : { text: ['Done'] }
    })
    const steps: string[] = []
    let deaths = 0
    for (const dies of [true, false]) {
      const history = new StepHistory([...steps], async (_, text) => {
        // The process dies before it records the agent, when its calls have ended.
        if (dies && server.requests.length === 3) {
          deaths += 1
          throw new Error('The process died')
        }
        steps.push(text)
      })
      await world.run(agentWith(server, {}), {}, { executionId: 'once', history, startedAt: Date.now() })
    }
    expect([deaths > 0, server.requests.length > 3]).toEqual([true, true])
    const row = await memory.read({ workspaceId: 'ws', workflowId: 'w', key: 'n', now: Date.now() } as never)
    expect(row?.value).toBe('3')
  })

  test('identifies a change by the place of its call, also when the conversation continues after a pause', async () => {
    const places: (string | undefined)[] = []
    using base = makeContext({ models: { call: () => Promise.reject(), checkJson: async () => undefined } })
    const part = (_name: string, _type: string, within?: string): PartContext => {
      places.push(within)
      return { ...base, end: () => undefined }
    }
    const tools = await AgentTools.of([{ type: 'store' }], { ...base, part })
    const count = { name: 'store', arguments: JSON.stringify({ operation: 'increment', key: 'n' }) }
    const calls = ['a', 'b', 'c'].map((id) => ({ id, ...count }))
    const keep = () => Promise.resolve()
    const [first] = await tools.callAll({ step: 3, calls: calls.slice(0, 1), ended: [], askedAt: undefined, keep })
    const outcomes = await tools.callAll({ step: 4, calls, ended: [first!, null, null], askedAt: undefined, keep })
    expect(outcomes.map(({ call }) => call.result)).toMatchObject([{ value: 1 }, { value: 2 }, { value: 3 }])
    expect(places).toEqual(['3.0', '4.1', '4.2'])
  })

  test('is checked when the workflow is deployed', () => {
    const faults = (tool: object) => {
      const draft = agentWith({ url: 'http://127.0.0.1:1' }, tool)
      const { findings } = compilePlan(draft, registry, defaultLimits)
      return findings.flatMap(({ level, path }) => (level === 'error' ? [path?.split('params.')[1]] : []))
    }
    expect(faults({ prefix: 'a/', operations: ['get'], scope: 'workspace' })).toEqual([])
    expect(faults({ scope: 'everything' })).toEqual(['tools.0.scope'])
    expect(faults({ operations: ['drop'] })).toEqual(['tools.0.operations.0'])
    expect(faults({ prefix: '' })).toEqual(['tools.0.prefix'])
  })
})
