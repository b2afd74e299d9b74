import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { temporaryFolder } from '../support/executable.ts'
import { block, document } from '../support/make.ts'
import { call, deploy, init, type Serving, serve } from '../support/running-service.ts'
import { crashJobs } from './job-crash.ts'

const environment = { MILLRACE_OUTBOUND_ALLOW: 'loopback' }

let folder: ReturnType<typeof temporaryFolder>
let apiKey: string
let service: Serving | undefined
beforeEach(async () => {
  folder = temporaryFolder()
  apiKey = (await init(folder.path)).apiKey
})
afterEach(async () => {
  await service?.kill('SIGKILL')
  service = undefined
  folder[Symbol.dispose]()
})

/** A server that holds every request until the test releases the responses. */
function holdingServer() {
  const waiting: (() => void)[] = []
  let arrival = Promise.withResolvers<void>()
  const state = { arrived: 0 }
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    fetch: () => {
      state.arrived += 1
      arrival.resolve()
      arrival = Promise.withResolvers()
      return new Promise<Response>((resolve) => waiting.push(() => resolve(Response.json({ ok: true }))))
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}`,
    state,
    async arrivals(count: number) {
      while (state.arrived < count) await arrival.promise
    },
    respondToAll() {
      for (const response of waiting.splice(0)) response()
    },
    /** Drops the requests of a process that died. */
    forget: () => void waiting.splice(0),
    [Symbol.dispose]: () => void server.stop(true),
  }
}

function holding(url: string) {
  return document({
    name: 'Holding',
    blocks: [
      block('start', 'api_trigger'),
      block('f', 'function', { code: 'return Math.random()' }),
      block('hold', 'api', { url, timeoutMs: 60_000 }),
      block('end', 'function', { code: 'return <f.result>' }),
    ],
    edges: ['start > f', 'f > hold', 'hold > end'],
  })
}

async function begin(endpoint: string): Promise<string> {
  const response = await fetch(endpoint, {
    method: 'POST',
    headers: { 'x-api-key': apiKey, 'x-execution-mode': 'async' },
    body: '{}',
  })
  expect(response.status).toBe(202)
  return ((await response.json()) as { jobId: string }).jobId
}

type Job = { status: string; error?: { code: string; message: string }; output?: { result: number } }

async function endOf(url: string, id: string): Promise<Job> {
  for (;;) {
    const { body } = await call(`${url}/api/jobs/${id}`, apiKey)
    const job = body as Job
    if (job.status !== 'queued' && job.status !== 'processing') return job
    await Bun.sleep(5)
  }
}

async function stateOf(url: string, id: string): Promise<string> {
  return ((await call(`${url}/api/jobs/${id}`, apiKey)).body as Job).status
}

describe('asynchronous runs of the executable', () => {
  test('all complete however often it is killed, and only blocks in flight run again', async () => {
    // Two kills: a job that made no progress between three crashes ends as INTERRUPTED.
    const report = await crashJobs({ jobs: 120, kills: 2, random: Math.random })
    expect(report.statuses).toEqual({ completed: report.jobs })
    expect(report.wentBack).toEqual([])
    expect(report.otherKeys).toBe(0)
  })

  test('that were in progress at three crashes without progress fail as INTERRUPTED, with their ended blocks in the log', async () => {
    using held = holdingServer()
    service = await serve(folder.path, environment)
    const id = await begin(await deploy(service.url, apiKey, holding(held.url)))
    for (let death = 1; death <= 3; death += 1) {
      await held.arrivals(death)
      expect(await stateOf(service.url, id)).toBe('processing')
      await service.kill('SIGKILL')
      service = await serve(folder.path, environment)
    }
    expect(await endOf(service.url, id)).toMatchObject({ status: 'failed', error: { code: 'INTERRUPTED' } })
    expect(held.state.arrived).toBe(3)
    const { body: list } = await call(
      `${service.url}/api/v1/logs?${new URLSearchParams({ workspaceId: await workspaceOf(service.url), includeTraceSpans: 'true' })}`,
      apiKey,
    )
    const [entry] = (list as { data: { executionId: string; level: string; traceSpans: unknown }[] }).data
    expect(entry).toMatchObject({ executionId: id, level: 'error' })
    expect(JSON.stringify(entry?.traceSpans)).toContain('"blockId":"f"')
  })

  test('that complete a block between crashes go on, however many crashes there are', async () => {
    using held = holdingServer()
    service = await serve(folder.path, environment)
    const steps = ['one', 'two', 'three', 'four', 'five']
    const id = await begin(
      await deploy(
        service.url,
        apiKey,
        document({
          name: 'Long',
          blocks: [
            block('start', 'api_trigger'),
            ...steps.map((step) => block(step, 'api', { url: held.url, timeoutMs: 60_000 })),
          ],
          edges: ['start > one', ...steps.slice(1).map((step, index) => `${steps[index]} > ${step}`)],
        }),
      ),
    )
    // Each process completes one block, and dies in the next one.
    for (let death = 1; death <= 5; death += 1) {
      await held.arrivals(2 * death - 1)
      if (death < 5) {
        held.respondToAll()
        await held.arrivals(2 * death)
      }
      await service.kill('SIGKILL')
      held.forget()
      service = await serve(folder.path, environment)
    }
    await held.arrivals(10)
    held.respondToAll()
    expect(await endOf(service.url, id)).toMatchObject({ status: 'completed' })
  })

  test('that were cancelled while running stay cancelled when the process is killed after the response', async () => {
    using held = holdingServer()
    service = await serve(folder.path, environment)
    const endpoint = await deploy(service.url, apiKey, holding(held.url))
    const id = await begin(endpoint)
    await held.arrivals(1)
    const cancelUrl = endpoint.replace('/execute', `/executions/${id}/cancel`)
    const responses = await Promise.all([call(cancelUrl, apiKey, 'POST'), call(cancelUrl, apiKey, 'POST')])
    await service.kill('SIGKILL')
    expect(responses.map(({ status }) => status)).toContain(200)
    service = await serve(folder.path, environment)
    expect(await endOf(service.url, id)).toMatchObject({ status: 'cancelled', error: { code: 'CANCELLED' } })
    expect(held.state.arrived).toBe(1)
  })

  test('resume after an orderly stop, any number of times, with the same results', async () => {
    using held = holdingServer()
    const settings = { ...environment, MILLRACE_STOP_GRACE_MS: '10', MILLRACE_JOBS_CONCURRENCY: '1' }
    service = await serve(folder.path, settings)
    const endpoint = await deploy(service.url, apiKey, holding(held.url))
    const running = await begin(endpoint)
    await held.arrivals(1)
    const waiting = await begin(endpoint)
    for (let stop = 1; stop <= 4; stop += 1) {
      await held.arrivals(stop)
      expect(await service.kill('SIGTERM')).toBe(0)
      service = await serve(folder.path, settings)
    }
    await held.arrivals(5)
    expect(await stateOf(service.url, waiting)).toBe('queued')
    held.respondToAll()
    const first = await endOf(service.url, running)
    expect(first).toMatchObject({ status: 'completed', output: { result: expect.any(Number) } })
    await held.arrivals(6)
    held.respondToAll()
    expect((await endOf(service.url, waiting)).status).toBe('completed')
  })
})

async function workspaceOf(url: string): Promise<string> {
  const { body } = await call(`${url}/api/workspaces`, apiKey)
  return (body as { data: { id: string }[] }).data[0]?.id ?? ''
}
