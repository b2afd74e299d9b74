import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { HttpWorld } from '../world.ts'

let world: HttpWorld
beforeAll(async () => {
  world = await HttpWorld.open()
})
afterAll(() => world.close())

const state = {
  blocks: {
    s: { id: 's', type: 'start_trigger', name: 'Start', position: { x: 0, y: 0 }, subBlocks: {} },
    f: { id: 'f', type: 'function', name: 'Say', subBlocks: { code: { id: 'code', type: 'code', value: 'return 1' } } },
    k: { id: 'k', type: 'knowledge', name: 'Know', subBlocks: {} },
  },
  edges: [
    { id: 'e1', source: 's', target: 'f' },
    { id: 'e2', source: 'f', target: 'k' },
  ],
  ...{ loops: {}, parallels: {} },
}
const file = { version: '1.0', exportedAt: '2026-01-01T00:00:00.000Z', workflow: { name: 'From Sim' }, state }
const send = (version: 'v1' | 'v2', body: object) =>
  world.post(`/api/${version}/workflows/import`, { workspaceId: world.workspaceId, ...body })

describe('a workflow file of Sim', () => {
  test('is imported from its object, its state, or the text of either', async () => {
    const forms: [form: string, workflow: unknown][] = [
      ['file', file],
      ['state', state],
      ['text', JSON.stringify(file)],
      ['text of the state', JSON.stringify(state)],
    ]
    for (const [form, workflow] of forms) {
      const facts = { name: `Imported as ${form}`, description: 'New', folderPath: '/from/sim' }
      const { status, json } = await send('v2', { workflow, ...facts })
      expect([form, status]).toEqual([form, 201])
      expect(json.data).toMatchObject({ ...facts, workspaceId: world.workspaceId })
      expect(json.data.blocks.map(({ type }: { type: string }) => type)).toEqual([
        ...['api_trigger', 'function', 'placeholder'],
      ])
      expect(json.data.warnings.join()).toContain('"Know" (knowledge) is a placeholder. It needs a knowledge base.')
      const row = (await world.store.getWorkflow(json.data.id))!
      expect(row.document).toMatchObject({ name: facts.name, folder: 'from/sim', description: 'New' })
      expect(row.document.edges).toHaveLength(2)
    }
  })

  test('keeps its own name, which must be free', async () => {
    expect((await send('v2', { workflow: file })).json.data).toMatchObject({ name: 'From Sim', folderPath: '/' })
    const again = await send('v2', { workflow: file })
    expect([again.status, again.json.error.code]).toEqual([409, 'CONFLICT'])
  })

  test('is refused with what is wrong with it', async () => {
    const bodies: [object, number][] = [
      [{ workflow: { nothing: true } }, 400],
      [{ workflow: '{"state":' }, 400],
      [{ workflow: file, name: 'x', mappings: [] }, 400],
      [{ workflow: file, name: 'x', folderPath: '/a//b' }, 400],
      [{ workflow: file, name: '  ' }, 400],
      [{}, 400],
      [{ workflow: file, workspaceId: 'nowhere' }, 404],
    ]
    for (const [body, status] of bodies) expect([body, (await send('v2', body)).status]).toEqual([body, status])
    const unknown = await send('v1', { workflow: file, name: 'x', folderId: 'fld_0' })
    expect([unknown.status, unknown.json.details[0].path]).toEqual([400, 'folderId'])
  })

  test('is imported in the shapes of version 1, into a folder of its ID', async () => {
    await world.workflow({ name: 'In the folder', folder: 'known' })
    const { data } = (await world.get('/api/folders')).json
    const folderId = data.find(({ path }: { path: string }) => path === 'known').id
    const { status, json } = await send('v1', { workflow: file, name: 'By version 1', folderId })
    expect(status).toBe(201)
    expect(json.data).toMatchObject({ name: 'By version 1', folderId, workspaceId: world.workspaceId })
    expect(json.limits).toBeDefined()
  })
})

describe('an export', () => {
  test('is the same file in both versions, without secrets', async () => {
    const call = {
      ...{ id: 'call', type: 'api', name: 'Call' },
      params: { url: 'https://api.example.com', headers: [{ key: 'Authorization', value: 'Bearer a-secret-of-mine' }] },
    }
    const start = { id: 'start', type: 'api_trigger', name: 'Start' }
    const edges = [{ id: 'e', source: 'start', target: 'call' }]
    const id = await world.workflow({ name: 'Exported', folder: 'a b', blocks: { start, call }, edges })
    const second = await world.get(`/api/v2/workflows/${id}/export`)
    expect(second.json.data).toMatchObject({
      ...{ version: '1.0', exportedAt: expect.any(String) },
      workflow: { id, name: 'Exported', description: null, workspaceId: world.workspaceId, folderPath: '/a%20b' },
      state: { blocks: { call: { type: 'api', name: 'Call' } }, edges: [{ source: 'start', target: 'call' }] },
    })
    expect(second.text).not.toContain('a-secret-of-mine')
    const first = await world.get(`/api/v1/workflows/${id}/export`)
    expect(first.json.data.state).toEqual(second.json.data.state)
    expect(first.json.data.workflow).toMatchObject({ id, folderId: expect.stringMatching(/^fld_/) })
    expect((await world.get(`/api/v2/workflows/${id}/state`)).json.data).toEqual(second.json.data.state)
    const again = await send('v2', { workflow: second.json.data, name: 'Again' })
    const copy = (await world.store.getWorkflow(again.json.data.id))!
    expect(copy.document.edges).toEqual(edges)
  })
})
