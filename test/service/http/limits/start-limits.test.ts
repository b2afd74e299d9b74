// Long because all of these tests need the same service and gate.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { WorkflowLimits } from '../../../../src/domain/workflow/workflow-limits.ts'
import { Gate } from '../../../support/gate.ts'
import { block, document } from '../../../support/make.ts'
import { ExecutionWorld, start } from '../execution-world.ts'

let world: ExecutionWorld
let gate: Gate
beforeAll(async () => {
  gate = new Gate()
  world = await ExecutionWorld.open({ 'outbound-allow': 'loopback', 'run-timeout-ms': '20000' })
})
afterEach(() => gate.answerAll())
afterAll(async () => {
  await world.close()
  await gate.stop()
})

const asynchronous = { headers: { 'x-execution-mode': 'async' } }
let names = 0

/** A workflow whose runs wait at the gate, each workflow at its own path. */
async function limited(limits: WorkflowLimits) {
  names += 1
  const path = `limited-${names}`
  const draft = document({
    blocks: [start(), block('ask', 'api', { url: `${gate.url}/${path}` })],
    edges: ['start > ask'],
    limits,
  })
  const id = await world.deploy(draft)
  const run = (body: unknown = {}) => world.execute(id, body)
  const begin = (body: unknown = {}) => world.execute(id, body, asynchronous)
  const arrived = () => gate.arrived.filter((each) => each === `/${path}`).length
  const answer = () => gate.answer(`/${path}`)
  return { id, run, begin, answer, arrived, arrivals: (count: number) => gate.arrivalsAt(`/${path}`, count) }
}

async function statusOf(executionId: string): Promise<string> {
  return (await world.call(`/api/jobs/${executionId}`)).json.status
}

async function ended(executionId: string): Promise<string> {
  for (;;) {
    const status = await statusOf(executionId)
    if (status !== 'queued' && status !== 'processing') return status
    await Bun.sleep(5)
  }
}

async function startsOf(id: string) {
  return (await world.call(`/api/workflows/${id}/status`)).json.starts
}

/** Resolves when this many starts of a workflow wait because of its limits. */
async function waiting(id: string, count: number): Promise<void> {
  while ((await startsOf(id)).waiting < count) await Bun.sleep(5)
}

