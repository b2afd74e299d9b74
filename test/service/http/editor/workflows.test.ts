import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Page } from '../page.ts'
import { HttpWorld, type Parsed, sampleDocument } from '../world.ts'

let world: HttpWorld
let page: Page
beforeAll(async () => {
  world = await HttpWorld.open({ bodyBytesMax: 2_000_000 })
  page = await Page.of(world)
})
afterAll(() => world.close())

const overview = async (id: string) =>
  (await page.get('/api/editor/workflows')).json.data.find((row: Parsed) => row.id === id)

test("the overview shows each workflow's state, last run and last 24 hours", async () => {
  const id = await world.deployed({ folder: 'a' })
  expect(await overview(id)).toMatchObject({ folder: 'a', version: 1, hasChanges: false, lastRun: null })
  const now = Date.now()
  await world.log(id, { startedAt: now - 3 * 3_600_000, endedAt: now, level: 'error' })
  const { executionId } = await world.log(id, { startedAt: now, endedAt: now })
  await page.call('PUT', `/api/workflows/${id}`, { ...sampleDocument(), blocks: {}, edges: [] })
  const seen = await overview(id)
  expect(seen).toMatchObject({ hasChanges: true, revision: 2, updatedBy: 'owner@example.com' })
  expect(seen.lastRun).toMatchObject({ executionId, level: 'info', startedAt: new Date(now).toISOString() })
  expect([seen.runs.length, seen.runs.at(-1), seen.runs.at(-4)]).toEqual([24, 1, 1])
  expect([seen.errors.at(-1), seen.errors.at(-4)]).toEqual([0, 1])
  // The log entry is found by the ID in the overview.
  expect((await page.get(`/api/editor/logs/${seen.lastRun.logId}`)).json.data.executionId).toBe(executionId)
})

test('a workflow can be renamed, moved and described without sending its document', async () => {
  const id = await world.workflow({ folder: 'a', description: 'Old' })
  const name = `Renamed ${id}`
  const patch = (body: unknown) => page.call('PATCH', `/api/editor/workflows/${id}`, body)
  expect((await patch({ name })).json).toEqual({ id, name, folder: 'a', revision: 2 })
  expect((await patch({ folder: '/b//c/' })).json.folder).toBe('b/c')
  expect((await patch({ folder: null, description: null })).json.folder).toBeNull()
  const { json } = await page.get(`/api/workflows/${id}`)
  expect([json.name, json.folder, json.description, Object.keys(json.blocks)]).toEqual([
    name,
    undefined,
    undefined,
    ['start', 'end'],
  ])
  const taken = (await overview(await world.workflow())).name
  expect((await patch({ name: taken })).json.code).toBe('CONFLICT')
  expect((await patch({ name: '' })).status).toBe(400)
})

test('a copy has its own name and addresses', async () => {
  const hook = { id: 'hook', type: 'webhook_trigger', name: 'Hook', params: { methods: ['POST'] } }
  const name = `Report ${crypto.randomUUID()}`
  const { json: made } = await page.post('/api/workflows', { name, blocks: { hook }, edges: [], folder: 'a' })
  const copy = async (id = made.id, body = {}) => (await page.post(`/api/editor/workflows/${id}/duplicate`, body)).json
  const first = await copy()
  expect(first).toMatchObject({ name: `${name} copy`, folder: 'a', revision: 1 })
  expect((await copy()).name).toBe(`${name} copy 2`)
  expect((await copy(first.id)).name).toBe(`${name} copy 3`)
  expect(await copy(made.id, { name: `${name}!`, folder: null })).toMatchObject({ name: `${name}!`, folder: null })
  const pathOf = async (id: string) => (await page.get(`/api/workflows/${id}`)).json.blocks.hook.params.path
  expect(await pathOf(first.id)).not.toBe(await pathOf(made.id))
})

test('undoing a deletion restores the workflow and its deployment', async () => {
  const id = await world.deployed()
  await page.call('DELETE', `/api/workflows/${id}`)
  const { json } = await page.get('/api/editor/workflows/deleted')
  expect(json.data[0]).toMatchObject({ id, deletedAt: expect.any(String) })
  const restored = await page.post(`/api/editor/workflows/${id}/restore`)
  expect(restored.json).toEqual({ id, version: 1, reason: null })
  expect(await overview(id)).toMatchObject({ version: 1, hasChanges: false })
  expect((await page.post(`/api/editor/workflows/${id}/restore`)).status).toBe(404)
})

test('a document with too many edges or bytes is refused, wherever it arrives', async () => {
  const id = await world.workflow()
  const edges = new Array(10_001).fill({ source: 'start', target: 'end' })
  const large = { ...sampleDocument(), edges }
  const calls = [
    ['POST', `/api/editor/workflows/${id}/check`],
    ['PUT', `/api/workflows/${id}`],
    ['POST', `/api/workflows?workspaceId=${world.workspaceId}`],
  ] as const
  for (const [method, path] of calls) {
    const { status, json } = await page.call(method, path, large)
    expect([status, json.code]).toEqual([413, 'PAYLOAD_TOO_LARGE'])
    expect(json.error).toContain('MILLRACE_DOCUMENT_EDGES_MAX')
    const long = await page.call(method, path, { ...sampleDocument(), description: 'x'.repeat(2_200_000) })
    expect([long.status, long.json.code]).toEqual([413, 'PAYLOAD_TOO_LARGE'])
    expect(long.json.error).toContain('MILLRACE_DOCUMENT_BYTES_MAX')
  }
})

test('the findings of a faulty document are bounded', async () => {
  const id = await world.workflow()
  const edges = Array.from({ length: 5_000 }, (_, at) => ({ source: 'start', target: `nowhere ${at}` }))
  const { json, text } = await page.post(`/api/editor/workflows/${id}/check`, { ...sampleDocument(), edges })
  expect(json.findings).toHaveLength(100)
  expect(json.findings.at(-1)).toMatchObject({ level: 'error', code: 'MORE_FINDINGS' })
  expect(text.length).toBeLessThan(64_000)
})

test('a draft is checked without being saved', async () => {
  const id = await world.workflow()
  const wrong = { ...sampleDocument(), edges: [{ source: 'start', target: 'nowhere' }] }
  const { json } = await page.post(`/api/editor/workflows/${id}/check`, wrong)
  expect(json.findings).toContainEqual(
    expect.objectContaining({ level: 'error', path: expect.stringContaining('edges') }),
  )
  expect((await page.get(`/api/workflows/${id}`)).json.edges).toHaveLength(1)
  expect((await page.post(`/api/editor/workflows/${id}/check`, { name: 7 })).json.code).toBe('INVALID_INPUT')
})

test('a folder moves with all its workflows', async () => {
  const folder = `f-${crypto.randomUUID()}`
  const id = await world.workflow({ folder: `${folder}/eu` })
  const move = (path: string, to: string | null) =>
    page.post('/api/editor/folders/move', { workspaceId: world.workspaceId, path, to })
  expect((await move(folder, '/sales/')).json).toEqual({ moved: 1 })
  expect((await overview(id)).folder).toBe('sales/eu')
  expect((await move(folder, 'x')).status).toBe(404)
})
