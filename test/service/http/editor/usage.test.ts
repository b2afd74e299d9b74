import { afterAll, beforeAll, expect, test } from 'bun:test'
import { postgresAddress } from '../../../support/store/test-store.ts'
import { Page } from '../page.ts'
import { HttpWorld, type Parsed } from '../world.ts'

let world: HttpWorld
let page: Page
beforeAll(async () => {
  world = await HttpWorld.open()
  page = await Page.of(world)
})
afterAll(() => world.close())

test('usage is reported by day and model for workspaces that the account owns', async () => {
  const id = await world.workflow()
  const today = Date.now()
  const spend = (endedAt: number, model: string, total: number) => {
    const tokens = { prompt: 10, completion: 5, total: 15 }
    const cost = { total, tokens, models: { [model]: { input: total, output: 0, total, tokens } } }
    return world.log(id, { endedAt, models: [model], costTotal: total, cost: JSON.stringify(cost) })
  }
  await spend(today, 'gpt-4o', 0.5)
  await spend(today, 'o3', 2)
  await spend(today - 86_400_000, 'gpt-4o', 1)
  const { json } = await page.get('/api/editor/usage?days=7')
  expect(json.days).toHaveLength(7)
  expect(json.days.map(({ cost }: Parsed) => cost)).toEqual([0, 0, 0, 0, 0, 1, 2.5])
  expect(json.days[6].day).toBe(`${new Date(today).toISOString().slice(0, 10)}T00:00:00.000Z`)
  const twice = { promptTokens: 20, completionTokens: 10, runs: 2 }
  expect(json.models).toEqual([
    { model: 'o3', runs: 1, cost: 2, promptTokens: 10, completionTokens: 5 },
    { model: 'gpt-4o', cost: 1.5, ...twice },
  ])
  expect(json.limits.usage.currentPeriodCost).toBeGreaterThan(2)
  const editor = await Page.ofMember(world, 'editor')
  expect((await editor.get('/api/editor/usage')).json.models).toEqual([])
  expect((await page.get('/api/editor/usage?days=0')).json.code).toBe('INVALID_PARAMETERS')
})

test("only the installation's owner sees the disk usage; everyone sees the rest", async () => {
  const { json } = await page.get('/api/editor/service')
  expect(json).toMatchObject({ bun: Bun.version, health: { isWell: true, waiting: 0 }, retention: { days: 36_500 } })
  expect(json.storage).toMatchObject({ files: 'disk', databaseBytes: expect.any(Number) })
  const limit = { setting: 'MILLRACE_CHAT_VISITOR_PER_MINUTE', description: expect.any(String), value: '20' }
  expect(json.limits).toContainEqual(limit)
  // The disk of a PostgreSQL server is unknown.
  expect(json.storage.diskFreeBytes).toEqual(postgresAddress === undefined ? expect.any(Number) : null)
  const editor = await Page.ofMember(world, 'editor')
  expect((await editor.get('/api/editor/service')).json).toMatchObject({ bun: Bun.version, storage: null })
})

test('responses are JSON only and are never cached', async () => {
  const { headers } = await page.get('/api/editor/service')
  expect([headers.get('x-content-type-options'), headers.get('cache-control')]).toEqual(['nosniff', 'no-store'])
})
