import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { simBlock, simFile } from '../../../support/sim/files.ts'
import { HttpWorld } from '../world.ts'

let world: HttpWorld
beforeAll(async () => {
  world = await HttpWorld.open()
})
afterAll(() => world.close())

function file(name: string, code: string) {
  const start = simBlock('s', 'start_trigger', {}, { name: 'Start' })
  return simFile([start, simBlock('f', 'function', { code }, { name: 'Answer' })], ['s > f'], { metadata: { name } })
}

async function importFile(document: unknown, more: Record<string, unknown> = {}) {
  return await world.post('/api/workflows/import', { document, ...more })
}

describe('the import of a workflow', () => {
  test('saves a workflow that can be deployed and run, and reports what was converted', async () => {
    const { status, json } = await importFile(file('Works', 'return <start.input>'), { workspaceId: world.workspaceId })
    expect(status).toBe(201)
    expect(json).toMatchObject({
      ...{ name: 'Works', placeholders: [], credentials: [] },
      mapped: [
        { blockId: 's', from: 'start_trigger', to: 'api_trigger' },
        { blockId: 'f', from: 'function', to: 'function' },
      ],
      notes: [expect.any(String)],
    })
    expect((await world.post(`/api/workflows/${json.id}/deploy`)).status).toBe(200)
    const run = await world.post(`/api/workflows/${json.id}/execute`, { input: 'Hello' })
    expect(run.json).toMatchObject({ success: true, output: { result: 'Hello' } })
  })

  test('makes placeholders that prevent the deployment', async () => {
    const { json } = await importFile(simFile([simBlock('kb', 'unheard_of', {}, { name: 'Ask' })]))
    expect(json.placeholders).toMatchObject([{ blockId: 'kb', name: 'Ask', from: 'unheard_of' }])
    const deployed = await world.post(`/api/workflows/${json.id}/deploy`)
    expect(deployed.status).toBe(400)
    expect(deployed.text).toContain('This block needs')
  })

  test('replaces only a workflow that an import created, and only when it is asked to', async () => {
    const first = await importFile(file('Twice', 'return 1'))
    const again = await importFile(file('Twice', 'return 2'))
    expect(again).toMatchObject({ status: 409, json: { code: 'CONFLICT', error: expect.stringContaining('"update"') } })
    const updated = await importFile(file('Twice', 'return 2'), { update: true })
    expect(updated).toMatchObject({ status: 201, json: { id: first.json.id } })
    const { json } = await world.get(`/api/workflows/${first.json.id}`)
    expect(json.blocks.f.params.code).toBe('return 2')
    await world.post('/api/workflows', { name: 'Own', blocks: {}, edges: [] })
    expect(await importFile(file('Own', 'return 3'), { update: true })).toMatchObject({
      ...{ status: 409, json: { error: expect.stringContaining('No import created it') } },
    })
  })

  test('keeps the folder and the limits of a workflow that it replaces', async () => {
    const { id } = (await importFile(file('Filed', 'return 1'))).json
    const kept = { folder: 'sales/eu', limits: { concurrency: 2 } }
    await world.put(`/api/workflows/${id}`, { ...(await world.get(`/api/workflows/${id}`)).json, ...kept })
    expect((await importFile(file('Filed', 'return 2'), { update: true })).status).toBe(201)
    const { json } = await world.get(`/api/workflows/${id}`)
    expect(json).toMatchObject(kept)
    expect(json.blocks.f.params.code).toBe('return 2')
  })

  test('keeps the address of a webhook when it replaces a workflow', async () => {
    const hook = simFile([simBlock('h', 'generic_webhook', {}, { name: 'Hook' })], [], { metadata: { name: 'Hooked' } })
    const { json } = await importFile(hook)
    const pathOf = async () => (await world.get(`/api/workflows/${json.id}`)).json.blocks.h.params.path
    const before = await pathOf()
    expect(before).toEqual(expect.any(String))
    await importFile(hook, { update: true })
    expect(await pathOf()).toBe(before)
  })

  test.each([
    ['no document', {}],
    ['another format', { document: file('X', ''), format: 'n8n' }],
    ['a document without blocks', { document: { state: { blocks: {} } } }],
    ['a document of Millrace', { document: { name: 'X', edges: [] } }],
    ['a text', { document: 'blocks' }],
    ['a wrong member', { document: file('X', ''), update: 'yes' }],
  ])('refuses %s and says why', async (_, body) => {
    const response = await world.post('/api/workflows/import', body)
    expect(response).toMatchObject({ status: 400, json: { code: 'INVALID_INPUT' } })
    expect(response.json.details).not.toEqual([])
  })

  test('refuses more blocks than a document may have', async () => {
    const blocks = Array.from({ length: 20_000 }, (_, index) => simBlock(`b${index}`, 'wait'))
    expect(await importFile(simFile(blocks))).toMatchObject({ status: 413, json: { code: 'PAYLOAD_TOO_LARGE' } })
  })
})
