import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { WorkflowDocument } from '../../../../src/domain/workflow/workflow.ts'
import { block, document } from '../../../support/make.ts'
import { ManualWorld } from '../runs/manual-world.ts'

let world: ManualWorld
beforeAll(async () => {
  world = await ManualWorld.open({ 'body-bytes-max': '20000000', 'body-bytes-max-files': '20000000' })
})
afterAll(() => world.close())

const deploy = (workflow: WorkflowDocument) => world.executions.deploy(workflow, false)
const get = (id: string) => world.executions.call(`/api/workflows/${id}/tests`)
const put = (id: string, body: unknown, headers: Record<string, string> = {}) =>
  world.executions.call(`/api/workflows/${id}/tests`, { method: 'PUT', body, headers })

const greeting = () =>
  document({
    variables: { said: { value: '' } },
    blocks: [
      block('start', 'api_trigger', { inputFormat: [{ name: 'who', type: 'string' }] }),
      block('say', 'variables', { assign: [{ name: 'said', value: 'Hello, <start.who>' }] }),
    ],
    edges: ['start > say'],
  })
const greets = (who: string, said = `Hello, ${who}`) => ({
  name: `Greets ${who}`,
  input: { who },
  mocks: [],
  expect: { success: true, output: { said } },
})

describe('the tests of a workflow', () => {
  test('are saved and returned as the file that `millrace test` reads', async () => {
    const workflow = greeting()
    const id = await deploy(workflow)
    const none = await get(id)
    expect([none.status, none.json]).toEqual([
      200,
      { workflow: expect.any(String), tests: [], revision: 0, updatedAt: null },
    ])
    const tests = [greets('Ada'), greets('Grace')]
    const saved = await put(id, { workflow: 'hello.json', tests })
    expect([saved.status, saved.json.revision, saved.headers.get('etag')]).toEqual([200, 1, '"1"'])
    const found = await get(id)
    expect([found.json.tests, found.json.revision, found.headers.get('etag')]).toEqual([tests, 1, '"1"'])
    // The response can be saved as it is.
    expect((await put(id, found.json)).json.revision).toBe(2)
  })

  test('that somebody else saved in the meantime are not overwritten', async () => {
    const id = await deploy(greeting())
    expect((await put(id, { tests: [greets('Ada')] }, { 'if-match': '"0"' })).status).toBe(200)
    const late = await put(id, { tests: [] }, { 'if-match': '"0"' })
    expect([late.status, late.json.code, late.json.details[0].path]).toEqual([409, 'CONFLICT', 'revision'])
    expect((await get(id)).json.tests).toHaveLength(1)
    expect((await put(id, { tests: [] }, { 'if-match': '"1"' })).status).toBe(200)
  })

  test('hold no secret of the workspace', async () => {
    const id = await deploy(greeting())
    await put(id, { tests: [greets('the secret value')] })
    const { tests } = (await get(id)).json
    expect(tests).toEqual([greets('{{TOKEN}}')])
  })

  test('are refused if two have one name, if one cannot be read, or if they are too many or too large', async () => {
    const id = await deploy(greeting())
    const refused = async (tests: unknown) => {
      const { status, json } = await put(id, { tests })
      return [status, json.code, json.error]
    }
    expect(await refused([greets('Ada'), greets('Ada')])).toEqual([
      400,
      'INVALID_INPUT',
      expect.stringContaining('Two tests are called "Greets Ada"'),
    ])
    expect(await refused([{ name: 'Lacks all' }])).toEqual([
      400,
      'INVALID_INPUT',
      expect.stringContaining('tests[0].expect'),
    ])
    const many = Array.from({ length: 501 }, (_, index) => greets(String(index)))
    expect(await refused(many)).toEqual([413, 'PAYLOAD_TOO_LARGE', expect.stringContaining('at most 500 tests')])
    const large = await refused([{ ...greets('Ada'), input: { who: 'x'.repeat(4_200_000) } }])
    expect(large).toEqual([413, 'PAYLOAD_TOO_LARGE', expect.stringContaining('bytes')])
    expect((await get(id)).json).toMatchObject({ tests: [], revision: 0 })
  })

  test('are copied with the workflow, and come back when its deletion is undone', async () => {
    const id = await deploy(greeting())
    await put(id, { tests: [greets('Ada')] })
    const session = { headers: world.session, key: null }
    const copy = await world.executions.call(`/api/editor/workflows/${id}/duplicate`, { body: {}, ...session })
    expect((await get(copy.json.id)).json).toMatchObject({ tests: [greets('Ada')], revision: 1 })
    await world.executions.call(`/api/workflows/${id}`, { method: 'DELETE' })
    expect((await get(id)).status).toBe(404)
    await world.executions.call(`/api/editor/workflows/${id}/restore`, { method: 'POST', ...session })
    expect((await get(id)).json.tests).toEqual([greets('Ada')])
  })
})