describe('a synchronous run over the limits', () => {
  test('waits until the previous run has ended, and then responds as usual', async () => {
    const { id, run, arrivals, arrived, answer } = await limited({ concurrency: 1 })
    const first = run()
    await arrivals(1)
    const second = run()
    await waiting(id, 1)
    expect(arrived()).toBe(1)
    expect(await startsOf(id)).toEqual({ running: 1, waiting: 1, queued: 1, skipped: 0, refused: 0, replaced: 0 })
    answer()
    expect((await first).status).toBe(200)
    await arrivals(2)
    answer()
    expect((await second).json).toMatchObject({ success: true })
    expect(await startsOf(id)).toMatchObject({ running: 0, waiting: 0 })
  })

  test('gets 504 and no log entry when its time is over before its turn', async () => {
    const { id, run } = await limited({ rate: { count: 1, windowMs: 60_000 }, timeoutMs: 400 })
    gate.isOpen = true
    const first = await run()
    gate.isOpen = false
    expect(first.status).toBe(200)
    const { status, json, headers } = await run()
    expect([status, json.code]).toEqual([504, 'EXECUTION_TIMEOUT'])
    expect(headers.get('x-execution-id')).toBeNull()
    const { json: logs } = await world.call(`/api/v1/logs?workspaceId=${world.workspaceId}&workflowIds=${id}`)
    expect(logs.data).toHaveLength(1)
  })

  test('is refused with 429 and Retry-After', async () => {
    const { id, run, arrivals } = await limited({ rate: { count: 1, windowMs: 60_000 }, beyond: 'refuse' })
    const first = run()
    await arrivals(1)
    const { status, json, headers } = await run()
    expect([status, json.code]).toEqual([429, 'WORKFLOW_LIMIT'])
    expect(Number(headers.get('retry-after'))).toBeWithin(58, 61)
    gate.answerAll()
    expect((await first).status).toBe(200)
    expect((await run()).status).toBe(429)
    expect(await startsOf(id)).toMatchObject({ refused: 2 })
  })

  test('is refused when the queue is full', async () => {
    const { id, run, arrivals, answer } = await limited({ concurrency: 1, queueMax: 1 })
    const runs = [run()]
    await arrivals(1)
    runs.push(run())
    await waiting(id, 1)
    expect(await run()).toMatchObject({ status: 429, json: { code: 'WORKFLOW_LIMIT' } })
    answer()
    await arrivals(2)
    answer()
    expect((await Promise.all(runs)).map(({ status }) => status)).toEqual([200, 200])
  })

  test('is skipped with 202, counted, and not logged', async () => {
    const { id, run, begin, arrivals, answer } = await limited({ concurrency: 1, beyond: 'skip' })
    const first = run()
    await arrivals(1)
    for (const skipped of [await run(), await begin(), await run({ stream: true })]) {
      expect([skipped.status, skipped.json]).toEqual([202, { success: true, status: 'skipped' }])
      expect(skipped.headers.get('x-execution-id')).toBeNull()
    }
    answer()
    await first
    expect(await startsOf(id)).toMatchObject({ skipped: 3, running: 0 })
    expect((await world.call('/metrics', { key: null })).text).toContain(
      'millrace_limited_starts_total{outcome="skipped"} 3',
    )
    const { json: logs } = await world.call(`/api/v1/logs?workspaceId=${world.workspaceId}&workflowIds=${id}`)
    expect(logs.data).toHaveLength(1)
  })

  test('cancels and replaces the previous run', async () => {
    const { id, run, arrivals } = await limited({ concurrency: 1, beyond: 'replace' })
    const first = run()
    await arrivals(1)
    const second = run()
    expect((await first).json).toMatchObject({ success: false, error: 'The run was cancelled.' })
    await arrivals(2)
    gate.answerAll()
    expect((await second).status).toBe(200)
    expect(await startsOf(id)).toMatchObject({ replaced: 1, running: 0 })
  })

  test('with another key runs at once', async () => {
    const { run, arrivals } = await limited({ concurrency: 1, key: '<api.customer>', beyond: 'refuse' })
    const runs = [run({ customer: 'a' }), run({ customer: 'b' })]
    await arrivals(2)
    expect((await run({ customer: 'a' })).status).toBe(429)
    gate.answerAll()
    expect((await Promise.all(runs)).map(({ status }) => status)).toEqual([200, 200])
  })

  test('streams after it has waited', async () => {
    const { id, run, arrivals, answer } = await limited({ concurrency: 1 })
    const first = run()
    await arrivals(1)
    const second = run({ stream: true })
    await waiting(id, 1)
    answer()
    await first
    await arrivals(2)
    answer()
    expect((await second).text).toContain('"event":"done","success":true')
  })

  test('does not limit manual runs', async () => {
    const { id, run, arrivals } = await limited({ rate: { count: 1, windowMs: 60_000 }, beyond: 'refuse' })
    gate.isOpen = true
    try {
      expect((await run()).status).toBe(200)
      const headers = await world.signIn()
      const manual = await world.call(`/api/editor/workflows/${id}/runs`, { body: { input: {} }, headers, key: null })
      expect(manual.status).toBe(202)
      await arrivals(2)
    } finally {
      gate.isOpen = false
    }
  })
})

