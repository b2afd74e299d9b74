import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { HttpWorld, type Parsed } from '../world.ts'

let world: HttpWorld
beforeAll(async () => {
  world = await HttpWorld.open()
})
afterAll(() => world.close())

const at = (id: string, rest: string) => `/api/v2/workflows/${id}${rest}`
const ofV1 = (id: string, rest = '') => `/api/v1/workflows/${id}${rest}`
const rename = (id: string, name: string) => world.call('PATCH', at(id, ''), { body: { name } })
const activeOf = async (id: string) => (await world.store.getWorkflow(id))?.activeVersion

describe('a deployment of /api/v2', () => {
  test('is made, shown, rolled back and removed', async () => {
    const id = await world.workflow({ name: 'Deployed' })
    const first = await world.post(at(id, '/deploy'), { name: 'First', description: 'As agreed' })
    expect(first.status).toBe(200)
    expect(first.json.data).toMatchObject({
      ...{ id, isDeployed: true, version: 1, warnings: [], latestDeploymentAttempt: null },
      activeDeployment: { version: 1, deployedAt: first.json.data.deployedAt },
    })
    await world.post(at(id, '/deploy'))
    const state = async () => (await world.get(at(id, '/deployment'))).json.data
    expect(await state()).toMatchObject({
      isDeployed: true,
      activeDeployment: { version: 2 },
      needsRedeployment: false,
    })
    const { document } = (await world.store.getWorkflow(id))!
    await world.store.updateWorkflow(id, { ...document, variables: { a: { value: 1 } } }, Date.now())
    expect(await state()).toMatchObject({ needsRedeployment: true, isPublicApi: false, webhooks: [] })

    const back = await world.post(at(id, '/rollback'))
    expect(back.json.data).toMatchObject({ isDeployed: true, version: 1 })
    expect(await activeOf(id)).toBe(1)
    const none = await world.post(at(id, '/rollback'))
    expect([none.status, none.json.error.message]).toEqual([400, expect.stringContaining('none before it')])
    expect((await world.post(at(id, '/rollback'), { version: 2 })).json.data.version).toBe(2)
    expect((await world.post(at(id, '/rollback'), { version: 3 })).status).toBe(404)

    const gone = await world.call('DELETE', at(id, '/deploy'))
    expect(gone.json.data).toMatchObject({ id, isDeployed: false, deployedAt: null, activeDeployment: null })
    expect(await activeOf(id)).toBeNull()
    expect(await state()).toMatchObject({ isDeployed: false, needsRedeployment: false })
    expect((await world.post(at(id, '/rollback'))).status).toBe(400)
  })

  test('shows the address of a webhook trigger', async () => {
    const hook = { id: 'hook', type: 'webhook_trigger', name: 'Hook', params: { path: 'orders' } }
    const id = await world.deployed({ name: 'Hooked', blocks: { hook }, edges: [] })
    const { json } = await world.get(at(id, '/deployment'))
    expect(json.data.webhooks).toMatchObject([{ url: expect.stringMatching(/\/api\/webhooks\/trigger\/orders$/) }])
  })

  test('is refused with the findings that prevent it', async () => {
    const id = await world.workflow({
      name: 'Faulty',
      blocks: { a: { id: 'a', type: 'nothing', name: 'A' } },
      edges: [],
    })
    const { status, json } = await world.post(at(id, '/deploy'))
    expect([status, json.error.code]).toEqual([400, 'BAD_REQUEST'])
    expect(json.error.details[0]).toMatchObject({ path: expect.arrayContaining(['blocks', 'a']) })
    expect(await activeOf(id)).toBeNull()
  })
})

