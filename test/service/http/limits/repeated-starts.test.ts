import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { WorkflowLimits } from '../../../../src/domain/workflow/workflow-limits.ts'
import { block, document } from '../../../support/make.ts'
import { ExecutionWorld } from '../execution-world.ts'

let world: ExecutionWorld
beforeAll(async () => {
  world = await ExecutionWorld.open()
})
afterAll(() => world.close())

let names = 0

/** A workflow with a webhook trigger and an API trigger, whose runs take a moment and return their input. */
async function limited(limits: WorkflowLimits) {
  names += 1
  const path = `repeated-${names}`
  const hook = { path, authentication: { type: 'none' }, idempotency: { header: 'X-Delivery' } }
  const blocks = [
    block('hook', 'webhook_trigger', hook),
    block('start', 'api_trigger', { inputFormat: [] }),
    block('wait', 'wait', { ms: 300 }),
    block('f', 'function', { code: 'return <webhook.body>' }),
  ]
  const edges = ['hook > wait', 'start > wait', 'wait > f']
  const id = await world.deploy(document({ name: path, blocks, edges, limits }))
  const deliver = (delivery: string, body: unknown = {}) =>
    world.call(`/api/webhooks/trigger/${path}`, { body, key: null, headers: { 'x-delivery': delivery } })
  return { id, deliver }
}

async function ended(executionId: string) {
  for (;;) {
    const { json } = await world.call(`/api/jobs/${executionId}`)
    if (json.status !== 'queued' && json.status !== 'processing') return json
    await Bun.sleep(10)
  }
}

describe('a webhook request that arrives again', () => {
  test('does not replace the run that it started', async () => {
    const { deliver } = await limited({ concurrency: 1, beyond: 'replace' })
    const both = await Promise.all([deliver('one'), deliver('one')])
    expect(both.map(({ status }) => status).sort()).toEqual([200, 202])
    const { executionId } = both[0].json
    expect(await deliver('one')).toMatchObject({ status: 200, json: { executionId, duplicate: true } })
    expect((await ended(executionId)).status).toBe('completed')
  })

  test('is not refused by the limits', async () => {
    const { deliver } = await limited({ concurrency: 1, beyond: 'refuse' })
    const { status, json } = await deliver('one')
    expect(status).toBe(202)
    expect(await deliver('two')).toMatchObject({ status: 429 })
    expect(await deliver('one')).toMatchObject({ status: 200, json: { executionId: json.executionId } })
  })

  test('does not take the place of a later one while both are debounced', async () => {
    const { deliver } = await limited({ debounce: { quietMs: 400 } })
    const { json } = await deliver('one', { n: 1 })
    expect((await deliver('two', { n: 2 })).json.executionId).toBe(json.executionId)
    expect(await deliver('one', { n: 1 })).toMatchObject({ status: 200, json: { duplicate: true } })
    expect((await ended(json.executionId)).output.result).toEqual({ n: 2 })
  })
})

test('asynchronous requests with one Idempotency-Key that come at once do not replace their run', async () => {
  const { id } = await limited({ concurrency: 1, beyond: 'replace' })
  const headers = { 'idempotency-key': 'k', 'x-execution-mode': 'async' }
  const all = await Promise.all(Array.from({ length: 4 }, () => world.execute(id, {}, { headers })))
  const ids = new Set(all.map(({ status, json }) => (status === 202 ? json.executionId : status)))
  expect(ids.size).toBe(1)
  expect((await ended(String([...ids][0]))).status).toBe('completed')
})
