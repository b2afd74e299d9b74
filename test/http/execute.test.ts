import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { App } from '../../src/app.ts'
import { createInstallation } from '../../src/cli/installation.ts'
import type { WorkflowDocument } from '../../src/domain/workflow.ts'
import { startTestApp } from '../app.ts'
import { temporaryFolder } from '../executable.ts'
import { block, document } from '../make.ts'

const folder = temporaryFolder()
let app: App
let apiKey = ''
let workspaceId = ''

beforeAll(async () => {
  app = await startTestApp(folder.path, { 'body-bytes-max': '2000', 'body-bytes-max-files': '4000', 'runs-max': '20' })
  const made = await createInstallation(app.store, Date.now())
  apiKey = made?.apiKey ?? ''
  workspaceId = made?.workspaceId ?? ''
})
afterAll(async () => {
  await app.stop(0)
  folder[Symbol.dispose]()
})

const start = (inputFormat: object[] = []) => block('start', 'api_trigger', { inputFormat })
const echo = document({
  blocks: [start(), block('f', 'function', { code: 'return <api.input>' })],
  edges: ['start > f'],
})
const typed = document({
  blocks: [
    start([
      { name: 'n', type: 'number', required: true },
      { name: 's', type: 'string' },
    ]),
    block('if', 'condition', { conditions: [{ id: 'big', expression: '<api.n> > 10' }] }),
  ],
  edges: ['start > if'],
})

let names = 0
async function deploy(draft: WorkflowDocument, isDeployed = true): Promise<string> {
  names += 1
  const created = await call('/api/workflows', { body: { ...draft, name: `${draft.name} ${names}` } })
  expect(created.status).toBe(201)
  const { id } = created.json as { id: string }
  if (isDeployed) expect((await call(`/api/workflows/${id}/deploy`, { method: 'POST' })).status).toBe(200)
  return id
}

type Options = {
  method?: string
  key?: string | null
  body?: unknown
  text?: string | Uint8Array
  headers?: Record<string, string>
  signal?: AbortSignal
}

async function call(path: string, { method, key = apiKey, body, text, headers, signal }: Options = {}) {
  const sent = text ?? (body === undefined ? undefined : JSON.stringify(body))
  const response = await fetch(app.address.url + path, {
    method: method ?? (sent === undefined ? 'GET' : 'POST'),
    headers: { ...(key === null ? {} : { 'x-api-key': key }), ...headers },
    ...(sent === undefined ? {} : { body: sent }),
    ...(signal ? { signal } : {}),
  })
  const answer = await response.text()
  const isJson = response.headers.get('content-type')?.startsWith('application/json') ?? false
  return {
    status: response.status,
    headers: response.headers,
    text: answer,
    json: (isJson ? JSON.parse(answer) : undefined) as unknown,
  }
}

const execute = (id: string, body?: unknown, more: Options = {}) =>
  call(`/api/workflows/${id}/execute`, { method: 'POST', ...(body === undefined ? {} : { body }), ...more })

