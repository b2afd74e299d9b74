import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { RunInFlight } from '../../../../src/http/services.ts'
import { HttpWorld } from '../world.ts'

let world: HttpWorld
let workflowId: string
const running = new Map<string, RunInFlight>()
const cancelled: string[] = []
const runner = {
  find: (executionId: string) => running.get(executionId),
  runsOf: () => [],
  cancel(executionId: string) {
    cancelled.push(executionId)
    return running.delete(executionId)
  },
}
beforeAll(async () => {
  world = await HttpWorld.open({ override: () => ({ runner }) })
  workflowId = await world.deployed({ description: 'What it does' })
})
afterAll(() => world.close())

describe('runs as jobs', () => {
  test('a run in flight is processing, and can be cancelled once', async () => {
    const executionId = crypto.randomUUID()
    const other = await world.workflow()
    const startedAt = Date.UTC(2025, 0, 1)
    running.set(executionId, { executionId, workflowId, workspaceId: world.workspaceId, startedAt })
    const path = `/api/workflows/${workflowId}/executions/${executionId}`
    const { json } = await world.get(path)
    expect(json).toEqual({
      success: true,
      taskId: executionId,
      executionId,
      status: 'processing',
      metadata: {
        createdAt: '2025-01-01T00:00:00.000Z',
        startedAt: '2025-01-01T00:00:00.000Z',
        completedAt: null,
        duration: null,
      },
    })
    expect((await world.get(`/api/jobs/${executionId}`)).json).toEqual(json)
    expect((await world.get(`/api/workflows/${other}/executions/${executionId}`)).status).toBe(404)
    expect((await world.get(path, { key: world.outsider })).status).toBe(404)
    const response = await world.post(`${path}/cancel`)
    expect({ status: response.status, json: response.json }).toEqual({
      status: 200,
      json: { success: true, status: 'cancelled' },
    })
    expect(cancelled).toEqual([executionId])
    expect((await world.post(`${path}/cancel`)).status).toBe(404)
  })

  test('a run that ended has its output or its error, and cannot be cancelled', async () => {
    const good = await world.log(workflowId)
    const path = `/api/workflows/${workflowId}/executions/${good.executionId}`
    expect((await world.get(path)).json).toMatchObject({
      success: true,
      status: 'completed',
      output: { answer: 42 },
      metadata: { duration: 12 },
    })
    const conflict = await world.post(`${path}/cancel`)
    expect({ status: conflict.status, code: conflict.json.code }).toEqual({ status: 409, code: 'CONFLICT' })

    const failed = await world.log(workflowId, {
      level: 'error',
      finalOutput: '{"error":"It broke.","code":"EXECUTION_FAILED","blockId":"b","blockName":"B"}',
    })
    expect((await world.get(`/api/jobs/${failed.executionId}`)).json).toMatchObject({
      success: false,
      status: 'failed',
      error: { code: 'EXECUTION_FAILED', message: 'It broke.', blockId: 'b', blockName: 'B' },
    })
    const stopped = await world.log(workflowId, {
      level: 'error',
      finalOutput: '{"error":"Gone.","code":"CLIENT_CLOSED"}',
    })
    const { json } = await world.get(`/api/jobs/${stopped.executionId}`)
    expect(json).toMatchObject({
      success: false,
      status: 'cancelled',
      error: { code: 'CLIENT_CLOSED', message: 'Gone.' },
    })
    expect(json).not.toHaveProperty('output')
  })
})