describe('an asynchronous run over the limits', () => {
  test('stays queued until the previous run has ended', async () => {
    const { id, begin, arrivals, arrived, answer } = await limited({ concurrency: 1 })
    const ids = [await begin(), await begin(), await begin()].map(({ json }) => json.executionId as string)
    await arrivals(1)
    await waiting(id, 2)
    expect(await Promise.all(ids.map(statusOf))).toEqual(['processing', 'queued', 'queued'])
    answer()
    expect(await ended(ids[0] ?? '')).toBe('completed')
    await arrivals(2)
    expect(arrived()).toBe(2)
    answer()
    await arrivals(3)
    answer()
    expect(await Promise.all(ids.map(ended))).toEqual(['completed', 'completed', 'completed'])
  })

  test('shares the limits with synchronous ones', async () => {
    const { id, run, begin, arrivals, answer } = await limited({ concurrency: 1 })
    const first = run()
    await arrivals(1)
    const { json } = await begin()
    await waiting(id, 1)
    expect(await statusOf(json.executionId)).toBe('queued')
    answer()
    await first
    await arrivals(2)
    answer()
    expect(await ended(json.executionId)).toBe('completed')
  })

  test('can be cancelled while it waits, and the next one takes its turn', async () => {
    const { id, begin, arrivals, answer } = await limited({ concurrency: 1 })
    const ids = [await begin(), await begin(), await begin()].map(({ json }) => json.executionId as string)
    await arrivals(1)
    await waiting(id, 2)
    expect((await world.call(`/api/workflows/${id}/executions/${ids[1]}/cancel`, { method: 'POST' })).status).toBe(200)
    expect(await statusOf(ids[1] ?? '')).toBe('cancelled')
    answer()
    await arrivals(2)
    answer()
    expect(await ended(ids[2] ?? '')).toBe('completed')
    expect(await startsOf(id)).toMatchObject({ running: 0, waiting: 0 })
  })

  test('is refused with 429', async () => {
    const { begin, arrivals, answer } = await limited({ concurrency: 1, beyond: 'refuse' })
    const { json } = await begin()
    await arrivals(1)
    expect(await begin()).toMatchObject({ status: 429, json: { code: 'WORKFLOW_LIMIT' } })
    answer()
    expect(await ended(json.executionId)).toBe('completed')
  })

  test('replaces the oldest run', async () => {
    const { begin, arrivals } = await limited({ concurrency: 1, beyond: 'replace' })
    const first = await begin()
    await arrivals(1)
    const second = await begin()
    expect(await ended(first.json.executionId)).toBe('cancelled')
    await arrivals(2)
    gate.answerAll()
    expect(await ended(second.json.executionId)).toBe('completed')
  })

  test('releases its slot while it is paused', async () => {
    const draft = document({
      blocks: [start(), block('call', 'wait_for_call'), block('after', 'function', { code: 'return 1' })],
      edges: ['start > call', 'call > after'],
      limits: { concurrency: 1 },
    })
    const id = await world.deploy(draft)
    const ids = []
    for (let count = 0; count < 2; count += 1) {
      const { json } = await world.execute(id, {}, asynchronous)
      ids.push(json.executionId)
      while ((await statusOf(json.executionId)) !== 'paused') await Bun.sleep(5)
    }
    const { json } = await world.call(`/api/workspaces/${world.workspaceId}/pauses?workflowId=${id}`)
    for (const { contextId } of json.data) {
      const path = `/api/workspaces/${world.workspaceId}/pauses/${contextId}/resume`
      expect((await world.call(path, { body: {} })).status).toBe(200)
    }
    for (const executionId of ids) {
      while ((await statusOf(executionId)) === 'paused') await Bun.sleep(5)
      expect(await ended(executionId)).toBe('completed')
    }
    expect(await startsOf(id)).toMatchObject({ running: 0, waiting: 0 })
  })
})

