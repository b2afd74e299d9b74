import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { HttpWorld, type Parsed, sampleDocument } from '../world.ts'

let world: HttpWorld
beforeAll(async () => {
  world = await HttpWorld.open()
})
afterAll(() => world.close())

describe('creating a workflow', () => {
  test('responds with 201, the document, its ID and the findings', async () => {
    const document = sampleDocument()
    const { status, json } = await world.post('/api/workflows', { ...document, workspaceId: world.workspaceId })
    expect(status).toBe(201)
    expect(json).toMatchObject({ name: document.name, workspaceId: world.workspaceId, findings: [] })
    expect(json.blocks.start.position).toEqual({ x: 0, y: 0 })
    const got = await world.get(`/api/workflows/${json.id}`)
    expect(got.status).toBe(200)
    expect({ ...got.json, findings: [] }).toEqual(json)
  })

  test('saves a document that cannot be deployed, and says why', async () => {
    const { status, json } = await world.post('/api/workflows', {
      name: 'Draft',
      blocks: { a: { type: 'nope', name: 'A' } },
      edges: [],
    })
    expect(status).toBe(201)
    expect(json.findings.map(({ level }: { level: string }) => level)).toContain('error')
  })

  test('keeps the given ID if it is free, otherwise generates one', async () => {
    const first = await world.post('/api/workflows', { ...sampleDocument(), id: 'orders-1' })
    expect(first.json.id).toBe('orders-1')
    const second = await world.post('/api/workflows', { ...sampleDocument(), id: 'orders-1' })
    expect(second.status).toBe(201)
    expect(second.json.id).not.toBe('orders-1')
    expect((await world.get(`/api/workflows/${second.json.id}`)).json.id).toBe(second.json.id)
  })

  test('refuses a name that is taken in the workspace', async () => {
    await world.post('/api/workflows', { ...sampleDocument(), name: 'Twice' })
    const { status, json } = await world.post('/api/workflows', { ...sampleDocument(), name: 'Twice' })
    expect({ status, code: json.code }).toEqual({ status: 409, code: 'CONFLICT' })
  })

  test('reports all errors of the shape at once', async () => {
    const { status, json } = await world.post('/api/workflows', {
      name: 5,
      blocks: { b: { name: 'Fetch' } },
      edges: [],
    })
    expect({ status, code: json.code }).toEqual({ status: 400, code: 'INVALID_INPUT' })
    expect(json.details).toEqual([
      { path: 'name', message: 'name must be text, not 5.' },
      { path: 'blocks.b.type', message: 'In block "Fetch" (b): blocks.b.type is missing; it must be text.' },
    ])
    expect(json.error).toContain('name must be text, not 5. (and 1 more, see details)')
  })

  test('needs no workspace if the caller owns exactly one', async () => {
    const one = await world.member('editor')
    expect((await world.post('/api/workflows', sampleDocument(), { key: one })).status).toBe(201)
    const userId = await world.accounts.addUser()
    await world.accounts.addMember(userId, world.workspaceId, 'editor')
    const own = await world.accounts.addWorkspace(userId)
    const found = await world.post('/api/workflows', sampleDocument(), { key: await world.key({ userId }) })
    expect(found.json.workspaceId).toBe(own)
    const second = await world.accounts.addWorkspace(userId)
    const key = await world.key({ userId })
    const refused = await world.post('/api/workflows', sampleDocument(), { key })
    expect(refused.json).toMatchObject({ code: 'INVALID_PARAMETERS', details: [{ path: 'workspaceId' }] })
    const named = await world.post(`/api/workflows?workspaceId=${second}`, sampleDocument(), { key })
    expect(named.json.workspaceId).toBe(second)
  })

  test('uses the workspace of the body rather than that of the parameter', async () => {
    const key = await world.key({ workspaceId: world.workspaceId })
    const body = { ...sampleDocument(), workspaceId: 'another' }
    const { status } = await world.post(`/api/workflows?workspaceId=${world.workspaceId}`, body, { key })
    expect(status).toBe(404)
  })
})

