import { afterAll, beforeAll, expect, test } from 'bun:test'
import { block, document } from '../../../support/make.ts'
import { ExecutionWorld, start } from '../execution-world.ts'

let world: ExecutionWorld
beforeAll(async () => {
  world = await ExecutionWorld.open({ 'pauses-max': '2' })
})
afterAll(() => world.close())

test('a block that would exceed the pauses of its workspace fails, and its run can handle the error', async () => {
  const id = await world.deploy(
    document({
      blocks: [
        start([]),
        block('ask', 'approval', { title: 'Go on?' }),
        block('late', 'function', { code: 'return <ask.error>' }),
      ],
      edges: ['start > ask', 'ask:error > late'],
    }),
  )
  const paused = await world.execute(id, {})
  expect((await world.execute(id, {})).status).toBe(202)
  const { status, json } = await world.execute(id, {})
  expect(status).toBe(200)
  expect(JSON.stringify(json.output.result)).toContain('the most that MILLRACE_PAUSES_MAX allows')
  const { contextId } = paused.json.paused[0]
  const path = `/api/workspaces/${world.workspaceId}/pauses/${contextId}/resume`
  expect((await world.call(path, { method: 'POST' })).status).toBe(200)
  for (;;) {
    const again = await world.execute(id, {})
    if (again.status === 202) break
    // The service counts the pauses of the workspace once a second.
    await Bun.sleep(100)
  }
}, 30_000)
