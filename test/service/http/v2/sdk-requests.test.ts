import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { ExecutionWorld, echo } from '../execution-world.ts'
import type { Parsed } from '../world.ts'

// The requests that the clients `simstudio-ts-sdk` 0.2.0 and `simstudio-sdk` 0.2.0 (Python) send, and the members of
// the responses that they read.

let world: ExecutionWorld
let id: string
let runId: string
beforeAll(async () => {
  world = await ExecutionWorld.open()
  id = await world.deploy(echo)
})
afterAll(() => world.close())

const execute = (body: object) => world.call(`/api/v2/workflows/${id}/execute`, { body })

type Request = { name: string; send(): Promise<{ status: number; json: Parsed }>; status: number; reads: () => object }

const completed = () => ({
  data: {
    ...{ runId: expect.any(String), workflowId: id, status: 'completed', error: null },
    ...{ startedAt: expect.any(String), endedAt: expect.any(String), durationMs: expect.any(Number) },
  },
})
const requests: Request[] = [
  {
    name: 'an execution with an input',
    send: () => execute({ input: { message: 'Hello' } }),
    status: 200,
    reads: completed,
  },
  { name: 'an execution without an input', send: () => execute({}), status: 200, reads: completed },
  {
    name: 'an execution with selected outputs and `stream: false`',
    send: () => execute({ input: {}, stream: false, selectedOutputs: ['f.result'] }),
    status: 200,
    reads: completed,
  },
  {
    name: 'an asynchronous execution',
    send: () => execute({ input: { message: 'Hello' }, async: true }),
    status: 202,
    reads: () => ({
      data: { runId: expect.any(String), statusUrl: expect.stringContaining(`/api/v2/workflows/${id}/runs/`) },
    }),
  },
  {
    name: 'an asynchronous execution with a time limit',
    send: () => execute({ async: true, executionTimeoutSeconds: 90 }),
    status: 202,
    reads: () => ({ data: { runId: expect.any(String) } }),
  },
  {
    name: 'a run with its output',
    send: () => world.call(`/api/v2/workflows/${id}/runs/${runId}?includeOutput=true&selectedOutputs=f.result`),
    status: 200,
    reads: () => ({
      data: { runId, status: 'completed', output: { result: { a: 1 } }, blockOutputs: { 'f.result': { a: 1 } } },
    }),
  },
  {
    name: 'a run that does not exist',
    send: () => world.call(`/api/v2/workflows/${id}/runs/invalid-run`),
    status: 404,
    reads: () => ({ error: { code: 'NOT_FOUND', message: expect.any(String) } }),
  },
  {
    name: 'the status of a workflow',
    send: () => world.call(`/api/workflows/${id}/status`),
    status: 200,
    reads: () => ({ isDeployed: true, needsRedeployment: false }),
  },
  {
    name: 'the status of a job',
    send: () => world.call(`/api/jobs/${runId}`),
    status: 200,
    reads: () => ({ taskId: runId, status: 'completed', output: { result: { a: 1 } } }),
  },
  {
    name: 'the usage limits',
    send: () => world.call('/api/users/me/usage-limits'),
    status: 200,
    reads: () => ({
      success: true,
      rateLimit: { sync: { remaining: expect.any(Number), resetAt: expect.any(String) } },
    }),
  },
]

describe('a request of the clients 0.2.0', () => {
  for (const { name, send, status, reads } of requests) {
    test(`gets what it reads: ${name}`, async () => {
      runId = (await execute({ input: { a: 1 } })).json.data.runId
      const response = await send()
      expect(response.status).toBe(status)
      expect(response.json).toMatchObject(reads())
    })
  }

  test('can read the rate window from the headers', async () => {
    const { headers } = await execute({})
    for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining']) {
      expect(Number(headers.get(name))).toBeGreaterThan(0)
    }
    expect(Date.parse(headers.get('x-ratelimit-reset') ?? '')).toBeGreaterThan(0)
  })
})
