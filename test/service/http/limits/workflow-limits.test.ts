import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { block, document } from '../../../support/make.ts'
import { ExecutionWorld, start } from '../execution-world.ts'

let world: ExecutionWorld
beforeAll(async () => {
  world = await ExecutionWorld.open({ 'run-timeout-ms': '60000', 'pause-in-memory-ms': '50' })
})
afterAll(() => world.close())

const waiting = (params: Record<string, unknown>, timeoutMs: number) =>
  document({
    blocks: [start(), block('pause', 'wait', params), block('after', 'function', { code: 'return 1' })],
    edges: ['start > pause', 'pause > after'],
    limits: { timeoutMs },
  })
const asynchronous = { headers: { 'x-execution-mode': 'async' } }

/** Resolves with the job when it has ended. */
async function endOf(executionId: string) {
  for (;;) {
    const { json } = await world.call(`/api/jobs/${executionId}`)
    if (['completed', 'failed', 'cancelled'].includes(json.status)) return json
    await Bun.sleep(20)
  }
}

/** A block that never ends by itself and does not pause. */
const endless = (timeoutMs: number) =>
  document({
    blocks: [start(), block('spin', 'function', { code: 'for (;;) {}', timeoutMs: 60_000 })],
    edges: ['start > spin'],
    limits: { timeoutMs },
  })

describe('a run over the time limit of its workflow', () => {
  test('responds with 504 and names the limit', async () => {
    const id = await world.deploy(endless(100))
    const { status, json } = await world.execute(id, {})
    expect([status, json.code]).toEqual([504, 'EXECUTION_TIMEOUT'])
    expect(json.error).toContain('100 ms, the most that the time limit of the workflow allows')
  })

  test('fails when it is asynchronous', async () => {
    const id = await world.deploy(endless(100))
    const { json } = await world.execute(id, {}, asynchronous)
    const job = await endOf(json.executionId)
    expect(job).toMatchObject({ status: 'failed', error: { code: 'EXECUTION_TIMEOUT' } })
    expect(job.error.message).toContain('the time limit of the workflow')
  })
})

test('the time in a pause does not count', async () => {
  const id = await world.deploy(waiting({ ms: 1_500 }, 1_000))
  const asked = await world.execute(id, {}, asynchronous)
  expect(await endOf(asked.json.executionId)).toMatchObject({ status: 'completed' })
  const { status, json } = await world.execute(id, {})
  expect([status, json.status]).toEqual([202, 'paused'])
  expect(await endOf(json.executionId)).toMatchObject({ status: 'completed' })
}, 30_000)

test('a document with an unknown limit is not saved, and the error names the member', async () => {
  const { limits: _, ...rest } = endless(1)
  const { status, json } = await world.call('/api/workflows', {
    headers: { 'content-type': 'application/json' },
    body: { ...rest, name: 'Misspelt', limits: { timeout: 5 } },
  })
  expect(status).toBe(400)
  expect(json.details).toEqual([{ path: 'limits.timeout', message: 'limits.timeout is not known here.' }])
})
