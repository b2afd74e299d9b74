import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { logIdOf } from '../../../../src/domain/ids.ts'
import { HttpWorld } from '../world.ts'

let world: HttpWorld
let workflowId: string
beforeAll(async () => {
  world = await HttpWorld.open()
  workflowId = await world.deployed({ description: 'What it does' })
})
afterAll(() => world.close())

/** A window of the tier `enterprise` in which nothing was counted. */
const unused = { limit: 1_000_000_000, remaining: 1_000_000_000, resetAt: expect.stringMatching(/^\d{4}-.*Z$/) }

describe('a page of log entries', () => {
  test('has the documented shape, and the limits', async () => {
    const row = await world.log(workflowId, { costTotal: 0.25 })
    const { status, json, headers } = await world.logs(`&executionId=${row.executionId}`)
    expect(status).toBe(200)
    expect(headers.get('content-type')).toStartWith('application/json')
    expect(json).toEqual({
      data: [
        {
          id: logIdOf(row.sequence),
          workflowId,
          executionId: row.executionId,
          level: 'info',
          trigger: 'api',
          startedAt: '2025-06-01T12:00:00.000Z',
          endedAt: '2025-06-01T12:00:00.012Z',
          totalDurationMs: 12,
          pausedMs: null,
          cost: { total: 0.25 },
          files: null,
          ...ran,
        },
      ],
      nextCursor: null,
      limits: {
        workflowExecutionRateLimit: { sync: unused, async: unused },
        usage: { currentPeriodCost: 0, limit: 1_000_000_000, plan: 'enterprise', isExceeded: false },
      },
    })
  })

  test('has more members when the query asks for details', async () => {
    const cost = { total: 0.5, tokens: { prompt: 1, completion: 2, total: 3 }, models: {} }
    await world.log(workflowId, { costTotal: 0.5, cost: JSON.stringify(cost), finalOutput: '{"a":[1,"ü"]}' })
    const [plain] = (await world.logs('&limit=1')).json.data
    for (const member of ['workflow', 'finalOutput', 'traceSpans']) expect(plain).not.toHaveProperty(member)
    const [full] = (await world.logs('&limit=1&details=full&includeFinalOutput=1&includeTraceSpans=true')).json.data
    expect(full).toMatchObject({
      cost,
      finalOutput: { a: [1, 'ü'] },
      traceSpans: [{ id: 's1' }],
      workflow: { id: workflowId, description: 'What it does' },
    })
    const [outputs] = (await world.logs('&limit=1&includeFinalOutput=true&includeTraceSpans=0')).json.data
    expect(outputs.finalOutput).toEqual({ a: [1, 'ü'] })
    expect(outputs.cost).toEqual({ total: 0.5 })
    expect(outputs).not.toHaveProperty('traceSpans')
  })
})

/** The version that ran, and how. */
const ran = { version: 1, versionName: null, status: 'success', partial: false, labels: {}, source: null }

describe('one entry', () => {
  test('has the documented detailed shape', async () => {
    const row = await world.log(workflowId)
    const { json, status } = await world.get(`/api/v1/logs/${logIdOf(row.sequence)}`)
    expect(status).toBe(200)
    const noTokens = { prompt: 0, completion: 0, total: 0 }
    const { name } = (await world.get(`/api/workflows/${workflowId}`)).json
    expect(json.data).toEqual({
      id: logIdOf(row.sequence),
      workflowId,
      executionId: row.executionId,
      level: 'info',
      trigger: 'api',
      startedAt: '2025-06-01T12:00:00.000Z',
      endedAt: '2025-06-01T12:00:00.012Z',
      totalDurationMs: 12,
      pausedMs: null,
      cost: { total: 0, tokens: noTokens, models: {} },
      files: null,
      ...ran,
      workflow: { id: workflowId, name, description: 'What it does' },
      executionData: { traceSpans: JSON.parse(row.traceSpans), finalOutput: { answer: 42 } },
      limits: json.limits,
    })
    expect(json.limits.usage.plan).toBe('enterprise')
  })

  test('has an empty description when the workflow has none', async () => {
    const row = await world.log(await world.deployed())
    const { json } = await world.get(`/api/v1/logs/${logIdOf(row.sequence)}`)
    expect(json.data.workflow.description).toBe('')
  })

  test('remains when its workflow is deleted', async () => {
    const id = await world.deployed()
    const row = await world.log(id)
    await world.call('DELETE', `/api/workflows/${id}`)
    expect((await world.get(`/api/v1/logs/${logIdOf(row.sequence)}`)).status).toBe(200)
    const detail = await world.get(`/api/v1/logs/executions/${row.executionId}`)
    expect(Object.keys(detail.json.workflowState.blocks)).toEqual(['start', 'end'])
  })

  test('that does not exist is 404 on every route', async () => {
    for (const id of [
      'log_zzzzzzzzzzz',
      'log_00000000000',
      'x',
      'log_',
      '%00',
      'log_0000000000A',
      '..',
      'a'.repeat(5000),
    ]) {
      const { status, json } = await world.get(`/api/v1/logs/${encodeURIComponent(id)}`)
      expect({ id: id.slice(0, 20), status, code: json.code }).toEqual({
        id: id.slice(0, 20),
        status: 404,
        code: 'NOT_FOUND',
      })
    }
  })
})

describe('an execution', () => {
  test('is the same at both paths, with the deployment that ran instead of the draft', async () => {
    const id = await world.deployed()
    const row = await world.log(id, { version: 1 })
    const draft = (await world.get(`/api/workflows/${id}`)).json
    draft.blocks.end.name = 'Renamed'
    await world.call('PUT', `/api/workflows/${id}`, { body: draft })
    await world.post(`/api/workflows/${id}/deploy`)
    const long = await world.get(`/api/v1/logs/workflow/pt-BR/executions/${row.executionId}`)
    const short = await world.get(`/api/v1/logs/executions/${row.executionId}`)
    expect(long.status).toBe(200)
    // Without an open window, the reset time would be a minute after each response.
    expect({ ...short.json, limits: null }).toEqual({ ...long.json, limits: null })
    expect(long.json).toMatchObject({
      executionId: row.executionId,
      workflowId: id,
      workflowState: { edges: [{ source: 'start', target: 'end' }], loops: {}, parallels: {} },
      executionMetadata: {
        trigger: 'api',
        startedAt: '2025-06-01T12:00:00.000Z',
        endedAt: '2025-06-01T12:00:00.012Z',
        totalDurationMs: 12,
        pausedMs: null,
        cost: { total: 0, models: {} },
        ...ran,
      },
      limits: { usage: { plan: 'enterprise' } },
    })
    expect(long.json.workflowState.blocks.end.name).toBe('End')
    expect((await world.get(`/api/v1/logs/workflow/en/executions/${row.executionId}`)).status).toBe(404)
  })
})
