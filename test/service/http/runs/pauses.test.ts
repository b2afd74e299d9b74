import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { block, document } from '../../../support/make.ts'
import { ExecutionWorld, start } from '../execution-world.ts'

let world: ExecutionWorld
beforeAll(async () => {
  world = await ExecutionWorld.open({ 'run-timeout-ms': '1000', 'pause-in-memory-ms': '50' })
})
afterAll(() => world.close())

const until = async (executionId: string, status: string) => {
  for (;;) {
    const { json } = await world.call(`/api/jobs/${executionId}`)
    if (json.status === status) return json
    if (json.status === 'failed') throw new Error(JSON.stringify(json))
    await Bun.sleep(20)
  }
}

/** A wait between two blocks, with a branch beside it. */
const waiting = (params: Record<string, unknown>) =>
  document({
    blocks: [
      start([{ name: 'at', type: 'number' }]),
      block('before', 'function', { code: 'return { at: <api.at>, chance: Math.random() }' }),
      block('pause', 'wait', params),
      block('beside', 'function', { code: 'return "beside"' }),
      block('after', 'function', { code: 'return { before: <before.result>, waitedMs: <pause.waitedMs> }' }),
    ],
    edges: ['start > before', 'before > pause', 'pause > after', 'start > beside'],
  })

describe('a run with a waiting caller', () => {
  test('stays connected through a wait that fits its timeout', async () => {
    const id = await world.deploy(waiting({ ms: 200 }))
    const { status, json } = await world.execute(id, { at: 1 })
    expect([status, json.output.after.result.before.at]).toEqual([200, 1])
    const { json: log } = await world.call(`/api/v1/logs?workspaceId=${world.workspaceId}&workflowIds=${id}`)
    expect(log.data[0].pausedMs).toBeNull()
  })

  test('gets 202 at a longer wait, and continues without its caller', async () => {
    const id = await world.deploy(waiting({ for: '1.5 seconds' }))
    const { status, json, headers } = await world.execute(id, { at: 2 })
    expect([status, json.status, json.success]).toEqual([202, 'paused', true])
    expect(json.paused).toEqual([
      {
        ...{ contextId: expect.any(String), blockId: 'pause', blockName: 'pause', kind: 'wait' },
        ...{ since: expect.any(String), until: expect.any(String) },
      },
    ])
    expect(headers.get('location')).toBe(json.statusUrl)
    expect(headers.get('x-execution-id')).toBe(json.executionId)
    const job = (await world.call(json.statusUrl)).json
    expect(job).toMatchObject({ status: 'paused', paused: json.paused })
    const done = await until(json.executionId, 'completed')
    const { after, beside } = done.output
    expect(beside.result).toBe('beside')
    expect(after.result.before.at).toBe(2)
    expect(after.result.waitedMs).toBeGreaterThanOrEqual(1_500)
    const { json: log } = await world.call(`/api/v1/logs?workspaceId=${world.workspaceId}&workflowIds=${id}`)
    expect(log.data).toHaveLength(1)
    const [{ pausedMs, totalDurationMs, id: logId }] = log.data
    expect(pausedMs).toBeGreaterThanOrEqual(1_500)
    expect(pausedMs).toBeLessThanOrEqual(totalDurationMs)
    const { data } = (await world.call(`/api/v1/logs/${logId}`)).json
    const paused = data.executionData.traceSpans[0].children.filter(({ pauses }: { pauses?: unknown }) => pauses)
    expect(data.pausedMs).toBe(pausedMs)
    expect(paused).toMatchObject([
      { blockId: 'pause', pauses: [{ kind: 'wait', outcome: 'expired', by: null, since: json.paused[0].since }] },
    ])
  }, 30_000)

  test('of a stream gets the event paused, and the stream ends', async () => {
    const id = await world.deploy(waiting({ for: '1.5 seconds' }))
    const { text } = await world.execute(id, { stream: true })
    const messages = text.trim().split('\n\n')
    const event = JSON.parse(messages.at(-2)!.replace('data: ', ''))
    expect(event).toMatchObject({ event: 'paused', status: 'paused', success: true, paused: [{ kind: 'wait' }] })
    expect(messages.at(-1)).toBe('data: [DONE]')
    await until(event.executionId, 'completed')
  }, 30_000)
})

