import { afterEach, expect, test } from 'bun:test'
import { CrowdedOut, RunMemory } from '../../../src/engine/run/run-memory.ts'
import { StepHistory } from '../../../src/engine/run/step-history.ts'
import { block, document } from '../../support/make.ts'
import { ModelServer } from '../../support/models/model-server.ts'
import { outboundOf } from '../../support/outbound/peers.ts'
import { World } from './world.ts'

const MB = 1_048_576
const run = (executionId: string, workspaceId = 'a') => ({ executionId, workspaceId })
const memoryOf = (bytesMax = 100 * MB) => new RunMemory({ bytesMax, shareFactor: 4 })

let world: World | undefined
afterEach(() => world?.stop())

test('a run with little is not counted', () => {
  const memory = memoryOf()
  memory.hold(run('1'), MB)
  expect(memory.bytes).toBe(0)
  memory.hold(run('1'), MB + 1)
  expect(memory.bytes).toBe(MB + 1)
})

test('a run counts with the most that it held, until it is released', () => {
  const memory = memoryOf()
  memory.hold(run('1'), 5 * MB)
  memory.hold(run('1'), 3 * MB)
  expect(memory.heldBy(run('1'))).toBe(5 * MB)
  memory.release(run('1'))
  memory.release(run('1'))
  expect(memory.bytes).toBe(0)
})

test('a lone workspace gets 80 %, and another one still has room', () => {
  const memory = memoryOf()
  memory.hold(run('1'), 79 * MB)
  expect(memory.hasRoom('a')).toBe(true)
  memory.hold(run('2'), 2 * MB)
  expect(memory.hasRoom('a')).toBe(false)
  expect(memory.hasRoom('b')).toBe(true)
  memory.hold(run('3', 'b'), 10 * MB)
  expect(memory.hasRoom('b')).toBe(true)
})

test('the oldest run of a workspace may always go on, and then the next one', () => {
  const memory = memoryOf()
  memory.hold(run('1'), 60 * MB)
  memory.hold(run('2'), 60 * MB)
  expect([memory.mayGrow(run('1')), memory.mayGrow(run('2'))]).toEqual([true, false])
  memory.hold(run('1'), 90 * MB)
  memory.release(run('1'))
  expect(memory.mayGrow(run('2'))).toBe(true)
})

test('the callback is called when memory becomes free, and only then', () => {
  const memory = memoryOf()
  let calls = 0
  memory.onFree(() => calls++)
  memory.release(run('1'))
  expect(calls).toBe(0)
  memory.hold(run('1'), 2 * MB)
  memory.release(run('1'))
  expect(calls).toBe(1)
})

const large = document({
  blocks: [
    block('start', 'api_trigger'),
    block('f', 'function', { code: "return 'x'.repeat(3e6)" }),
    block('g', 'function', { code: 'return 1' }),
  ],
  edges: ['start > f', 'f > g'],
})

test('a synchronous run beyond the share of its workspace waits before its next block until there is room', async () => {
  world = new World({ limits: { runsBytesMax: 4 * MB } })
  const { memory } = world.runner
  const other = { executionId: 'other', workspaceId: 'ws' }
  memory.hold(other, 3 * MB)
  let ended = false
  const running = world.run(large).finally(() => {
    ended = true
  })
  while (memory.bytes < 5 * MB) await Bun.sleep(1)
  // Longer than the time between two checks.
  await Bun.sleep(120)
  expect(ended).toBe(false)
  memory.release(other)
  const { record } = await running
  expect(record.failure).toBe(null)
  expect(memory.bytes).toBe(0)
})

test('user code does not start while its workspace has its share', async () => {
  world = new World({ limits: { runsBytesMax: 4 * MB } })
  const { memory } = world.runner
  const other = { executionId: 'other', workspaceId: 'ws' }
  memory.hold(other, 4 * MB)
  const running = world.run(large)
  while (world.sandbox.load().waiting === 0) await Bun.sleep(1)
  // Longer than the time between two checks.
  await Bun.sleep(60)
  expect(world.sandbox.load().waiting).toBe(1)
  expect(memory.bytes).toBe(4 * MB)
  memory.release(other)
  expect((await running).record.failure).toBe(null)
})

