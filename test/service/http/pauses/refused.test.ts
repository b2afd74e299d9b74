import { afterAll, beforeAll, expect, test } from 'bun:test'
import { block, document } from '../../../support/make.ts'
import { ExecutionWorld, start } from '../execution-world.ts'

let world: ExecutionWorld
beforeAll(async () => {
  world = await ExecutionWorld.open()
})
afterAll(() => world.close())

const untilPaused = async (executionId: string) => {
  while ((await world.call(`/api/jobs/${executionId}`)).json.status !== 'paused') await Bun.sleep(10)
}

test('a pause that was answered cannot cancel its run any more, and says what has happened', async () => {
  const draft = document({
    blocks: [start(), block('ask', 'approval', { title: 'One?' }), block('again', 'approval', { title: 'Two?' })],
    edges: ['start > ask', 'ask > again'],
  })
  const id = await world.deploy(draft)
  const { json } = await world.execute(id, {})
  const pauses = `/api/workspaces/${world.workspaceId}/pauses`
  const first = `${pauses}/${json.paused[0].contextId}`
  expect((await world.call(`${first}/resume`, { method: 'POST' })).status).toBe(200)
  await untilPaused(json.executionId)
  const refused = await world.call(`${first}/cancel`, { method: 'POST' })
  expect([refused.status, refused.json]).toMatchObject([409, { code: 'ALREADY_RESUMED', outcome: 'resumed' }])
  const [second] = (await world.call(`${pauses}?workflowId=${id}`)).json.data
  expect((await world.call(`${pauses}/${second.contextId}/cancel`, { method: 'POST' })).status).toBe(200)
  const late = await world.call(`${pauses}/${second.contextId}/cancel`, { method: 'POST' })
  expect([late.status, late.json]).toMatchObject([409, { code: 'CANCELLED', outcome: 'cancelled' }])
}, 30_000)

test('an approval of named accounts takes no answer of another member at the addresses of Sim', async () => {
  const ask = block('ask', 'approval', { title: 'Pay?', access: 'accounts', accounts: ['boss@example.com'] })
  const id = await world.deploy(document({ blocks: [start(), ask], edges: ['start > ask'] }))
  const { executionId } = (await world.execute(id, {})).json
  for (const approved of [true, false]) {
    const body = { input: { approved } }
    const { status, json } = await world.call(`/api/resume/${id}/${executionId}`, { body })
    expect([status, json.code]).toEqual([403, 'FORBIDDEN'])
  }
  expect((await world.call(`/api/jobs/${executionId}`)).json.status).toBe('paused')
}, 30_000)
