import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { block, document } from '../../../support/make.ts'
import { ExecutionWorld, echo, start } from '../execution-world.ts'
import type { Parsed } from '../world.ts'

let world: ExecutionWorld
beforeAll(async () => {
  world = await ExecutionWorld.open()
})
afterAll(() => world.close())

const execute = async (id: string, body: object = {}) =>
  (await world.call(`/api/v2/workflows/${id}/execute`, { body })).json.data
const runsOf = (id: string, query = '') => world.call(`/api/v2/workflows/${id}/runs${query}`)
const runOf = (id: string, runId: string, query = '') => world.call(`/api/v2/workflows/${id}/runs/${runId}${query}`)
const post = (id: string, runId: string, action: string, body?: object) =>
  world.call(`/api/v2/workflows/${id}/runs/${runId}/${action}`, { method: 'POST', ...(body && { body }) })

/** Waits until a run has ended. */
async function endOf(id: string, runId: string): Promise<Parsed> {
  for (;;) {
    const { data } = (await runOf(id, runId, '?includeOutput=true')).json
    if (['completed', 'failed', 'cancelled'].includes(data.status)) return data
  }
}

const failing = document({
  blocks: [start(), block('f', 'function', { code: 'throw new Error("no luck")' })],
  edges: ['start > f'],
})
const asking = document({
  blocks: [
    start(),
    block('w', 'approval', {
      ...{ title: 'Go on?', access: 'members' },
      fields: [{ name: 'reason', type: 'string' }],
    }),
    block('f', 'function', { code: 'return [<w.approved>, <w.fields.reason>]' }),
  ],
  edges: ['start > w', 'w > f'],
})

describe('the runs of a workflow', () => {
  test('are listed newest first, in pages, and oldest first', async () => {
    const id = await world.deploy(echo)
    const ids: string[] = []
    for (let index = 0; index < 5; index += 1) ids.push((await execute(id)).runId)
    const listed: string[] = []
    let cursor = ''
    do {
      const { json } = await runsOf(id, `?limit=2${cursor}`)
      listed.push(...json.data.map(({ runId }: Parsed) => runId))
      cursor = json.nextCursor === null ? '' : `&cursor=${json.nextCursor}`
    } while (cursor !== '')
    expect(listed).toEqual(ids.toReversed())
    // A reader that follows the log may see an entry of PostgreSQL a moment later than others.
    let oldest: Parsed[] = []
    while (oldest.length < ids.length) oldest = (await runsOf(id, '?order=asc')).json.data
    expect(oldest.map(({ runId }: Parsed) => runId)).toEqual(ids)
    expect(oldest[0]).toEqual({
      ...{ runId: ids[0], workflowId: id, status: 'completed', trigger: 'api', durationMs: expect.any(Number) },
      ...{ startedAt: expect.stringMatching(/Z$/), endedAt: expect.stringMatching(/Z$/), cost: { total: 0 } },
    })
  })

  test('that are in flight are listed in pages, too', async () => {
    const id = await world.deploy(
      document({ blocks: [start(), block('w', 'wait', { for: '20 seconds' })], edges: ['start > w'] }),
    )
    const ended = (await execute(id, { async: true })).runId
    await post(id, ended, 'cancel')
    await endOf(id, ended)
    const responses = [1, 2, 3, 4].map(() => execute(id))
    let running: Parsed[] = []
    while (running.length < 4) running = (await runsOf(id, '?status=running')).json.data
    const listed: Parsed[] = []
    let cursor = ''
    do {
      const { json } = await runsOf(id, `?limit=3${cursor}`)
      expect(json.data.length).toBeLessThanOrEqual(3)
      listed.push(...json.data)
      cursor = json.nextCursor === null ? '' : `&cursor=${json.nextCursor}`
    } while (cursor !== '')
    expect(listed.map(({ runId }) => runId)).toEqual([...running.map(({ runId }) => runId), ended])
    const times = listed.slice(0, 4).map(({ startedAt }) => startedAt)
    expect(times).toEqual(times.toSorted().toReversed())
    for (const { runId } of running) await post(id, runId, 'cancel')
    await Promise.all(responses)
  })

  test('can be filtered by status, trigger and time', async () => {
    const id = await world.deploy(asking)
    const paused = (await execute(id)).runId
    const cancelled = (await execute(id)).runId
    await post(id, cancelled, 'cancel')
    const idsFor = async (query: string) =>
      (await runsOf(id, query)).json.data.map(({ runId }: Parsed) => runId) as string[]
    expect(await idsFor('?status=paused')).toEqual([paused])
    expect(await idsFor('?status=cancelled')).toEqual([cancelled])
    for (const status of ['pending', 'running', 'completed', 'failed'])
      expect(await idsFor(`?status=${status}`)).toEqual([])
    expect(await idsFor('?trigger=api')).toEqual([paused, cancelled])
    expect(await idsFor('?trigger=schedule')).toEqual([])
    expect(await idsFor('?trigger=slack')).toEqual([])
    expect(await idsFor('?startDate=2099-01-01T00:00:00Z')).toEqual([])
    expect(await idsFor('?endDate=2099-01-01T00:00:00Z')).toEqual([paused, cancelled])
  })

  test('refuse other filters, and cursors of other queries', async () => {
    const id = await world.deploy(echo)
    await execute(id)
    await execute(id)
    for (const query of ['?status=done', '?limit=101', '?limit=0', '?startDate=yesterday', '?order=up', '?cursor=x']) {
      const { status, json } = await runsOf(id, query)
      expect({ status, code: json.error.code }, query).toEqual({ status: 400, code: 'BAD_REQUEST' })
    }
    const { nextCursor } = (await runsOf(id, '?limit=1')).json
    expect((await runsOf(id, `?limit=1&trigger=api&cursor=${nextCursor}`)).status).toBe(400)
    expect((await runsOf(await world.deploy(echo), `?limit=1&cursor=${nextCursor}`)).status).toBe(400)
  })
})

