import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { block, document } from '../../../support/make.ts'
import { type CallOptions, ExecutionWorld, echo, start } from '../execution-world.ts'

let world: ExecutionWorld

beforeAll(async () => {
  world = await ExecutionWorld.open()
})
afterAll(() => world.close())

describe('a run that succeeds', () => {
  test('responds with its output, ID and times, and its log entry can be read at once', async () => {
    const id = await world.deploy(echo)
    const { status, json, headers } = await world.execute(id, { a: 1 })
    expect(status).toBe(200)
    const { executionId, output, metadata, ...rest } = json as {
      executionId: string
      output: unknown
      metadata: Record<string, string | number>
    }
    expect(rest).toEqual({ success: true } as never)
    expect(output).toEqual({ result: { a: 1 }, stdout: '', error: null })
    expect(metadata).toEqual({
      duration: expect.any(Number),
      startTime: expect.stringMatching(/Z$/),
      endTime: expect.stringMatching(/Z$/),
    })
    expect(headers.get('x-execution-id')).toBe(executionId)
    for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'x-request-id'])
      expect(headers.get(name)).toBeTruthy()

    const detail = await world.call(`/api/v1/logs/executions/${executionId}`)
    expect(detail.json).toMatchObject({ executionId, workflowId: id, executionMetadata: { trigger: 'api' } })
    const literal = await world.call(`/api/v1/logs/workflow/pt-BR/executions/${executionId}`)
    expect(literal.json).toMatchObject({ executionId, workflowState: { blocks: { f: { type: 'function' } } } })
    const logs = (await world.call(`/api/v1/logs?workspaceId=${world.workspaceId}&limit=1`)).json as {
      data: { id: string }[]
    }
    const entry = (await world.call(`/api/v1/logs/${logs.data[0]?.id}`)).json as {
      data: { executionId: string; executionData: { traceSpans: { children: unknown[] }[]; finalOutput: unknown } }
    }
    expect(entry.data).toMatchObject({ executionId, executionData: { finalOutput: output } })
    expect(entry.data.executionData.traceSpans).toMatchObject([
      { type: 'workflow', children: [{ type: 'api_trigger' }, { type: 'function' }] },
    ])
  })

  test('reads its input from the body according to the rules for bodies', async () => {
    const id = await world.deploy(echo)
    const resultOf = async (options: CallOptions) =>
      ((await world.execute(id, undefined, options)).json as { output: { result: unknown } }).output.result
    expect(await resultOf({})).toEqual({})
    expect(await resultOf({ text: '' })).toEqual({})
    expect(await resultOf({ text: '[1]' })).toEqual({ input: [1] })
    expect(await resultOf({ text: 'null' })).toEqual({ input: null })
    expect(await resultOf({ text: '{"input":{"a":1}}' })).toEqual({ a: 1 })
    expect(await resultOf({ text: '{"input":7}' })).toEqual({ input: 7 })
    expect(await resultOf({ text: '{"a":1,"stream":false,"selectedOutputs":[]}' })).toEqual({ a: 1 })
    expect(await resultOf({ text: '{"a":1}', headers: { 'content-type': 'text/plain' } })).toEqual({ a: 1 })
  })

  test('responds with the content of its response block, without the envelope', async () => {
    const params = { data: '<api.input.data>', status: '<api.input.status>', headers: [{ key: 'X-Own', value: 'yes' }] }
    const id = await world.deploy(document({ blocks: [start(), block('r', 'response', params)], edges: ['start > r'] }))
    const json = await world.execute(id, { data: { a: 1 }, status: 201 })
    expect([json.status, json.json, json.headers.get('x-own')]).toEqual([201, { a: 1 }, 'yes'])
    expect(json.headers.get('x-execution-id')).toBeTruthy()
    const text = await world.execute(id, { data: 'plain', status: 404 })
    expect([text.status, text.text, text.headers.get('content-type')]).toEqual([
      404,
      'plain',
      'text/plain; charset=utf-8',
    ])
    expect((await world.execute(id, { data: 'x', status: 204 })).text).toBe('')
  })

  test('has the default Content-Type when the one of its response block is empty', async () => {
    const headers = [{ key: 'Content-Type', value: '<api.input.type>' }]
    const params = { data: '<api.input.data>', headers }
    const id = await world.deploy(document({ blocks: [start(), block('r', 'response', params)], edges: ['start > r'] }))
    const typeOf = async (body: object) => (await world.execute(id, body)).headers.get('content-type')
    expect(await typeOf({ data: { a: 1 } })).toBe('application/json')
    expect(await typeOf({ data: 'a' })).toBe('text/plain; charset=utf-8')
    expect(await typeOf({ data: '<a/>', type: 'application/xml' })).toBe('application/xml')
  })

  test('forbids browsers to guess the type of a response, unless its response block sets the header itself', async () => {
    const headers = [{ key: 'X-Content-Type-Options', value: '<api.input.sniffing>' }]
    const own = { data: '<api.input.data>', headers }
    const plain = { data: '<api.input.data>' }
    const sniffingOf = async (params: Record<string, unknown>, body: object) => {
      const blocks = [start(), block('r', 'response', params)]
      const id = await world.deploy(document({ blocks, edges: ['start > r'] }))
      return (await world.execute(id, body)).headers.get('x-content-type-options')
    }
    expect(await sniffingOf(plain, { data: { a: 1 } })).toBe('nosniff')
    expect(await sniffingOf(plain, { data: 'a' })).toBe('nosniff')
    expect(await sniffingOf(own, { data: 'a' })).toBe('nosniff')
    expect(await sniffingOf(own, { data: 'a', sniffing: 'allowed' })).toBe('allowed')
  })

  test("keeps the service's own headers out of a response block's reach", async () => {
    const own = ['X-Execution-Id', 'x-request-id', 'X-RateLimit-Limit', 'Content-Encoding', 'Content-Length']
    const ofAddress = ['Clear-Site-Data', 'Strict-Transport-Security', 'Alt-Svc', 'NEL', 'Report-To']
    const headers = [...own, ...ofAddress].map((key) => ({ key, value: '1' }))
    const params = {
      data: '"all of it"',
      headers: [...headers, { key: 'Set-Cookie', value: 'a=1' }, { key: 'Set-Cookie', value: 'b=2' }],
    }
    const id = await world.deploy(document({ blocks: [start(), block('r', 'response', params)], edges: ['start > r'] }))
    const response = await world.execute(id)
    expect(response.text).toBe('all of it')
    for (const name of ['x-execution-id', 'x-request-id', 'x-ratelimit-limit'])
      expect(response.headers.get(name)).not.toBe('1')
    for (const name of ofAddress) expect(response.headers.has(name)).toBe(false)
    expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
  })

  test('uses the latest deployment, also right after it was created', async () => {
    const draft = (n: number) =>
      document({ name: 'Versions', blocks: [start(), block('r', 'response', { data: n })], edges: ['start > r'] })
    const id = await world.deploy(draft(1))
    expect((await world.execute(id)).json).toBe(1)
    await world.call(`/api/workflows/${id}`, { method: 'PUT', body: { ...draft(2), id } })
    expect((await world.execute(id)).json).toBe(1)
    await world.call(`/api/workflows/${id}/deploy`, { method: 'POST' })
    expect((await world.execute(id)).json).toBe(2)
    await world.call(`/api/workflows/${id}/deployments/1/activate`, { method: 'POST' })
    expect((await world.execute(id)).json).toBe(1)
    await world.call(`/api/workflows/${id}/deploy`, { method: 'DELETE' })
    expect((await world.execute(id)).json).toMatchObject({ code: 'WORKFLOW_NOT_DEPLOYED' })
  })
})

