import { expect, test } from 'bun:test'
import { block, document } from '../../../support/make.ts'
import { ExecutionWorld, start } from '../execution-world.ts'

const condition = document({
  blocks: [start(), block('c', 'condition', { conditions: [{ id: 'a', expression: '1 < 2' }] })],
  edges: ['start > c'],
})

test('visitors who fill a webhook leave slots to other workspaces, and to other callers of the same workspace', async () => {
  const world = await ExecutionWorld.open({ 'runs-max': '50' })
  const hook = block('hook', 'webhook_trigger', { path: 'open', respond: 'workflow' })
  await world.deploy(document({ blocks: [hook, block('w', 'wait', { ms: 1_500 })], edges: ['hook > w'] }))
  const own = await world.deploy(condition)
  const otherKey = await world.otherKey()
  const foreign = await world.deploy(condition, true, otherKey)

  const sending = Array.from({ length: 60 }, () => world.call('/api/webhooks/trigger/open', { body: {}, key: null }))
  const refused = await Promise.race(sending)
  expect(refused).toMatchObject({ status: 503, json: { code: 'OVERLOADED' } })
  expect(refused.json.error).toContain('MILLRACE_RUNS_MAX')
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect(await world.execute(own, {})).toMatchObject({ status: 200 })
  const others = await Promise.all(Array.from({ length: 10 }, () => world.execute(foreign, {}, { key: otherKey })))
  expect(others.map(({ status }) => status)).toEqual(Array.from({ length: 10 }, () => 200))

  const statuses = (await Promise.all(sending)).map(({ status }) => status)
  expect(statuses.filter((status) => status === 200)).toHaveLength(32)
  expect(await world.call('/api/webhooks/trigger/open', { body: {}, key: null })).toMatchObject({ status: 200 })
  await world.close()
})
