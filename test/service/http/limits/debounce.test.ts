import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { WorkflowLimits } from '../../../../src/domain/workflow/workflow-limits.ts'
import { block, document } from '../../../support/make.ts'
import { ExecutionWorld, start } from '../execution-world.ts'

let world: ExecutionWorld
beforeAll(async () => {
  world = await ExecutionWorld.open()
})
afterAll(() => world.close())

const asynchronous = { headers: { 'x-execution-mode': 'async' } }

async function debounced(limits: WorkflowLimits) {
  const draft = document({
    blocks: [start(), block('f', 'function', { code: 'return <api.input>' })],
    edges: ['start > f'],
    limits,
  })
  return await world.deploy(draft)
}

async function outputOf(executionId: string): Promise<unknown> {
  for (;;) {
    const { json } = await world.call(`/api/jobs/${executionId}`)
    if (json.status === 'completed') return json.output.result
    expect(['queued', 'processing']).toContain(json.status)
    await Bun.sleep(10)
  }
}

async function runsOf(id: string): Promise<number> {
  const { json } = await world.call(`/api/v1/logs?workspaceId=${world.workspaceId}&workflowIds=${id}`)
  return json.data.length
}

describe('debounced starts', () => {
  test('run once, with the last input, and all callers get the ID of this run at once', async () => {
    const id = await debounced({ debounce: { quietMs: 600 } })
    const responses = [
      await world.execute(id, { n: 1 }, asynchronous),
      await world.execute(id, { n: 2 }),
      await world.execute(id, { n: 3, stream: true }),
    ]
    expect(responses.map(({ status }) => status)).toEqual([202, 202, 202])
    const ids = new Set(responses.map(({ json }) => json.executionId))
    expect(ids.size).toBe(1)
    expect(responses.map(({ headers }) => headers.get('x-execution-id'))).toEqual([...ids, ...ids, ...ids])
    expect(await outputOf(responses[0]?.json.executionId)).toEqual({ n: 3 })
    expect(await runsOf(id)).toBe(1)
    const next = await world.execute(id, { n: 4 })
    expect(ids.has(next.json.executionId)).toBe(false)
    expect(await outputOf(next.json.executionId)).toEqual({ n: 4 })
  })

  test('that arrive at the same time are one run', async () => {
    const id = await debounced({ debounce: { quietMs: 600 } })
    const responses = await Promise.all(Array.from({ length: 10 }, (_, n) => world.execute(id, { n }, asynchronous)))
    const ids = [...new Set(responses.map(({ json }) => json.executionId))]
    expect(ids).toHaveLength(1)
    await outputOf(ids[0])
    expect(await runsOf(id)).toBe(1)
  })

  test('with an Idempotency-Key get the first 202 again, before and after the run', async () => {
    const id = await debounced({ debounce: { quietMs: 300 } })
    const keyed = { headers: { 'idempotency-key': 'k' } }
    const first = await world.execute(id, { n: 1 }, keyed)
    const repeat = async () => {
      const { status, json, headers } = await world.execute(id, { n: 1 }, keyed)
      return [status, headers.get('idempotent-replayed'), json]
    }
    expect(await repeat()).toEqual([202, 'true', first.json])
    expect(await outputOf(first.json.executionId)).toEqual({ n: 1 })
    expect(await repeat()).toEqual([202, 'true', first.json])
    expect(await runsOf(id)).toBe(1)
  })

  test('wait no longer than maxMs', async () => {
    const id = await debounced({ debounce: { quietMs: 500, maxMs: 900 } })
    const first = await world.execute(id, { n: 0 })
    const ids = new Set<string>()
    const endsAt = performance.now() + 2_000
    for (let n = 1; performance.now() < endsAt; n += 1) {
      ids.add((await world.execute(id, { n })).json.executionId)
      await Bun.sleep(50)
    }
    expect(ids.has(first.json.executionId)).toBe(true)
    expect(ids.size).toBeWithin(2, 6)
    const runs = await Promise.all([...ids].map(outputOf))
    expect(new Set(runs.map((each) => JSON.stringify(each))).size).toBe(runs.length)
  })

  test('with another key have a run of their own', async () => {
    const id = await debounced({ debounce: { quietMs: 400 }, key: '<api.customer>' })
    const [a, b] = [await world.execute(id, { customer: 'a' }), await world.execute(id, { customer: 'b' })]
    expect(a?.json.executionId).not.toBe(b?.json.executionId)
    expect(await outputOf(a?.json.executionId)).toEqual({ customer: 'a' })
    expect(await outputOf(b?.json.executionId)).toEqual({ customer: 'b' })
  })

  test('can be cancelled, and the next start is a new run', async () => {
    const id = await debounced({ debounce: { quietMs: 60_000 } })
    const first = await world.execute(id, { n: 1 })
    const { executionId } = first.json
    const cancelled = await world.call(`/api/workflows/${id}/executions/${executionId}/cancel`, { method: 'POST' })
    expect(cancelled.status).toBe(200)
    expect((await world.call(`/api/jobs/${executionId}`)).json.status).toBe('cancelled')
    const second = await world.execute(id, { n: 2 })
    expect(second.json.executionId).not.toBe(executionId)
  })

  test('of a webhook with respond: workflow are asynchronous', async () => {
    const path = `debounced-${Date.now()}`
    const hook = { path, authentication: { type: 'none' }, respond: 'workflow' }
    const draft = document({
      blocks: [block('hook', 'webhook_trigger', hook), block('f', 'function', { code: 'return <webhook.body>' })],
      edges: ['hook > f'],
      limits: { debounce: { quietMs: 300 } },
    })
    await world.deploy(draft)
    const send = (n: number) => world.call(`/api/webhooks/trigger/${path}`, { body: { n }, key: null })
    const [first, second] = [await send(1), await send(2)]
    expect([first?.status, second?.json.executionId]).toEqual([202, first?.json.executionId])
    expect(await outputOf(first?.json.executionId)).toEqual({ n: 2 })
  })

  test('wait for a slot after the debounce', async () => {
    const id = await debounced({ debounce: { quietMs: 100 }, rate: { count: 1, windowMs: 1_000 } })
    const first = await world.execute(id, { n: 1 })
    expect(await outputOf(first.json.executionId)).toEqual({ n: 1 })
    const second = await world.execute(id, { n: 2 })
    expect(await outputOf(second.json.executionId)).toEqual({ n: 2 })
    const times = await Promise.all(
      [first, second].map(
        async ({ json }) => (await world.call(`/api/jobs/${json.executionId}`)).json.metadata.startedAt,
      ),
    )
    expect(Date.parse(times[1]) - Date.parse(times[0])).toBeGreaterThanOrEqual(995)
  })
})