describe('the versions of /api/v2', () => {
  test('are listed in pages, shown, described, activated and loaded back', async () => {
    const id = await world.workflow({ name: 'Versioned' })
    for (const name of ['one', 'two', 'three']) await world.post(at(id, '/deploy'), { name })
    await rename(id, 'Renamed')
    const first = (await world.get(at(id, '/versions?limit=2'))).json
    expect(first.data).toMatchObject([
      { version: 3, name: 'three', isActive: true, deployedBy: 'owner@example.com' },
      { version: 2, name: 'two', isActive: false },
    ])
    const second = (await world.get(at(id, `/versions?limit=2&cursor=${first.nextCursor}`))).json
    expect(second).toMatchObject({ data: [{ version: 1 }], nextCursor: null })
    const foreign = await world.get(at(await world.workflow({ name: 'Other' }), `/versions?cursor=${first.nextCursor}`))
    expect(foreign.json.error.details).toEqual({ code: 'INVALID_CURSOR' })

    const described = await world.call('PATCH', at(id, '/versions/1'), { body: { description: 'The first' } })
    expect(described.json.data).toEqual({ version: 1, name: 'one', description: 'The first' })
    const shown = await world.get(at(id, '/versions/1'))
    expect(shown.json.data).toMatchObject({
      version: 1,
      description: 'The first',
      state: { metadata: { name: 'Versioned' } },
    })
    expect((await world.get(at(id, '/versions/4'))).status).toBe(404)

    expect((await world.post(at(id, '/versions/1/activate'))).json.data).toMatchObject({ version: 1, isDeployed: true })
    expect(await activeOf(id)).toBe(1)
    const { document } = (await world.store.getWorkflow(id))!
    await world.store.updateWorkflow(id, { ...document, variables: { a: { value: 1 } } }, Date.now())
    const loaded = await world.post(at(id, '/versions/active/revert'))
    const after = (await world.store.getWorkflow(id))!
    expect(loaded.json.data).toEqual({ id, version: 'active', lastSaved: after.updatedAt })
    expect(after.document).toMatchObject({ name: 'Renamed' })
    expect('variables' in after.document).toBe(false)
  })
})

describe('/api/v1/workflows', () => {
  test('lists and shows workflows in the shapes of version 1, with the limits of the account', async () => {
    const own = await HttpWorld.open()
    try {
      for (const name of ['b', 'a', 'c']) await own.workflow({ name, ...(name === 'a' && { folder: 'x y' }) })
      const list = async (query: string) =>
        (await own.get(`/api/v1/workflows?workspaceId=${own.workspaceId}${query}`)).json
      const first = await list('&limit=2')
      expect(first.data.map(({ name }: Parsed) => name)).toEqual(['b', 'a'])
      expect(first.limits.usage).toMatchObject({ isExceeded: false })
      const second = await list(`&limit=2&cursor=${first.nextCursor}`)
      expect(second).toMatchObject({ data: [{ name: 'c', folderId: null }], nextCursor: null })
      const { folderId, id } = first.data[1]
      const folders = (await own.get('/api/folders')).json.data
      expect(folders).toEqual([{ id: folderId, path: 'x y' }])
      expect((await list(`&folderId=${folderId}`)).data).toMatchObject([{ id }])
      expect((await list('&folderId=fld_0')).data).toEqual([])
      expect((await list('&deployedOnly=true')).data).toEqual([])
      const { data, limits } = (await own.get(ofV1(id))).json
      expect(data).toMatchObject({ id, name: 'a', folderId, workspaceId: own.workspaceId, variables: {} })
      expect(limits).toBeDefined()
    } finally {
      await own.close()
    }
  })

  test('deploys, rolls back and undeploys', async () => {
    const id = await world.workflow({ name: 'First API' })
    expect((await world.post(ofV1(id, '/deploy'), { name: 'One' })).json.data).toMatchObject({
      version: 1,
      warnings: [],
    })
    await world.post(ofV1(id, '/deploy'))
    expect((await world.post(ofV1(id, '/rollback'))).json.data).toMatchObject({ id, isDeployed: true, version: 1 })
    expect(await activeOf(id)).toBe(1)
    const gone = await world.call('DELETE', ofV1(id, '/deploy'))
    expect(gone.json.data).toEqual({ id, isDeployed: false, deployedAt: null, warnings: [] })
    for (const { status, json } of [
      await world.call('DELETE', ofV1(id, '/deploy')),
      await world.post(ofV1(id, '/rollback')),
    ]) {
      expect([status, json.code]).toEqual([400, 'INVALID_INPUT'])
    }
    expect((await world.store.listDeployments(id))[1]).toMatchObject({ name: 'One' })
  })
})