describe('an asynchronous run', () => {
  const runAsync = async (id: string, body: object = {}) => {
    const { status, json } = await world.execute(id, body, { headers: { 'x-execution-mode': 'async' } })
    expect(status).toBe(202)
    return json.executionId as string
  }

  test('pauses at a wait, and continues with what it had', async () => {
    const id = await world.deploy(waiting({ ms: 400 }))
    const executionId = await runAsync(id, { at: 3 })
    await until(executionId, 'paused')
    const { output } = await until(executionId, 'completed')
    expect(output.after.result.before.at).toBe(3)
  }, 30_000)

  test('waits in loops, parallels and called workflows', async () => {
    const inner = await world.deploy(
      document({
        blocks: [
          start([{ name: 'n', type: 'number' }]),
          block('nap', 'wait', { ms: 150 }),
          block('f', 'function', { code: 'return <api.n> * 2' }),
        ],
        edges: ['start > nap', 'nap > f'],
      }),
    )
    const id = await world.deploy(
      document({
        blocks: [
          start(),
          block('each', 'loop'),
          block('call', 'workflow', { workflowId: inner, input: { n: '<loop.currentItem>' } }, { parentId: 'each' }),
          block('all', 'parallel'),
          block('rest', 'wait', { ms: 150 }, { parentId: 'all' }),
          block('name', 'function', { code: 'return <parallel.index>' }, { parentId: 'all' }),
        ],
        edges: [
          'start > each',
          'each:loop-start-source > call',
          'each > all',
          'all:parallel-start-source > rest',
          'rest > name',
        ],
        loops: { each: { loopType: 'forEach', forEachItems: [1, 2] } },
        parallels: { all: { parallelType: 'count', count: 3 } },
      }),
    )
    const executionId = await runAsync(id)
    const { output } = await until(executionId, 'completed')
    expect(output.results.map(({ result }: { result: number }) => result)).toEqual([0, 1, 2])
    const { json } = await world.call(
      `/api/v1/logs?workspaceId=${world.workspaceId}&workflowIds=${id}&includeTraceSpans=true`,
    )
    const trace = JSON.stringify(json.data[0])
    expect(trace).toContain('"result":4')
    // Three waits overlap, and two follow each other.
    expect(trace.match(/"outcome":"expired"/g)).toHaveLength(5)
    expect(json.data[0].pausedMs).toBeGreaterThanOrEqual(450)
    expect(json.data[0].pausedMs).toBeLessThanOrEqual(json.data[0].totalDurationMs)
    // No block ran twice, except for those that only lead to others.
    expect(trace.match(/"blockId":"f"/g)).toHaveLength(2)
  }, 30_000)

  test('that is paused can be cancelled, and then has its log entry', async () => {
    const id = await world.deploy(waiting({ for: '3 days' }))
    const executionId = await runAsync(id)
    await until(executionId, 'paused')
    const path = `/api/workflows/${id}/executions/${executionId}`
    expect((await world.call(`${path}/cancel`, { method: 'POST' })).status).toBe(200)
    const ended = (await world.call(path)).json
    expect(ended.status).toBe('cancelled')
    const { json: log } = await world.call(`/api/v1/logs?workspaceId=${world.workspaceId}&workflowIds=${id}`)
    expect(log.data[0].pausedMs).toBeGreaterThanOrEqual(0)
    expect((await world.call(`${path}/cancel`, { method: 'POST' })).status).toBe(409)
  }, 30_000)
})

test('undeploying lets a paused run continue, and deleting its workflow cancels it', async () => {
  const paused = async () => {
    const id = await world.deploy(waiting({ for: '1.5 seconds' }))
    const { json } = await world.execute(id, { at: 5 })
    expect(json.status).toBe('paused')
    return { id, executionId: json.executionId as string }
  }
  const [undeployed, deleted] = [await paused(), await paused()]
  expect((await world.call(`/api/workflows/${undeployed.id}/deploy`, { method: 'DELETE' })).status).toBe(204)
  expect((await world.call(`/api/workflows/${deleted.id}`, { method: 'DELETE' })).status).toBe(204)
  await until(deleted.executionId, 'cancelled')
  const { output } = await until(undeployed.executionId, 'completed')
  expect(output.after.result.before.at).toBe(5)
}, 30_000)