describe('the limits also apply to', () => {
  test('webhook requests, which get the same responses', async () => {
    const path = `limited-hook-${Date.now()}`
    const draft = document({
      blocks: [
        block('hook', 'webhook_trigger', { path, authentication: { type: 'none' } }),
        block('ask', 'api', { url: `${gate.url}/${path}` }),
      ],
      edges: ['hook > ask'],
      limits: { concurrency: 1, beyond: 'refuse', key: '<webhook.body.customer>' },
    })
    await world.deploy(draft)
    const send = (customer: string) => world.call(`/api/webhooks/trigger/${path}`, { body: { customer }, key: null })
    expect((await send('a')).status).toBe(202)
    await gate.arrivalsAt(`/${path}`, 1)
    expect(await send('a')).toMatchObject({ status: 429, json: { code: 'WORKFLOW_LIMIT' } })
    expect((await send('b')).status).toBe(202)
    await gate.arrivalsAt(`/${path}`, 2)
  })

  test('chat messages, without telling visitors about the limits', async () => {
    const identifier = `limited-chat-${Date.now()}`
    const chat = (beyond: 'refuse' | 'skip') =>
      document({
        blocks: [
          block('chat', 'chat_trigger', { identifier: `${identifier}-${beyond}`, access: 'public' }),
          block('ask', 'api', { url: `${gate.url}/${identifier}-${beyond}` }),
        ],
        edges: ['chat > ask'],
        limits: { concurrency: 1, beyond },
      })
    await world.deploy(chat('refuse'))
    await world.deploy(chat('skip'))
    const say = (beyond: string, stream: boolean) =>
      world.call(`/api/chat/${identifier}-${beyond}`, { body: { input: 'hi', stream }, key: null })
    const first = [say('refuse', false), say('skip', false)]
    await gate.arrivalsAt(`/${identifier}-refuse`, 1)
    await gate.arrivalsAt(`/${identifier}-skip`, 1)
    for (const stream of [false, true]) {
      const refused = await say('refuse', stream)
      expect([refused.status, refused.json.code]).toEqual([429, 'WORKFLOW_LIMIT'])
      expect(refused.json.error).toBe('This chat accepts no more messages for now.')
      expect(refused.headers.get('retry-after')).toBe('1')
      expect(await say('skip', stream)).toMatchObject({ status: 202, json: { success: true, status: 'skipped' } })
    }
    gate.answerAll()
    expect((await Promise.all(first)).map(({ status }) => status)).toEqual([200, 200])
  })

  test('scheduled runs, whose due times are then skipped', async () => {
    const path = `limited-schedule-${Date.now()}`
    const draft = document({
      blocks: [
        block('it', 'schedule', { intervalMs: 1_000, overlap: 'allow' }),
        block('ask', 'api', { url: `${gate.url}/${path}` }),
      ],
      edges: ['it > ask'],
      limits: { concurrency: 1, beyond: 'skip' },
    })
    const id = await world.deploy(draft)
    await gate.arrivalsAt(`/${path}`, 1)
    while ((await startsOf(id)).skipped < 2) await Bun.sleep(20)
    expect(gate.arrived.filter((each) => each === `/${path}`)).toHaveLength(1)
    expect((await world.call('/metrics', { key: null })).text).toMatch(
      /^millrace_schedule_times_total\{fate="limit"\} [1-9]/m,
    )
    await world.call(`/api/workflows/${id}/deploy`, { method: 'DELETE' })
  }, 20_000)
})

test('a new version with a higher limit lets waiting starts run', async () => {
  const { id, begin, arrivals } = await limited({ concurrency: 1 })
  for (let count = 0; count < 3; count += 1) await begin()
  await arrivals(1)
  await waiting(id, 2)
  const { json: draft } = await world.call(`/api/workflows/${id}`)
  const saved = await world.call(`/api/workflows/${id}`, {
    method: 'PUT',
    body: { ...draft, limits: { concurrency: 3 } },
  })
  expect(saved.status).toBe(200)
  expect((await world.call(`/api/workflows/${id}/deploy`, { method: 'POST' })).status).toBe(200)
  await arrivals(3)
})

test('a key that reads anything other than a trigger cannot be deployed', async () => {
  const draft = document({
    blocks: [start(), block('f', 'function', { code: 'return 1' })],
    edges: ['start > f'],
    limits: { concurrency: 1, key: '<f.result> {{CUSTOMER}}' },
  })
  const id = await world.deploy(draft, false)
  const { status, json } = await world.call(`/api/workflows/${id}/deploy`, { method: 'POST' })
  expect(status).toBe(400)
  expect(json.details.map(({ path }: { path: string }) => path)).toEqual(['limits.key', 'limits.key'])
  expect(json.error).toContain("it can read only the trigger's input, such as <api.customer>")
})
