import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Gate } from '../../../support/gate.ts'
import { block, document } from '../../../support/make.ts'
import { ExecutionWorld, echo, start } from '../execution-world.ts'

const asynchronous = { headers: { 'x-execution-mode': 'async' } }
let world: ExecutionWorld
let gate: Gate

beforeAll(async () => {
  gate = new Gate()
  world = await ExecutionWorld.open({
    'outbound-allow': 'loopback',
    'jobs-concurrency': '1',
    'jobs-waiting-max': '7',
    'async-timeout-ms': '20000',
  })
})
afterAll(async () => {
  await world.close()
  await gate.stop()
})

const gated = (name: string, path = name) =>
  document({
    name,
    blocks: [start(), block('ask', 'api', { url: `${gate.url}/${path}` })],
    edges: ['start > ask'],
  })

/** Reads a job until it is in one of the states. */
async function jobIn(states: readonly string[], id: string): Promise<Job> {
  for (;;) {
    const job = await jobOf(id)
    if (states.includes(job.status)) return job
    await Bun.sleep(2)
  }
}

type Job = {
  status: string
  success: boolean
  taskId: string
  executionId: string
  output?: unknown
  error?: { code: string; message: string; blockName?: string }
  metadata: { createdAt: string; startedAt: string | null; completedAt: string | null; duration: number | null }
}

async function jobOf(id: string): Promise<Job> {
  const { status, json } = await world.call(`/api/jobs/${id}`)
  expect(status).toBe(200)
  return json as Job
}

async function begin(workflowId: string, body: unknown = {}): Promise<string> {
  const response = await world.execute(workflowId, body, asynchronous)
  expect(response.status).toBe(202)
  return (response.json as { jobId: string }).jobId
}

const ended = ['completed', 'failed', 'cancelled']

