import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { block, document } from '../../../support/make.ts'
import { ExecutionWorld, echo, start } from '../execution-world.ts'
import type { Parsed } from '../world.ts'

let world: ExecutionWorld
let id: string
let failing: string
const runIds: string[] = []
beforeAll(async () => {
  world = await ExecutionWorld.open()
  id = await world.deploy({ ...echo, folder: 'sales/eu west' })
  failing = await world.deploy(
    document({
      blocks: [start(), block('f', 'function', { code: 'throw new Error("no luck")' })],
      edges: ['start > f'],
    }),
  )
  for (const workflowId of [id, id, failing]) {
    const { json } = await world.call(`/api/v2/workflows/${workflowId}/execute`, { body: { input: { a: 1 } } })
    runIds.push(json.data.runId)
  }
})
afterAll(() => world.close())

const logs = (query = '') => world.call(`/api/v2/logs?workspaceId=${world.workspaceId}${query}`)
const idsFor = async (query: string) => (await logs(query)).json.data.map(({ runId }: Parsed) => runId) as string[]

/** A reader that follows the log may see an entry of PostgreSQL a moment later than others. */
async function oldestFirst(): Promise<string[]> {
  for (;;) {
    const ids = await idsFor('&sortOrder=asc')
    if (ids.length >= runIds.length) return ids
  }
}

describe('the log', () => {
  test('is listed newest first, in pages, and oldest first', async () => {
    const first = (await logs('&limit=2')).json
    const second = (await logs(`&limit=2&cursor=${first.nextCursor}`)).json
    expect([...first.data, ...second.data].map(({ runId }) => runId)).toEqual(runIds.toReversed())
    expect(second.nextCursor).toBeNull()
    expect(await oldestFirst()).toEqual(runIds)
    expect(first.data[1]).toEqual({
      ...{ kind: 'workflow', runId: runIds[1], workflowId: id, deploymentVersionId: `${id}:1`, status: 'completed' },
      ...{ level: 'info', trigger: 'api', files: null, cost: { total: 0 }, totalDurationMs: expect.any(Number) },
      ...{ startedAt: expect.stringMatching(/Z$/), endedAt: expect.stringMatching(/Z$/) },
    })
  })

  test('shows workflows, outputs and traces when they are asked for', async () => {
    const [full] = (await logs(`&details=full&runId=${runIds[0]}`)).json.data
    expect(full.workflow).toMatchObject({ id, description: null })
    const [whole] = (await logs(`&includeTraceSpans=true&includeFinalOutput=true&runId=${runIds[0]}`)).json.data
    expect(whole.finalOutput).toEqual({ result: { a: 1 }, stdout: '', error: null })
    expect(whole.traceSpans).toMatchObject([
      { type: 'workflow', children: [{ type: 'api_trigger' }, { type: 'function' }] },
    ])
    expect(whole.workflow.id).toBe(id)
  })

  test('can be filtered', async () => {
    const [first, second, third] = runIds
    expect(await idsFor(`&workflowIds=${id}`)).toEqual([second!, first!])
    expect(await idsFor(`&workflowIds=${failing},${id}`)).toHaveLength(3)
    expect(await idsFor('&status=failed')).toEqual([third!])
    expect(await idsFor('&status=completed,running')).toEqual([second!, first!])
    expect(await idsFor('&status=running')).toEqual([])
    expect(await idsFor('&level=error')).toEqual([third!])
    expect(await idsFor('&triggers=api')).toHaveLength(3)
    expect(await idsFor('&triggers=all,slack')).toHaveLength(3)
    expect(await idsFor('&triggers=slack')).toEqual([])
    expect(await idsFor('&folderPaths=/sales')).toEqual([second!, first!])
    expect(await idsFor('&folderPaths=sales%2Feu%2520west')).toEqual([second!, first!])
    expect(await idsFor('&folderPaths=/nothing')).toEqual([])
    expect(await idsFor('&folderPaths=/')).toHaveLength(3)
    expect(await idsFor('&startDate=2099-01-01T00:00:00Z')).toEqual([])
    expect(await idsFor('&limit=100000')).toHaveLength(3)
  })

  test('refuses what it cannot do, and cursors of other queries', async () => {
    const { nextCursor } = (await logs('&limit=1')).json
    const refused = [
      ...['sortBy=cost', 'includeHandledErrors=true', 'workflowName=a', 'status=done', 'level=warn'],
      ...['startDate=x', 'cursor=x', `level=info&cursor=${nextCursor}`, `sortOrder=asc&cursor=${nextCursor}`],
    ]
    for (const query of refused) {
      const { status, json } = await logs(`&${query}`)
      expect({ status, code: json.error.code }, query).toEqual({ status: 400, code: 'BAD_REQUEST' })
    }
    expect((await world.call('/api/v2/logs')).json.error.details[0].path).toEqual(['workspaceId'])
    expect((await world.call('/api/v2/logs?workspaceId=nothing')).status).toBe(404)
  })
})

describe('the entry of a run', () => {
  test('has its input, its trace, and the version that ran', async () => {
    const { data } = (await world.call(`/api/v2/logs/${runIds[0]}`)).json
    expect(data).toMatchObject({
      ...{ runId: runIds[0], workflowId: id, status: 'completed', deploymentVersionId: `${id}:1` },
      ...{ workflowInput: { a: 1 }, finalOutput: { result: { a: 1 } }, cost: { total: 0, items: null } },
      workflow: { id, folderPath: '/sales/eu%20west', deleted: false, workspaceId: world.workspaceId },
      workflowState: { blocks: { f: { type: 'function' } }, edges: [{ source: 'start', target: 'f' }] },
      traceSpans: [{ type: 'workflow', status: 'success' }],
    })
  })

  test('is not found for a run that does not exist', async () => {
    const { status, json } = await world.call('/api/v2/logs/nothing')
    expect({ status, code: json.error.code }).toEqual({ status: 404, code: 'NOT_FOUND' })
  })
})
