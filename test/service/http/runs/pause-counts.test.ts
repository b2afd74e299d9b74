import { afterAll, beforeAll, expect, test } from 'bun:test'
import { block, document } from '../../../support/make.ts'
import { ExecutionWorld, start } from '../execution-world.ts'

let world: ExecutionWorld
beforeAll(async () => {
  world = await ExecutionWorld.open({})
})
afterAll(() => world.close())

type Count = { blockId: string | null; kind: string; count: number }

async function countsOf(workflowId?: string): Promise<{ data: Count[]; complete: boolean }> {
  const query = workflowId === undefined ? '' : `?workflowId=${workflowId}`
  return (await world.call(`/api/workspaces/${world.workspaceId}/pauses/counts${query}`)).json
}

/** A workflow with one approval in a called workflow and one in a loop, at the same time. */
async function asking() {
  const inner = await world.deploy(
    document({ blocks: [start(), block('ask', 'approval', { title: 'Inner?' })], edges: ['start > ask'] }),
  )
  const outer = await world.deploy(
    document({
      blocks: [
        start(),
        block('call', 'workflow', { workflowId: inner }),
        block('each', 'parallel'),
        block('own', 'approval', { title: 'Own?' }, { parentId: 'each' }),
        block('nap', 'wait', { for: '3 days' }),
      ],
      edges: ['start > call', 'start > each', 'each:parallel-start-source > own', 'start > nap'],
      parallels: { each: { parallelType: 'count', count: 2 } },
    }),
  )
  expect((await world.execute(outer, {})).json.status).toBe('paused')
  return { inner, outer }
}

test('pauses are counted by the block of the workflow that was started', async () => {
  const { inner, outer } = await asking()
  expect(await countsOf(outer)).toEqual({
    data: [
      { blockId: 'nap', kind: 'wait', count: 1 },
      { blockId: 'call', kind: 'approval', count: 1 },
      { blockId: 'own', kind: 'approval', count: 2 },
    ],
    complete: true,
  })
  expect(await countsOf(inner)).toEqual({ data: [], complete: true })
  const { json } = await world.call(`/api/workspaces/${world.workspaceId}/pauses?workflowId=${outer}`)
  const places = json.data.map(({ blockId, outerBlockId }: Record<string, string>) => `${blockId} at ${outerBlockId}`)
  expect(places.toSorted()).toEqual(['ask at call', 'nap at nap', 'own at own', 'own at own'])
}, 30_000)

test('pauses of a workspace are counted by kind', async () => {
  const before = await countsOf()
  const { outer } = await asking()
  const count = ({ data }: { data: Count[] }, kind: string) => data.find((each) => each.kind === kind)?.count ?? 0
  const after = await countsOf()
  expect(after.data.every(({ blockId }) => blockId === null)).toBe(true)
  expect(count(after, 'approval') - count(before, 'approval')).toBe(3)
  expect(count(after, 'wait') - count(before, 'wait')).toBe(1)
  await world.call(`/api/workflows/${outer}`, { method: 'DELETE' })
  // The service cancels the runs in the background.
  while (count(await countsOf(), 'approval') > count(before, 'approval')) await Bun.sleep(20)
  expect(await countsOf()).toEqual(before)
}, 30_000)

test('a page has at most 100 pauses', async () => {
  const pauses = `/api/workspaces/${world.workspaceId}/pauses`
  expect((await world.call(`${pauses}?limit=100`)).status).toBe(200)
  const refused = await world.call(`${pauses}?limit=101`)
  expect([refused.status, refused.json.code]).toEqual([400, 'INVALID_PARAMETERS'])
  expect((await world.call(`/api/workspaces/${crypto.randomUUID()}/pauses/counts`)).status).toBe(404)
}, 30_000)