describe('a run that fails', () => {
  test('responds with 500 and the failed block, and its log entry is an error with the same output', async () => {
    const id = await world.deploy(
      document({
        blocks: [start(), block('f', 'function', { code: 'throw new Error("boom")' }, { name: 'My F' })],
        edges: ['start > f'],
      }),
    )
    const { status, json, headers } = await world.execute(id, {})
    expect(status).toBe(500)
    expect(json).toMatchObject({
      success: false,
      code: 'EXECUTION_FAILED',
      blockId: 'f',
      blockName: 'My F',
      error: expect.stringContaining('boom'),
    })
    const { executionId } = json as { executionId: string }
    expect(headers.get('x-execution-id')).toBe(executionId)
    const logs = (await world.call(`/api/v1/logs?workspaceId=${world.workspaceId}&limit=1`)).json as {
      data: { id: string; level: string }[]
    }
    expect(logs.data[0]).toMatchObject({ level: 'error', executionId })
    const entry = await world.call(`/api/v1/logs/${logs.data[0]?.id}`)
    expect(entry.json).toMatchObject({
      data: { executionData: { finalOutput: { code: 'EXECUTION_FAILED', blockId: 'f', blockName: 'My F' } } },
    })
  })

  test('because its caller left is cancelled and logged as cancelled', async () => {
    const id = await world.deploy(
      document({ blocks: [start(), block('w', 'wait', { ms: 60_000 })], edges: ['start > w'] }),
    )
    const caller = new AbortController()
    const gone = world.execute(id, {}, { signal: caller.signal }).catch(() => 'gone')
    while (!(await world.call('/metrics')).text.includes('\nmillrace_runs_in_flight 1\n')) await Bun.sleep(1)
    caller.abort()
    expect(await gone).toBe('gone')
    for (;;) {
      const logs = (await world.call(`/api/v1/logs?workspaceId=${world.workspaceId}&workflowIds=${id}`)).json as {
        data: { id: string }[]
      }
      if (logs.data.length === 0) {
        await Bun.sleep(5)
        continue
      }
      const entry = await world.call(`/api/v1/logs/${logs.data[0]?.id}`)
      expect(entry.json).toMatchObject({
        data: { level: 'error', executionData: { finalOutput: { code: 'CLIENT_CLOSED' } } },
      })
      break
    }
  })
})