describe('a run that succeeds', () => {
  test('answers with its output, its id and its times, and its log entry is there at once', async () => {
    const id = await deploy(echo)
    const { status, json, headers } = await execute(id, { a: 1 })
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

    const detail = await call(`/api/v1/logs/executions/${executionId}`)
    expect(detail.json).toMatchObject({ executionId, workflowId: id, executionMetadata: { trigger: 'api' } })
    const literal = await call(`/api/v1/logs/workflow/pt-BR/executions/${executionId}`)
    expect(literal.json).toMatchObject({ executionId, workflowState: { blocks: { f: { type: 'function' } } } })
    const logs = (await call(`/api/v1/logs?workspaceId=${workspaceId}&limit=1`)).json as { data: { id: string }[] }
    const entry = (await call(`/api/v1/logs/${logs.data[0]?.id}`)).json as {
      data: { executionId: string; executionData: { traceSpans: { children: unknown[] }[]; finalOutput: unknown } }
    }
    expect(entry.data).toMatchObject({ executionId, executionData: { finalOutput: output } })
    expect(entry.data.executionData.traceSpans).toMatchObject([
      { type: 'workflow', children: [{ type: 'api_trigger' }, { type: 'function' }] },
    ])
  })

  test('takes its input as the rules of bodies have it', async () => {
    const id = await deploy(echo)
    const resultOf = async (options: Options) =>
      ((await execute(id, undefined, options)).json as { output: { result: unknown } }).output.result
    expect(await resultOf({})).toEqual({})
    expect(await resultOf({ text: '' })).toEqual({})
    expect(await resultOf({ text: '[1]' })).toEqual({ input: [1] })
    expect(await resultOf({ text: 'null' })).toEqual({ input: null })
    expect(await resultOf({ text: '{"input":{"a":1}}' })).toEqual({ a: 1 })
    expect(await resultOf({ text: '{"input":7}' })).toEqual({ input: 7 })
    expect(await resultOf({ text: '{"a":1,"stream":false,"selectedOutputs":[]}' })).toEqual({ a: 1 })
    expect(await resultOf({ text: '{"a":1}', headers: { 'content-type': 'text/plain' } })).toEqual({ a: 1 })
  })

  test('answers with what its response block says, without the envelope', async () => {
    const params = { data: '<api.input.data>', status: '<api.input.status>', headers: [{ key: 'X-Own', value: 'yes' }] }
    const id = await deploy(document({ blocks: [start(), block('r', 'response', params)], edges: ['start > r'] }))
    const json = await execute(id, { data: { a: 1 }, status: 201 })
    expect([json.status, json.json, json.headers.get('x-own')]).toEqual([201, { a: 1 }, 'yes'])
    expect(json.headers.get('x-execution-id')).toBeTruthy()
    const text = await execute(id, { data: 'plain', status: 404 })
    expect([text.status, text.text, text.headers.get('content-type')]).toEqual([
      404,
      'plain',
      'text/plain; charset=utf-8',
    ])
    expect((await execute(id, { data: 'x', status: 204 })).text).toBe('')
  })

  test('runs the latest deployment, also right after it was made', async () => {
    const draft = (n: number) =>
      document({ name: 'Versions', blocks: [start(), block('r', 'response', { data: n })], edges: ['start > r'] })
    const id = await deploy(draft(1))
    expect((await execute(id)).json).toBe(1)
    await call(`/api/workflows/${id}`, { method: 'PUT', body: { ...draft(2), id } })
    expect((await execute(id)).json).toBe(1)
    await call(`/api/workflows/${id}/deploy`, { method: 'POST' })
    expect((await execute(id)).json).toBe(2)
    await call(`/api/workflows/${id}/deployments/1/activate`, { method: 'POST' })
    expect((await execute(id)).json).toBe(1)
    await call(`/api/workflows/${id}/deploy`, { method: 'DELETE' })
    expect((await execute(id)).json).toMatchObject({ code: 'WORKFLOW_NOT_DEPLOYED' })
  })
})

describe('a run that fails', () => {
  test('answers 500 with the block, and its entry is an error with the same output', async () => {
    const id = await deploy(
      document({
        blocks: [start(), block('f', 'function', { code: 'throw new Error("boom")' }, { name: 'My F' })],
        edges: ['start > f'],
      }),
    )
    const { status, json, headers } = await execute(id, {})
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
    const logs = (await call(`/api/v1/logs?workspaceId=${workspaceId}&limit=1`)).json as {
      data: { id: string; level: string }[]
    }
    expect(logs.data[0]).toMatchObject({ level: 'error', executionId })
    const entry = await call(`/api/v1/logs/${logs.data[0]?.id}`)
    expect(entry.json).toMatchObject({
      data: { executionData: { finalOutput: { code: 'EXECUTION_FAILED', blockId: 'f', blockName: 'My F' } } },
    })
  })

  test('by its caller leaving is cancelled and logged as that', async () => {
    const id = await deploy(document({ blocks: [start(), block('w', 'wait', { ms: 60_000 })], edges: ['start > w'] }))
    const caller = new AbortController()
    const gone = execute(id, {}, { signal: caller.signal }).catch(() => 'gone')
    await Bun.sleep(50)
    caller.abort()
    expect(await gone).toBe('gone')
    for (;;) {
      const logs = (await call(`/api/v1/logs?workspaceId=${workspaceId}&workflowIds=${id}`)).json as {
        data: { id: string }[]
      }
      if (logs.data.length === 0) {
        await Bun.sleep(5)
        continue
      }
      const entry = await call(`/api/v1/logs/${logs.data[0]?.id}`)
      expect(entry.json).toMatchObject({
        data: { level: 'error', executionData: { finalOutput: { code: 'CLIENT_CLOSED' } } },
      })
      break
    }
  })
})