describe('a saved workflow', () => {
  test('is listed without its blocks', async () => {
    const id = await world.workflow({ folder: 'sales/eu', description: 'About orders' })
    const { json } = await world.get(`/api/workflows?workspaceId=${world.workspaceId}`)
    const found = json.data.find((row: { id: string }) => row.id === id)
    expect(found).toMatchObject({
      folder: 'sales/eu',
      description: 'About orders',
      isDeployed: false,
      version: null,
      deployedAt: null,
    })
    expect(found).not.toHaveProperty('blocks')
  })

  test('is replaced as a whole, with the document that was read', async () => {
    const id = await world.workflow({ description: 'first' })
    const { json } = await world.get(`/api/workflows/${id}`)
    const { description: _gone, ...rest } = json
    const { status, json: saved } = await world.call('PUT', `/api/workflows/${id}`, { body: rest })
    expect(status).toBe(200)
    expect(saved.findings).toEqual([])
    expect((await world.get(`/api/workflows/${id}`)).json).not.toHaveProperty('description')
  })

  test('keeps its ID when the replacement has another one', async () => {
    const id = await world.workflow()
    const { json } = await world.call('PUT', `/api/workflows/${id}`, { body: { ...sampleDocument(), id: 'elsewhere' } })
    expect(json.id).toBe(id)
    expect((await world.get('/api/workflows/elsewhere')).status).toBe(404)
  })

  test('is gone after DELETE, and its name is free again', async () => {
    const id = await world.workflow({ name: 'Short-lived' })
    const { status, text } = await world.call('DELETE', `/api/workflows/${id}`)
    expect({ status, text }).toEqual({ status: 204, text: '' })
    expect((await world.get(`/api/workflows/${id}`)).status).toBe(404)
    expect((await world.call('DELETE', `/api/workflows/${id}`)).status).toBe(404)
    expect((await world.post('/api/workflows', { ...sampleDocument(), name: 'Short-lived' })).status).toBe(201)
  })

  test('describes its endpoint according to its input format', async () => {
    const id = await world.workflow()
    const { json } = await world.get(`/api/workflows/${id}/openapi.json`)
    expect(json.openapi).toBe('3.1.0')
    expect(json.info.version).toBe('draft')
    expect(json.servers).toEqual([{ url: world.url }])
    const operation = json.paths[`/api/workflows/${id}/execute`].post
    expect(operation.requestBody.content['application/json'].schema).toEqual({
      type: 'object',
      properties: { city: { type: 'string', description: 'Where', examples: ['Porto'] } },
      required: ['city'],
    })
    await world.post(`/api/workflows/${id}/deploy`)
    expect((await world.get(`/api/workflows/${id}/openapi.json`)).json.info.version).toBe('1')
  })
})