describe('an asynchronous run', () => {
  test('responds before it runs with its status address, and then returns what a synchronous run returns', async () => {
    const id = await world.deploy(echo)
    const response = await world.execute(id, { city: 'Porto' }, { headers: { 'X-Execution-Mode': 'Async' } })
    expect(response.status).toBe(202)
    const { jobId } = response.json as { jobId: string }
    expect(response.json).toEqual({
      success: true,
      async: true,
      taskId: jobId,
      jobId,
      executionId: jobId,
      status: 'queued',
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
      statusUrl: `/api/jobs/${jobId}`,
      links: { status: `/api/jobs/${jobId}` },
    })
    expect(response.headers.get('x-execution-id')).toBe(jobId)
    expect(response.headers.get('location')).toBe(`/api/jobs/${jobId}`)
    expect(response.headers.get('x-ratelimit-limit')).not.toBeNull()
    const job = await jobIn(ended, jobId)
    expect(job).toMatchObject({ success: true, status: 'completed', taskId: jobId, executionId: jobId })
    expect(job.output).toEqual({ result: { city: 'Porto' }, stdout: '', error: null })
    expect(job.metadata.createdAt).toBe((response.json as { createdAt: string }).createdAt)
    expect((await world.call(`/api/workflows/${id}/executions/${jobId}`)).json).toEqual(job)
    const log = await world.call(`/api/v1/logs/executions/${jobId}`)
    expect(log.json).toMatchObject({ executionId: jobId, workflowId: id })
  })

  test('that is refused leaves nothing behind', async () => {
    const id = await world.deploy(
      document({ blocks: [start([{ name: 'n', type: 'number', required: true }])], edges: [] }),
    )
    const missing = await world.execute(id, {}, asynchronous)
    expect(missing).toMatchObject({ status: 400, json: { code: 'INVALID_INPUT', details: [{ path: 'n' }] } })
    const streamed = await world.execute(id, { n: 1, stream: true }, asynchronous)
    expect(streamed).toMatchObject({ status: 400, json: { code: 'INVALID_INPUT', details: [{ path: 'stream' }] } })
    expect(streamed.headers.get('x-execution-id')).toBeNull()
  })

  test('waits in the queue, can be found there, and can be cancelled in every state', async () => {
    const id = await world.deploy(gated('line'))
    const seen = gate.arrived.length
    const running = await begin(id)
    await gate.arrivals(seen + 1)
    const waiting = await begin(id)
    expect(await jobOf(running)).toMatchObject({ status: 'processing', metadata: { completedAt: null } })
    expect(await jobOf(waiting)).toMatchObject({ status: 'queued', metadata: { startedAt: null, duration: null } })

    for (const each of [waiting, running]) {
      const path = `/api/workflows/${id}/executions/${each}/cancel`
      expect(await world.call(path, { method: 'POST' })).toMatchObject({
        status: 200,
        json: { success: true, status: 'cancelled' },
      })
      const job = await jobIn(ended, each)
      expect(job).toMatchObject({ success: false, status: 'cancelled', error: { code: 'CANCELLED' } })
      expect(job.metadata.startedAt === null).toBe(each === waiting)
      expect(await world.call(path, { method: 'POST' })).toMatchObject({ status: 409, json: { code: 'CONFLICT' } })
    }
    const { json } = await world.call(`/api/v1/logs/executions/${waiting}`)
    expect(json).toMatchObject({ executionMetadata: { trigger: 'api' } })
    expect(gate.arrived.length).toBe(seen + 1)
    gate.answer()
  })

  test('of one workflow does not wait for the many of another', async () => {
    const many = await world.deploy(gated('many'))
    const few = await world.deploy(gated('few'))
    const seen = gate.arrived.length
    const ids = [await begin(many)]
    await gate.arrivals(seen + 1)
    for (const workflow of [many, many, many, few]) ids.push(await begin(workflow))
    for (const [n] of ids.entries()) {
      await gate.arrivals(seen + 1 + n)
      gate.answer()
    }
    for (const each of ids) expect((await jobIn(ended, each)).status).toBe('completed')
    expect(gate.arrived.slice(seen)).toEqual(['/many', '/many', '/few', '/many', '/many'])
  })

  test('runs the version that was active when it was accepted, even if the workflow has been deleted since', async () => {
    const blocker = await world.deploy(gated('blocker'))
    const id = await world.deploy(gated('version', 'v1'))
    const seen = gate.arrived.length
    await begin(blocker)
    await gate.arrivals(seen + 1)
    const first = await begin(id)
    const draft = { ...gated('version', 'v2'), name: `other ${crypto.randomUUID()}` }
    expect((await world.call(`/api/workflows/${id}`, { method: 'PUT', body: draft })).status).toBe(200)
    expect((await world.call(`/api/workflows/${id}/deploy`, { method: 'POST' })).status).toBe(200)
    const second = await begin(id)
    expect((await world.call(`/api/workflows/${id}`, { method: 'DELETE' })).status).toBe(204)
    for (let n = 1; n <= 3; n += 1) {
      await gate.arrivals(seen + n)
      gate.answer()
    }
    for (const each of [first, second]) await jobIn(ended, each)
    expect(gate.arrived.slice(seen)).toEqual(['/blocker', '/v1', '/v2'])
  })

  test('is refused with 503 when too many are waiting', async () => {
    const id = await world.deploy(gated('crowd'))
    const seen = gate.arrived.length
    const ids = [await begin(id)]
    await gate.arrivals(seen + 1)
    for (let n = 0; n < 7; n += 1) ids.push(await begin(id))
    const refused = await world.execute(id, {}, asynchronous)
    expect(refused).toMatchObject({ status: 503, json: { code: 'OVERLOADED' } })
    expect(refused.headers.get('retry-after')).not.toBeNull()
    for (const [n] of ids.entries()) {
      await gate.arrivals(seen + 1 + n)
      gate.answer()
    }
    for (const each of ids) expect((await jobIn(ended, each)).status).toBe('completed')
  })

  test('that fails reports the error and the block', async () => {
    const failing = document({
      blocks: [start(), block('f', 'function', { code: 'throw new Error("no luck")' })],
      edges: ['start > f'],
    })
    const job = await jobIn(ended, await begin(await world.deploy(failing)))
    expect(job).toMatchObject({ success: false, status: 'failed' })
    expect(job.error).toMatchObject({ code: 'EXECUTION_FAILED', blockName: 'f' })
    expect(job.error?.message).toContain('no luck')
    expect(job).not.toHaveProperty('output')
  })

  test('leaves none of its input and steps readable on disk while it runs', async () => {
    const secret = 'a-text-that-nobody-should-find'
    const id = await world.deploy(
      document({
        blocks: [
          start(),
          block('f', 'function', { code: 'return <api.input.text> + "!"' }),
          block('ask', 'api', { url: `${gate.url}/sealed` }),
        ],
        edges: ['start > f', 'f > ask'],
      }),
    )
    const seen = gate.arrived.length
    const running = await begin(id, { text: secret })
    await gate.arrivals(seen + 1)
    for (const file of readdirSync(world.folder)) {
      expect(readFileSync(join(world.folder, file)).includes(secret)).toBe(false)
    }
    await world.call(`/api/workflows/${id}/executions/${running}/cancel`, { method: 'POST' })
    await jobIn(ended, running)
    gate.answer()
  })
})