test('a synchronous run that is alone may hold more than the limit of all runs', async () => {
  world = new World({ limits: { runsBytesMax: MB } })
  expect(await world.output(large)).toMatchObject({ result: 1 })
  expect(world.runner.memory.bytes).toBe(0)
})

test('an asynchronous run is suspended only after its blocks in progress have ended, so that none of them runs twice', async () => {
  const requested = Promise.withResolvers<void>()
  const response = Promise.withResolvers<void>()
  const signals: AbortSignal[] = []
  world = new World({
    limits: { runsBytesMax: 4 * MB },
    fetch: async ({ signal }) => {
      if (signal) signals.push(signal)
      requested.resolve()
      await response.promise
      return { ok: false, code: 'CONNECTION_FAILED', message: 'No network here.' }
    },
  })
  const { memory } = world.runner
  memory.hold({ executionId: 'other', workspaceId: 'ws' }, 3 * MB)
  const request = block('post', 'api', { url: 'http://127.0.0.1/', method: 'POST', retries: 0 })
  const post = { ...request, onError: 'continue' }
  const plan = world.plan(
    document({
      blocks: [
        block('start', 'api_trigger'),
        post,
        block('f', 'function', { code: "return 'x'.repeat(1.2e6)" }),
        block('g', 'function', { code: 'return 1' }),
      ],
      edges: ['start > post', 'start > f', 'f > g'],
    }),
  )
  const steps: string[] = []
  const isRecorded = Promise.withResolvers<void>()
  const history = new StepHistory([], async (_, text) => {
    const { block: recorded } = JSON.parse(text) as { block: { span: { name: string } } }
    steps.push(recorded.span.name)
    if (recorded.span.name === 'f') isRecorded.resolve()
  })
  const facts = { workflowId: 'w', workspaceId: 'ws', version: 1, trigger: 'api' as const }
  const ending = world.runner.executeJob({ plan, input: { input: {}, fields: {} }, ...facts, history })
  await Promise.all([requested.promise, isRecorded.promise])
  // The run now waits before "g": if it had been suspended, the request would have been cancelled.
  await new Promise((resolve) => setImmediate(resolve))
  expect(signals.map(({ aborted }) => aborted)).toEqual([false])
  response.resolve()
  const { suspension } = await ending
  expect(suspension?.cause).toBeInstanceOf(CrowdedOut)
  expect(steps).toEqual(['f', 'post'])
  expect(memory.bytes).toBe(3 * MB)
})

test('a workflow that an asynchronous run calls as a tool goes on, because it is a part of the block in progress', async () => {
  const inner = document({
    blocks: [block('in', 'api_trigger'), block('h', 'function', { code: 'return 21' })],
    edges: ['in > h'],
  })
  const calls = ['weather', undefined]
  await using server = await ModelServer.start(
    calls.map((name) => (name ? { toolCalls: [{ id: 'c', name, arguments: '{}' }] } : { text: ['done'] })),
  )
  const outbound = outboundOf(['loopback'])
  world = new World({ limits: { runsBytesMax: 4 * MB }, deployed: { inner }, ...outbound })
  const { memory } = world.runner
  const other = { executionId: 'other', workspaceId: 'ws' }
  memory.hold(other, 1.1 * MB)
  const tool = { type: 'workflow', workflowId: 'inner', name: 'weather', description: 'Degrees' }
  const model = { provider: 'openai-compatible', model: 'm', baseUrl: server.url, apiKey: 'k', userPrompt: 'Hello' }
  const plan = world.plan(
    document({
      blocks: [block('start', 'api_trigger'), block('ask', 'agent', { ...model, tools: [tool] })],
      edges: ['start > ask'],
    }),
  )
  const history = new StepHistory([], async () => undefined)
  const facts = { workflowId: 'w', workspaceId: 'ws', version: 1, trigger: 'api' as const }
  const observer = {
    // An older run takes more memory while the block is in progress.
    started: (span: { name: string }) => {
      if (span.name === 'ask') memory.hold(other, 4 * MB)
    },
  }
  const input = { input: { text: 'x'.repeat(2 * MB) }, fields: {} }
  const { record, suspension } = await world.runner.executeJob({ plan, input, ...facts, history, observer })
  outbound.stop()
  expect(suspension).toBeUndefined()
  expect(record.failure).toBeNull()
  expect(memory.bytes).toBe(4 * MB)
})