describe('the pauses of a workspace', () => {
  const pauses = () => `/api/workspaces/${world.workspaceId}/pauses`
  const paused = async (duration = '3 days') => {
    const id = await world.deploy(waiting({ for: duration }))
    const { json } = await world.execute(id, { at: 4 })
    expect(json.status).toBe('paused')
    return { id, executionId: json.executionId as string, contextId: json.paused[0].contextId as string }
  }

  test('are listed in pages, with their runs', async () => {
    const { id, executionId, contextId } = await paused()
    const { json } = await world.call(`${pauses()}?workflowId=${id}`)
    expect(json).toMatchObject({ data: [{ contextId, executionId, workflowId: id, kind: 'wait' }], nextCursor: null })
    await paused()
    const first = (await world.call(`${pauses()}?limit=1`)).json
    const second = (await world.call(`${pauses()}?limit=1&cursor=${first.nextCursor}`)).json
    expect(second.data[0].contextId).not.toBe(first.data[0].contextId)
    const wrong = await world.call(`${pauses()}?limit=1&workflowId=${id}&cursor=${first.nextCursor}`)
    expect([wrong.status, wrong.json.code]).toEqual([400, 'INVALID_CURSOR'])
  }, 30_000)

  test('end at once when an editor says so, one time', async () => {
    const { executionId, contextId } = await paused()
    const path = `${pauses()}/${contextId}/resume`
    const responses = await Promise.all([1, 2, 3].map(() => world.call(path, { method: 'POST' })))
    expect(responses.map(({ status }) => status).sort()).toEqual([200, 409, 409])
    const refused = responses.find(({ status }) => status === 409)
    expect(refused!.json.code).toBe('ALREADY_RESUMED')
    const { output } = await until(executionId, 'completed')
    expect(output.after.result.before.at).toBe(4)
    const late = await world.call(path, { method: 'POST' })
    expect([late.status, late.json.code]).toEqual([409, 'ALREADY_RESUMED'])
  }, 30_000)

  test('can end at another time, or with their run', async () => {
    const { executionId, contextId } = await paused()
    const soon = new Date(Date.now() + 300).toISOString()
    const changed = await world.call(`${pauses()}/${contextId}/extend`, { body: { until: soon } })
    expect([changed.status, changed.json.until]).toEqual([200, soon])
    expect((await world.call(`${pauses()}/${contextId}/extend`, { body: { until: null } })).status).toBe(400)
    expect((await world.call(`${pauses()}/${contextId}/extend`, { body: { until: 'soon' } })).status).toBe(400)
    const far = await world.call(`${pauses()}/${contextId}/extend`, { body: { until: '9999-01-01T00:00:00Z' } })
    expect([far.status, far.json.error]).toEqual([400, 'until must be at most 400 days from now.'])
    await until(executionId, 'completed')
    const other = await paused()
    expect((await world.call(`${pauses()}/${other.contextId}/cancel`, { method: 'POST' })).status).toBe(200)
    expect((await world.call(`/api/jobs/${other.executionId}`)).json.status).toBe('cancelled')
    expect((await world.call(`${pauses()}/${other.contextId}/cancel`, { method: 'POST' })).status).toBe(404)
  }, 30_000)
})

test('the runs of a workspace are listed, those that have not ended first', async () => {
  const runs = `/api/workspaces/${world.workspaceId}/runs`
  const id = await world.deploy(waiting({ for: '3 days' }))
  const ids: string[] = []
  for (let n = 0; n < 3; n += 1) ids.unshift((await world.execute(id, { at: n })).json.executionId as string)
  const cancelled = ids[0] ?? ''
  const paused = ids.slice(1)
  await world.call(`/api/workflows/${id}/executions/${cancelled}/cancel`, { method: 'POST' })
  const listed = async (query: string) => {
    const { json } = await world.call(`${runs}?workflowId=${id}${query}`)
    return json as { data: { executionId: string; status: string; workflowName: string }[]; nextCursor: string | null }
  }
  const all = await listed('')
  expect(all.data.map(({ executionId, status }) => [executionId, status])).toEqual([
    ...paused.map((executionId) => [executionId, 'paused']),
    [cancelled, 'cancelled'],
  ])
  expect(all.data[0]!.workflowName).toStartWith('Test workflow')
  const pages: string[] = []
  let cursor = ''
  for (;;) {
    const page = await listed(`&limit=1${cursor}`)
    pages.push(...page.data.map(({ executionId }) => executionId))
    if (page.nextCursor === null) break
    cursor = `&cursor=${page.nextCursor}`
  }
  expect(pages).toEqual([...paused, cancelled])
  expect((await listed('&status=paused')).data).toHaveLength(2)
  expect((await listed('&status=cancelled')).data).toMatchObject([{ executionId: cancelled }])
  expect((await listed('&status=queued')).data).toEqual([])
  expect((await world.call(`${runs}?status=wrong`)).status).toBe(400)
  expect((await world.call(`${runs}?cursor=wrong`)).status).toBe(400)
  // The log has only the one that has ended.
  const { json: log } = await world.call(`/api/v1/logs?workspaceId=${world.workspaceId}&workflowIds=${id}`)
  expect(log.data).toMatchObject([{ executionId: cancelled }])
}, 30_000)

test('a synchronous run in flight is among the runs of its workspace', async () => {
  const id = await world.deploy(waiting({ ms: 600 }))
  const running = world.execute(id, { at: 1 })
  let found: unknown[] = []
  while (found.length === 0) {
    const { json } = await world.call(`/api/workspaces/${world.workspaceId}/runs?workflowId=${id}&status=processing`)
    found = json.data
  }
  expect(found).toMatchObject([{ status: 'processing', workflowId: id, endedAt: null }])
  expect((await running).status).toBe(200)
}, 30_000)