describe('a run', () => {
  test('that has completed shows its output and selected outputs when they are asked for', async () => {
    const id = await world.deploy(echo)
    const { runId } = await execute(id, { input: { a: 1 } })
    const plain = (await runOf(id, runId)).json.data
    expect(plain).toMatchObject({ runId, workflowId: id, status: 'completed', trigger: 'api', cost: { total: 0 } })
    expect(plain).toMatchObject({ output: null, blockOutputs: null, error: null, paused: null, files: null })
    const { data } = (await runOf(id, runId, '?includeOutput=true&selectedOutputs=f.result.a,f.nothing,start')).json
    expect(data.output).toEqual({ result: { a: 1 }, stdout: '', error: null })
    expect(data.blockOutputs).toEqual({ 'f.result.a': 1, start: { input: { a: 1 } } })
  })

  test('that failed has its error and no output', async () => {
    const id = await world.deploy(failing)
    const { runId } = await execute(id)
    expect((await runOf(id, runId, '?includeOutput=true')).json.data).toMatchObject({
      ...{ status: 'failed', output: null },
      error: { code: 'BLOCK_EXECUTION_FAILED', message: expect.stringContaining('no luck'), blockId: 'f' },
    })
  })

  test('that was accepted is found at its status address until it ends, with its own output', async () => {
    const id = await world.deploy(echo)
    const { runId, statusUrl } = await execute(id, { input: { a: 1 }, async: true })
    expect(statusUrl).toBe(`${world.url}/api/v2/workflows/${id}/runs/${runId}`)
    expect((await endOf(id, runId)).output).toEqual({ result: { a: 1 }, stdout: '', error: null })
  })

  test('of another workflow does not exist', async () => {
    const [id, other] = [await world.deploy(echo), await world.deploy(echo)]
    const { runId } = await execute(id)
    const responses = [
      runOf(other, runId),
      post(other, runId, 'cancel'),
      post(other, runId, 'resume', { contextId: 'x' }),
    ]
    for (const { status, json } of await Promise.all(responses)) {
      expect({ status, code: json.error.code }).toEqual({ status: 404, code: 'NOT_FOUND' })
    }
  })
})

describe('a paused run', () => {
  test('says for what it waits, and continues with the answer', async () => {
    const id = await world.deploy(asking)
    const { runId } = await execute(id)
    const { data } = (await runOf(id, runId)).json
    const { contextId } = data.paused as { contextId: string }
    expect(data).toMatchObject({
      ...{ status: 'paused', endedAt: null, durationMs: null, output: null },
      paused: { contextId: expect.any(String), pauseKind: 'human', blockedOnBlockId: 'w', pausePointCount: 1 },
    })
    const input = { approved: true, reason: 'fine' }
    const resumed = await post(id, runId, 'resume', { contextId, input })
    expect(resumed.status).toBe(202)
    expect(resumed.json).toEqual({
      data: { runId, statusUrl: `${world.url}/api/v2/workflows/${id}/runs/${runId}` },
    })
    expect(resumed.headers.get('x-run-id')).toBe(runId)
    expect((await endOf(id, runId)).output.result).toEqual([true, 'fine'])
    const again = await post(id, runId, 'resume', { contextId, input })
    expect({ status: again.status, details: again.json.error.details }).toEqual({
      status: 409,
      details: { code: 'ALREADY_RESUMED' },
    })
  })

  test('refuses a body with other members, or without a pause', async () => {
    const id = await world.deploy(asking)
    const { runId } = await execute(id)
    for (const body of [{}, { contextId: 1 }, { contextId: 'x', approved: true }]) {
      const { status, json } = await post(id, runId, 'resume', body)
      expect({ status, code: json.error.code }).toEqual({ status: 400, code: 'BAD_REQUEST' })
    }
    expect((await post(id, runId, 'resume', { contextId: 'nothing' })).status).toBe(404)
  })
})

describe('cancelling a run', () => {
  test('ends a paused run, and says that an ended run had ended', async () => {
    const id = await world.deploy(asking)
    const { runId } = await execute(id)
    const first = await post(id, runId, 'cancel')
    expect(first.json).toEqual({
      data: {
        ...{ success: true, runId, redisAvailable: true, durablyRecorded: true },
        ...{ locallyAborted: false, pausedCancelled: true },
      },
    })
    expect((await endOf(id, runId)).error).toMatchObject({ code: 'CANCELLED' })
    const again = await post(id, runId, 'cancel')
    expect(again.json.data).toMatchObject({ success: false, reason: 'already_cancelled' })
    const done = (await execute(await world.deploy(echo))).runId
    expect((await post(await world.deploy(echo), done, 'cancel')).status).toBe(404)
  })

  test('stops the blocks of a run in flight, whose caller receives `cancelled`', async () => {
    const loop = document({
      blocks: [start(), block('f', 'function', { code: 'for (;;) {}' })],
      edges: ['start > f'],
    })
    const id = await world.deploy(loop)
    const ended = execute(id)
    for (;;) {
      const [run] = (await runsOf(id, '?status=running')).json.data
      if (!run) continue
      expect((await post(id, run.runId, 'cancel')).json.data).toMatchObject({ success: true, locallyAborted: true })
      break
    }
    expect(await ended).toMatchObject({ status: 'cancelled', error: { code: 'CANCELLED' } })
  })
})
