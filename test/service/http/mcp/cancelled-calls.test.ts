import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { block, document } from '../../../support/make.ts'
import { type HttpResult, HttpWorld } from '../world.ts'

const start = block('start', 'api_trigger', {})
const quick = document({ blocks: [start, block('work', 'function', { code: 'return 1' })], edges: ['start > work'] })
/** It runs until something stops it. */
const endless = document({
  blocks: [start, block('work', 'function', { code: 'for (;;);', timeoutMs: 300_000 })],
  edges: ['start > work'],
})
const tests = ['one', 'two', 'three', 'four'].map((name) => ({ name, mocks: [], expect: { success: true } }))

describe('a call of an MCP client that the client cancels', () => {
  let world: HttpWorld
  beforeAll(async () => {
    world = await HttpWorld.open()
  })
  afterAll(() => world.close())

  let last = 0
  /** A client with a key of its own. */
  const client = async () => {
    const key = await world.key({ workspaceId: world.workspaceId })
    const post = (message: object) => world.call('POST', '/mcp', { key, body: { jsonrpc: '2.0', ...message } })
    return {
      call(name: string, given: object) {
        const id = ++last
        return { id, result: post({ id, method: 'tools/call', params: { name, arguments: given } }) }
      },
      cancel: (requestId: number) => post({ method: 'notifications/cancelled', params: { requestId } }),
    }
  }
  const codeOf = async (result: Promise<HttpResult>) => (await result).json.result.structuredContent.code
  const runTests = async (id: string) => (await world.post(`/api/workflows/${id}/tests/run`, {})).json.code

  test('stops tests, which then have changed nothing', async () => {
    const id = await world.workflow({ ...endless, name: 'Endless' })
    await world.put(`/api/workflows/${id}/tests`, { tests })
    const { call, cancel } = await client()
    const running = call('run_tests', { workflowId: id, update: true })
    // A workspace runs the tests of one request at a time.
    const idle = await world.workflow({ ...quick, name: 'Idle' })
    while ((await runTests(idle)) !== 'OVERLOADED') await Bun.sleep(1)
    expect((await cancel(running.id)).status).toBe(202)
    expect(await codeOf(running.result)).toBe('CANCELLED')
    expect(await runTests(idle)).toBeUndefined()
    expect((await world.get(`/api/workflows/${id}/tests`)).json.revision).toBe(1)
  })

  test('makes no test of a run', async () => {
    const workflow = { ...quick, name: 'Made endless' }
    const id = await world.deployed(workflow)
    const { headers } = await world.post(`/api/workflows/${id}/execute`, {})
    await world.put(`/api/workflows/${id}`, { ...endless, name: 'Made endless' })
    const { call, cancel } = await client()
    const making = call('create_test', { workflowId: id, executionId: headers.get('x-execution-id') })
    while ((await runTests(id)) !== 'OVERLOADED') await Bun.sleep(1)
    await cancel(making.id)
    expect(await codeOf(making.result)).toBe('CANCELLED')
    expect((await world.get(`/api/workflows/${id}/tests`)).json.tests).toEqual([])
  })

  test('stops the run of a draft', async () => {
    const id = await world.workflow({ ...endless, name: 'Endless draft' })
    const { call, cancel } = await client()
    const running = call('run_draft', { workflowId: id })
    const inFlight = async () => /^millrace_runs_in_flight (\d+)/m.exec((await world.get('/metrics')).text)?.[1]
    while ((await inFlight()) !== '1') await Bun.sleep(1)
    await cancel(running.id)
    expect((await running.result).json.result.structuredContent).toMatchObject({ status: 'cancelled' })
  })
})