describe('the checks of the endpoint', () => {
  test('come in their order: each is seen only by who passed the ones before', async () => {
    const deployed = await deploy(typed)
    const draft = await deploy(typed, false)
    const noTrigger = await deploy(
      document({ blocks: [block('m', 'manual_trigger'), block('w', 'wait', { ms: 1 })], edges: ['m > w'] }),
    )
    const big = { text: 'x'.repeat(3000) }
    const cases: [status: number, code: string, id: string, options: Options][] = [
      [413, 'PAYLOAD_TOO_LARGE', 'nowhere', { text: 'x'.repeat(5000), key: null }],
      [401, 'API_KEY_REQUIRED', deployed, { key: null, ...big }],
      [401, 'INVALID_API_KEY', deployed, { key: 'mrk_wrong', ...big }],
      [401, 'INVALID_API_KEY', 'nowhere', { key: `mrk_${'a'.repeat(36)}` }],
      [404, 'NOT_FOUND', 'nowhere', big],
      [403, 'WORKFLOW_NOT_DEPLOYED', draft, big],
      [404, 'NOT_FOUND', noTrigger, big],
      [413, 'PAYLOAD_TOO_LARGE', deployed, big],
      [400, 'INVALID_JSON', deployed, { text: '{' }],
      [400, 'INVALID_JSON', deployed, { text: `{"n":${'['.repeat(250)}${']'.repeat(250)}}` }],
      [400, 'INVALID_JSON', deployed, { text: new Uint8Array([0x7b, 0xff, 0x7d]) }],
      [400, 'INVALID_INPUT', deployed, { text: '{}' }],
      [400, 'INVALID_INPUT', deployed, { text: '{"n":"many"}' }],
      [400, 'INVALID_INPUT', deployed, { text: '{"n":1,"stream":"yes"}' }],
      [400, 'INVALID_INPUT', deployed, { text: '{"n":1,"selectedOutputs":"a.b"}' }],
    ]
    for (const [status, code, id, options] of cases) {
      const answer = await execute(id, undefined, options)
      const about = JSON.stringify({ id, options }).slice(0, 100)
      expect({ about, status: answer.status, json: answer.json }).toMatchObject({
        about,
        status,
        json: { code, error: expect.any(String) },
      })
      expect(answer.headers.get('x-execution-id')).toBeNull()
    }
    const details = (await execute(deployed, { n: 'x', s: {} })).json as { details: { path: string }[] }
    expect(details.details.map(({ path }) => path)).toEqual(['n', 's'])
  })

  test('count a body in chunks while it comes', async () => {
    const id = await deploy(echo)
    const stream = new ReadableStream({
      pull(controller) {
        controller.enqueue(new TextEncoder().encode('x'.repeat(500)))
      },
    })
    const response = await fetch(`${app.address.url}/api/workflows/${id}/execute`, {
      method: 'POST',
      headers: { 'x-api-key': apiKey },
      body: stream,
    })
    expect(response.status).toBe(413)
    expect(await response.json()).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' })
  })

  test('turn away what there is no free place for, before anything runs', async () => {
    const id = await deploy(document({ blocks: [start(), block('w', 'wait', { ms: 300 })], edges: ['start > w'] }))
    const answers = await Promise.all(Array.from({ length: 30 }, () => execute(id, {})))
    const refused = answers.filter(({ status }) => status === 503)
    expect(answers.filter(({ status }) => status === 200).length).toBe(20)
    expect(refused.length).toBe(10)
    for (const { json, headers } of refused) {
      expect(json).toMatchObject({ code: 'OVERLOADED', error: expect.stringContaining('MILLRACE_RUNS_MAX') })
      expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
    }
  })

  test('let nothing malformed through, and answer each with error and code', async () => {
    const id = await deploy(typed)
    const bodies = fc.oneof(
      fc.string().filter((text) => !isObjectText(text)),
      fc
        .jsonValue()
        .map((value) => JSON.stringify({ n: value ?? 'x' }))
        .filter((text) => !holdsNumber(text)),
      fc.string().map((text) => `{"n":1,"stream":${JSON.stringify(text)}}`),
      fc
        .string()
        .map((text) => `{"n":1}${text}`)
        .filter((text) => text.slice(7).trim() !== ''),
      fc.integer({ min: 201, max: 600 }).map((depth) => `{"n":1,"x":${'['.repeat(depth)}${']'.repeat(depth)}}`),
    )
    await fc.assert(
      fc.asyncProperty(bodies, async (text) => {
        const { status, json } = await execute(id, undefined, { text })
        expect({ text, status }).toEqual({ text, status: expect.any(Number) })
        expect(status).toBeGreaterThanOrEqual(400)
        expect(status).toBeLessThan(500)
        expect(json).toMatchObject({ error: expect.any(String), code: expect.any(String) })
      }),
      { numRuns: 700 },
    )
  })
})

function isObjectText(text: string): boolean {
  try {
    return holdsNumber(text)
  } catch {
    return false
  }
}

function holdsNumber(text: string): boolean {
  const value = JSON.parse(text) as { n?: unknown } | null
  const n = value?.n
  return typeof n === 'number' || (typeof n === 'string' && n !== '' && String(Number(n)) === n)
}