describe('deploying', () => {
  test('creates versions, and reports the active one', async () => {
    const id = await world.workflow()
    expect((await world.get(`/api/workflows/${id}/status`)).json).toEqual({
      isDeployed: false,
      deployedAt: null,
      needsRedeployment: false,
      version: null,
    })
    const first = await world.post(`/api/workflows/${id}/deploy`)
    expect(first.status).toBe(200)
    expect(first.json).toMatchObject({ version: 1, warnings: [] })
    const second = await world.post(`/api/workflows/${id}/deploy`)
    expect(second.json.version).toBe(2)
    const { json } = await world.get(`/api/workflows/${id}/deployments`)
    expect(json.data.map(({ version, isActive }: Parsed) => [version, isActive]).sort()).toEqual([
      [1, false],
      [2, true],
    ])
    expect((await world.get(`/api/workflows/${id}/status`)).json).toEqual({
      isDeployed: true,
      deployedAt: second.json.deployedAt,
      needsRedeployment: false,
      version: 2,
    })
  })

  test('is refused with all findings, each with its block', async () => {
    const blocks = {
      ...sampleDocument().blocks,
      bad: { type: 'nope', name: 'Bad one' },
      worse: { type: 'nada', name: 'Worse' },
    }
    const id = await world.workflow({ blocks } as Parsed)
    const { status, json } = await world.post(`/api/workflows/${id}/deploy`)
    expect({ status, code: json.code }).toEqual({ status: 400, code: 'INVALID_INPUT' })
    const messages = json.details.map(({ message }: { message: string }) => message).join('\n')
    expect(messages).toContain('In block "Bad one" (bad): ')
    expect(messages).toContain('In block "Worse" (worse): ')
    expect((await world.get(`/api/workflows/${id}/status`)).json.isDeployed).toBe(false)
  })

  test('is needed again only when the draft would run differently', async () => {
    const id = await world.deployed()
    const draft = (await world.get(`/api/workflows/${id}`)).json
    draft.blocks.start.position = { x: 5, y: 5 }
    draft.blocks.start.params.inputFormat[0].value = 'Lisbon'
    await world.put(`/api/workflows/${id}`, draft)
    expect((await world.get(`/api/workflows/${id}/status`)).json.needsRedeployment).toBe(false)
    draft.blocks.end.params.data = 'else'
    await world.put(`/api/workflows/${id}`, draft)
    expect((await world.get(`/api/workflows/${id}/status`)).json.needsRedeployment).toBe(true)
  })

  test('gives the version a name and a description, and says who deployed it', async () => {
    const id = await world.deployed()
    const texts = { name: 'Faster', description: 'Fewer retries' }
    expect((await world.post(`/api/workflows/${id}/deploy`, texts)).json).toMatchObject({ version: 2 })
    const { json } = await world.get(`/api/workflows/${id}/deployments`)
    const author = expect.stringContaining('@')
    expect(json.data).toMatchObject([
      { version: 2, ...texts, author },
      { version: 1, name: null, author },
    ])
    expect(await world.post(`/api/workflows/${id}/deploy`, { name: 7 })).toMatchObject({ status: 400 })
    expect(await world.post(`/api/workflows/${id}/deploy`, { name: 'x'.repeat(201) })).toMatchObject({ status: 400 })
    expect((await world.get(`/api/workflows/${id}/status`)).json.version).toBe(2)
  })

  test('warns about an environment variable that is not set, until it is', async () => {
    const blocks = {
      s: { type: 'api_trigger', name: 'S' },
      f: { type: 'function', name: 'F', params: { code: 'return {{NOT_SET}}' } },
    }
    const edges = [{ source: 's', target: 'f' }]
    const { json } = await world.post('/api/workflows', { name: 'Unset', blocks, edges })
    const finding = { level: 'warning', code: 'UNSET_VARIABLE', path: 'blocks.f.params.code', blockId: 'f' }
    expect(json.findings).toMatchObject([finding])
    const { id, workspaceId } = json
    expect((await world.post(`/api/workflows/${id}/deploy`)).json.warnings).toMatchObject([finding])
    await world.put(`/api/workspaces/${workspaceId}/environment/NOT_SET`, { value: 'now' })
    expect((await world.post(`/api/workflows/${id}/deploy`)).json.warnings).toEqual([])
  })

  test('replaces the cached deployment at once', async () => {
    const id = await world.deployed()
    const { deployments } = world.services.runs.execute
    expect((await deployments.load(id))?.version).toBe(1)
    await world.post(`/api/workflows/${id}/deploy`)
    expect((await deployments.load(id))?.version).toBe(2)
    await world.post(`/api/workflows/${id}/deployments/1/activate`)
    expect((await deployments.load(id))?.version).toBe(1)
    const { status } = await world.call('DELETE', `/api/workflows/${id}/deploy`)
    expect(status).toBe(204)
    expect((await deployments.load(id))?.plan).toBeNull()
    await world.call('DELETE', `/api/workflows/${id}`)
    expect(await deployments.load(id)).toBeUndefined()
  })

  test('can activate, name, and revert to an older version', async () => {
    const id = await world.deployed({ description: 'the first' })
    const draft = (await world.get(`/api/workflows/${id}`)).json
    draft.blocks.end.params.data = 'second'
    draft.description = 'the second'
    await world.put(`/api/workflows/${id}`, draft)
    await world.post(`/api/workflows/${id}/deploy`)

    const activated = await world.post(`/api/workflows/${id}/deployments/1/activate`)
    expect(activated.json.version).toBe(1)
    expect((await world.get(`/api/workflows/${id}/status`)).json).toMatchObject({
      version: 1,
      needsRedeployment: true,
      deployedAt: activated.json.deployedAt,
    })

    const named = await world.call('PATCH', `/api/workflows/${id}/deployments/1`, {
      body: { name: 'stable', description: 'x' },
    })
    expect(named.json).toMatchObject({ version: 1, name: 'stable', description: 'x', isActive: true })
    const again = await world.call('PATCH', `/api/workflows/${id}/deployments/1`, { body: { description: null } })
    expect(again.json).toMatchObject({ name: 'stable', description: null })

    const reverted = await world.post(`/api/workflows/${id}/deployments/1/revert`)
    expect(reverted.status).toBe(200)
    expect(reverted.json.description).toBe('the first')
    expect(reverted.json.name).toBe(draft.name)
    expect((await world.get(`/api/workflows/${id}/status`)).json.needsRedeployment).toBe(false)
  })

  test('responds with 404 for an unknown version, and with 400 for an invalid name', async () => {
    const id = await world.deployed()
    for (const version of ['2', '0', '-1', '1.0', 'x', '99999999999999999999', '%00']) {
      const { status, json } = await world.get(`/api/workflows/${id}/deployments/${version}`)
      expect({ version, status, code: json.code }).toEqual({ version, status: 404, code: 'NOT_FOUND' })
    }
    const { json } = await world.call('PATCH', `/api/workflows/${id}/deployments/1`, { body: { name: 5 } })
    expect(json).toMatchObject({
      code: 'INVALID_INPUT',
      details: [{ path: 'name', message: 'name must be text or null, not 5.' }],
    })
  })
})
