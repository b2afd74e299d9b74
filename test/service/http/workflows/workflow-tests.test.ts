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
    const pattern = { ...greets('Ada'), expect: { output: { said: { $match: '(' } } } }
    expect(await refused([pattern])).toEqual([
      400,
      'INVALID_INPUT',
      expect.stringContaining('not a regular expression'),
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

describe('a test', () => {
  const run = async (id: string, body: unknown = {}) => {
    const { status, json } = await world.executions.call(`/api/workflows/${id}/tests/run`, { body })
    expect([status, json.error]).toEqual([200, undefined])
    return json
  }
  const logged = async () => {
    const { workspaceId } = world.executions
    return (await world.executions.call(`/api/v1/logs?workspaceId=${workspaceId}`)).json.data.length
  }

  test('passes or fails with what differs, and leaves no entry in the log', async () => {
    const id = await deploy(greeting())
    await put(id, { tests: [greets('Ada'), greets('Grace', 'Good day, Grace')] })
    const before = await logged()
    const report = await run(id)
    expect(report).toMatchObject({ passed: 1, failed: 1, revision: 1 })
    expect(report.results).toEqual([
      { name: 'Greets Ada', status: 'passed', durationMs: expect.any(Number), differences: [], renames: null },
      {
        ...{ name: 'Greets Grace', status: 'failed', durationMs: expect.any(Number), renames: null },
        differences: [
          {
            path: 'output.said',
            message: 'output.said is not as expected.',
            expect: 'Good day, Grace',
            actual: 'Hello, Grace',
          },
        ],
      },
    ])
    expect(await logged()).toBe(before)
    expect((await run(id, { names: ['Greets Ada'] })).results).toHaveLength(1)
    const unknown = await world.executions.call(`/api/workflows/${id}/tests/run`, { body: { names: ['None'] } })
    expect([unknown.status, unknown.json.error]).toEqual([404, expect.stringContaining('no test "None"')])
  })

  test('sends no request: mocks answer, and a request without one fails the test', async () => {
    const requests: string[] = []
    using server = Bun.serve({
      port: 0,
      fetch(request) {
        requests.push(request.url)
        return Response.json({ rate: 2 })
      },
    })
    const url = `http://127.0.0.1:${server.port}/rates?of=EUR`
    const id = await deploy(
      document({
        blocks: [
          block('start', 'api_trigger', { inputFormat: [{ name: 'amount', type: 'number' }] }),
          block('rates', 'api', { url, headers: [{ key: 'Authorization', value: 'Bearer {{TOKEN}}' }] }),
          block('sum', 'function', { code: 'return <rates.data.rate> * <start.amount>' }),
        ],
        edges: ['start > rates', 'rates > sum'],
      }),
    )
    const made = {
      name: 'Converts',
      input: { amount: 21 },
      mocks: [{ request: { method: 'GET', url }, response: { status: 200, data: { rate: 3 } } }],
      expect: { output: { result: 63 }, path: ['start', 'rates', 'sum'], calls: [{ method: 'GET', url }] },
    }
    await put(id, { tests: [made, { ...made, name: 'Without mocks', mocks: [] }] })
    const { results } = await run(id)
    expect(results[0]).toMatchObject({ status: 'passed', differences: [] })
    expect(results[1]).toMatchObject({ status: 'failed' })
    expect(results[1].differences[0]).toEqual({
      path: 'calls',
      message: expect.stringContaining(`No mock answers the request of "rates": GET ${url}\nAdd one to`),
    })
    expect(requests).toEqual([])
  })

  test('has a fixed time and fixed random numbers, and waits take no time', async () => {
    const id = await deploy(
      document({
        blocks: [
          block('start', 'api_trigger'),
          block('pause', 'wait', { for: '3 days' }),
          block('draw', 'function', { code: 'return [Date.now(), new Date().toISOString(), Math.random()]' }),
        ],
        edges: ['start > pause', 'pause > draw'],
      }),
    )
    const now = '2027-03-04T05:06:07.000Z'
    await put(id, { tests: [{ name: 'Fixed', now, seed: 7, expect: { output: { result: [] } } }] })
    const first = await run(id)
    const second = await run(id)
    // After the wait.
    const later = new Date(Date.parse(now) + 3 * 86_400_000).toISOString()
    const actualOf = (report: typeof first) => report.results[0].differences
    expect(actualOf(first)).toEqual(actualOf(second))
    expect(actualOf(first)[0].actual).toEqual([Date.parse(later), later, expect.any(Number)])
    expect(first.results[0].durationMs).toBeLessThan(5_000)
  })

  test('is updated with what happened; matchers that fit stay', async () => {
    const id = await deploy(greeting())
    const expected = { output: { said: 'Old' }, path: ['start'] }
    await put(id, { tests: [{ ...greets('Ada'), expect: expected }, greets('Grace')] })
    expect(await run(id, { names: ['Greets Ada'], update: true })).toMatchObject({ failed: 1, revision: 2 })
    expect((await get(id)).json.tests).toEqual([
      { ...greets('Ada'), expect: { output: { said: 'Hello, Ada' }, path: ['start', 'say'] } },
      greets('Grace'),
    ])
    expect(await run(id)).toMatchObject({ passed: 2, failed: 0 })
    const matchers = [{ $match: '^Hello, [A-Z]' }, { $any: 'string' }]
    await put(id, {
      tests: matchers.map((said, index) => ({ ...greets('Ada'), name: `${index}`, expect: { output: { said } } })),
    })
    expect(await run(id, { update: true })).toMatchObject({ passed: 2 })
    const other = [{ $match: '^Bye' }, { $match: '^(a+)+$' }, { $any: 'number' }]
    await put(id, {
      tests: other.map((said, index) => ({ ...greets('Ada'), name: `${index}`, expect: { output: { said } } })),
    })
    expect(await run(id)).toMatchObject({ passed: 0, failed: 3 })
  })

  test('that names a renamed block is stale, and an update changes only the name', async () => {
    const id = await deploy(greeting())
    await put(id, { tests: [{ ...greets('Ada'), expect: { output: { said: 'Bye' }, path: ['start', 'say hello'] } }] })
    const { results } = await run(id)
    expect(results).toMatchObject([{ status: 'stale', renames: { 'say hello': 'say' } }])
    await run(id, { update: true })
    expect((await get(id)).json.tests[0].expect).toEqual({ output: { said: 'Bye' }, path: ['start', 'say'] })
  })

  test('is made from a run of the log, passes, and expects only the type of values that vary', async () => {
    using server = Bun.serve({ port: 0, fetch: () => Response.json({ rate: 2 }) })
    const workflow = document({
      blocks: [
        block('start', 'api_trigger', { inputFormat: [{ name: 'amount', type: 'number' }] }),
        block('rates', 'api', { url: `http://127.0.0.1:${server.port}/rates` }),
        block('sum', 'function', {
          code: 'return { sum: <rates.data.rate> * <start.amount>, id: Math.random().toString(36) }',
        }),
      ],
      edges: ['start > rates', 'rates > sum'],
    })
    const { workflowId, executionId } = await world.run(workflow, { input: { amount: 4 } })
    await world.entryOf(executionId)
    const from = (body: unknown) => world.executions.call(`/api/workflows/${workflowId}/tests/from-run`, { body })
    const made = await from({ executionId })
    expect([made.status, made.json.error]).toEqual([201, undefined])
    expect(made.json.test).toMatchObject({
      input: { amount: 4 },
      trigger: 'api',
      mocks: [{ block: 'rates', response: { status: 200, data: { rate: 2 } } }],
      expect: {
        success: true,
        output: { result: { sum: 8, id: { $any: 'string' } } },
        path: ['start', 'rates', 'sum'],
        calls: [{ method: 'GET', url: `http://127.0.0.1:${server.port}/rates` }],
      },
    })
    server.stop(true)
    expect(await run(workflowId)).toMatchObject({ passed: 1, failed: 0 })
    expect((await from({ executionId })).json.name).toBe(`${made.json.name} (2)`)
    expect((await from({ executionId: 'none' })).status).toBe(404)
  })

  test('that outputs too much fails, and says why', async () => {
    const code = 'return "x".repeat(3_000_000)'
    const blocks = [block('start', 'api_trigger'), block('fill', 'function', { code })]
    const id = await deploy(document({ blocks, edges: ['start > fill'] }))
    await put(id, { tests: [{ name: 'Large', expect: {} }] })
    const { results } = await run(id)
    expect(results).toMatchObject([{ status: 'failed', differences: [{ path: 'success' }] }])
    expect(results[0].differences[0].message).toContain('1048576 bytes')
  })

  test('takes little time: two hundred with user code run within seconds', async () => {
    const id = await deploy(
      document({
        blocks: [
          block('start', 'api_trigger', { inputFormat: [{ name: 'who', type: 'string' }] }),
          block('say', 'function', { code: 'return `Hello, ${<start.who>}`' }),
        ],
        edges: ['start > say'],
      }),
    )
    const tests = Array.from({ length: 200 }, (_, index) => ({
      ...{ name: `Test ${index}`, input: { who: `${index}` } },
      expect: { output: { result: `Hello, ${index}` } },
    }))
    await put(id, { tests })
    const report = await run(id)
    expect(report).toMatchObject({ passed: 200, failed: 0 })
    expect(report.durationMs).toBeLessThan(10_000)
  })
})
