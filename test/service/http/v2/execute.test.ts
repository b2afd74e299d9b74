import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { block, document } from '../../../support/make.ts'
import { type CallOptions, ExecutionWorld, echo, start } from '../execution-world.ts'

let world: ExecutionWorld
beforeAll(async () => {
  world = await ExecutionWorld.open()
})
afterAll(() => world.close())

const execute = (id: string, body?: unknown, more: CallOptions = {}) => {
  const sent = body === undefined ? {} : { body }
  return world.call(`/api/v2/workflows/${id}/execute`, { method: 'POST', ...sent, ...more })
}

const failing = document({
  blocks: [start(), block('f', 'function', { code: 'throw new Error("no luck")' })],
  edges: ['start > f'],
})
const responding = document({
  blocks: [start(), block('r', 'response', { data: { a: 1 }, status: 418, headers: { 'x-own': 'yes' } })],
  edges: ['start > r'],
})

describe('a run that ends', () => {
  test('responds with its output, ID and times', async () => {
    const id = await world.deploy(echo)
    const { status, json, headers } = await execute(id, { input: { a: 1 } })
    expect(status).toBe(200)
    expect(json).toEqual({
      data: {
        ...{ runId: expect.any(String), workflowId: id, status: 'completed', error: null, blockOutputs: null },
        output: { result: { a: 1 }, stdout: '', error: null },
        ...{ startedAt: expect.stringMatching(/Z$/), endedAt: expect.stringMatching(/Z$/) },
        durationMs: expect.any(Number),
      },
    })
    expect(headers.get('x-run-id')).toBe(json.data.runId)
    expect(headers.get('cache-control')).toBe('private, no-store')
    for (const name of ['x-ratelimit-limit', 'x-ratelimit-remaining', 'x-ratelimit-reset', 'x-request-id'])
      expect(headers.get(name)).toBeTruthy()
    expect(headers.get('x-execution-id')).toBeNull()
    const log = await world.call(`/api/v1/logs/executions/${json.data.runId}`)
    expect(log.json).toMatchObject({ workflowId: id, executionMetadata: { trigger: 'api' } })
  })

  test('reads an empty body as an empty input', async () => {
    const id = await world.deploy(echo)
    for (const text of ['', '{}']) {
      expect((await execute(id, undefined, { text })).json.data.output.result).toEqual({})
    }
  })

  test('responds with 200 and the failure when it failed', async () => {
    const id = await world.deploy(failing)
    const { status, json } = await execute(id, { input: {} })
    expect(status).toBe(200)
    expect(json.data).toMatchObject({
      status: 'failed',
      output: null,
      error: { code: 'BLOCK_EXECUTION_FAILED', message: expect.stringContaining('no luck'), blockId: 'f' },
    })
  })

  test('puts the content of a response block in the output, and leaves the status and the headers alone', async () => {
    const id = await world.deploy(responding)
    const { status, json, headers } = await execute(id)
    expect(status).toBe(200)
    expect(headers.get('x-own')).toBeNull()
    expect(json.data).toMatchObject({ status: 'completed', output: { data: { a: 1 }, status: 418 } })
  })

  test('has the selected outputs by entry, without those that do not exist', async () => {
    const id = await world.deploy(echo)
    const { json } = await execute(id, {
      input: { a: 1 },
      selectedOutputs: ['F.result.a', 'f.result.b', 'start.input.a'],
    })
    expect(json.data.blockOutputs).toEqual({ 'F.result.a': 1, 'start.input.a': 1 })
    expect(json.data.output.result).toEqual({ a: 1 })
  })
})

describe('a run that exceeds its time limit', () => {
  test('responds with 200 and TIMEOUT', async () => {
    const slow = await ExecutionWorld.open({ 'run-timeout-ms': '1000' })
    try {
      const id = await slow.deploy(
        document({ blocks: [start(), block('f', 'function', { code: 'for (;;) {}' })], edges: ['start > f'] }),
      )
      const path = `/api/v2/workflows/${id}/execute`
      const { status, json } = await slow.call(path, { body: {} })
      expect({ status, state: json.data.status, code: json.data.error.code }).toEqual({
        ...{ status: 200, state: 'failed', code: 'TIMEOUT' },
      })
    } finally {
      await slow.close()
    }
  })
})

describe('an asynchronous run', () => {
  test('responds with 202, its ID and the address of its status', async () => {
    const id = await world.deploy(echo)
    const { status, json, headers } = await execute(id, { input: { a: 1 }, async: true })
    expect(status).toBe(202)
    const { runId, statusUrl } = json.data
    expect(json).toEqual({ data: { runId: expect.any(String), statusUrl: expect.any(String) } })
    expect(statusUrl).toBe(`${world.url}/api/v2/workflows/${id}/runs/${runId}`)
    expect(headers.get('x-run-id')).toBe(runId)
  })

  test('ends after the time that its caller allows', async () => {
    const id = await world.deploy(
      document({ blocks: [start(), block('f', 'function', { code: 'for (;;) {}' })], edges: ['start > f'] }),
    )
    const { json } = await execute(id, { async: true, executionTimeoutSeconds: 1 })
    for (;;) {
      const job = (await world.call(`/api/jobs/${json.data.runId}`)).json
      if (job.status !== 'failed') continue
      expect(job.error).toMatchObject({ code: 'EXECUTION_TIMEOUT', message: expect.stringContaining('1000 ms') })
      return
    }
  })
})

describe('x-run-id', () => {
  const withId = (id: string) => ({ headers: { 'x-run-id': id } })
  const conflict = { code: 'CONFLICT', details: { code: 'RUN_ID_CONFLICT' }, message: expect.any(String) }

  test('names the run, and can be used once, whether the run succeeds or fails', async () => {
    for (const [name, draft] of [echo, failing].entries()) {
      const id = await world.deploy(draft)
      const runId = `run.${name}.once-A_b`
      const first = await execute(id, {}, withId(runId))
      expect(first.json.data).toMatchObject({ runId, status: name === 0 ? 'completed' : 'failed' })
      expect((await world.call(`/api/v1/logs/executions/${runId}`)).json.executionId).toBe(runId)
      for (const body of [{}, { async: true }, { stream: true }]) {
        const again = await execute(id, body, withId(runId))
        expect({ status: again.status, ...again.json }).toEqual({ status: 409, error: conflict })
      }
    }
  })

  test('belongs to one run of the whole installation', async () => {
    const ids = [await world.deploy(echo), await world.deploy(echo)]
    const responses = await Promise.all(
      [0, 1, 2, 3].map((index) => execute(ids[index % 2]!, { async: index > 1 }, withId('contested'))),
    )
    expect(responses.map(({ status }) => (status === 409 ? 409 : 'started')).toSorted()).toEqual([
      409,
      409,
      409,
      'started',
    ])
  })

  test('that is an existing run of any kind is refused', async () => {
    const id = await world.deploy(echo)
    const { runId } = (await execute(id, {})).json.data
    expect((await execute(id, {}, withId(runId))).status).toBe(409)
  })

  test('stays used after a restart', async () => {
    const own = await ExecutionWorld.open()
    try {
      const id = await own.deploy(echo)
      const path = `/api/v2/workflows/${id}/execute`
      expect((await own.call(path, { body: {}, ...withId('kept') })).status).toBe(200)
      await own.restart()
      expect((await own.call(path, { body: {}, ...withId('kept') })).status).toBe(409)
    } finally {
      await own.close()
    }
  })

  test('with other characters than its own, or too long, is refused', async () => {
    const id = await world.deploy(echo)
    for (const bad of ['..', '.', '-a', 'a/b', 'a b', 'a%2f', 'a:b', 'x'.repeat(129)]) {
      const { status, json } = await execute(id, {}, withId(bad))
      expect({ status, path: json.error.details?.[0]?.path }, bad).toEqual({ status: 400, path: ['x-run-id'] })
    }
  })

  test.each([
    ['refuse', 429],
    ['skip', 202],
  ] as const)('is not used up by a start beyond the limits of the workflow: %s', async (beyond, status) => {
    const id = await world.deploy({ ...echo, limits: { rate: { count: 1, windowMs: 60_000 }, beyond } })
    expect((await execute(id, {})).json.data.status).toBe('completed')
    for (const body of [{}, { async: true }, { stream: true }, {}]) {
      const again = await execute(id, body, withId(`beyond-${beyond}`))
      expect([again.status, again.headers.get('x-run-id')], JSON.stringify(body)).toEqual([status, null])
    }
  })

  test('is not used up by a request that is refused', async () => {
    const id = await world.deploy(echo)
    expect((await execute(id, { unknown: 1 }, withId('free'))).status).toBe(400)
    expect((await execute(id, {}, withId('free'))).status).toBe(200)
  })
})

describe('a body', () => {
  const refusals: [string, unknown, string[]][] = [
    ['with an unknown member', { input: {}, triggerType: 'manual' }, ['triggerType']],
    ['with the input at its top', { city: 'Faro' }, ['city']],
    ['that is a list', [1], ['']],
    ['with a text as input', { input: 'x' }, ['input']],
    ['with the wrong types', { async: 'yes', selectedOutputs: 'f.result' }, ['async', 'selectedOutputs']],
    ['that streams an asynchronous run', { async: true, stream: true }, ['stream']],
    ['that limits the time of a synchronous run', { executionTimeoutSeconds: 5 }, ['executionTimeoutSeconds']],
    [
      'with a time limit of more than a week',
      { async: true, executionTimeoutSeconds: 604_801 },
      ['executionTimeoutSeconds'],
    ],
    [
      'that selects outputs of an asynchronous run',
      { async: true, selectedOutputs: ['f.result'] },
      ['selectedOutputs'],
    ],
    ['that wants thinking without a stream', { includeThinking: true }, ['includeThinking']],
    ['that wants tool calls without the protocol', { stream: true, includeToolCalls: true }, ['includeToolCalls']],
    ['that selects an unknown block', { selectedOutputs: ['nobody.result'] }, ['selectedOutputs.0']],
    ['with files as base64', { includeFileBase64: true }, ['includeFileBase64']],
  ]
  for (const [name, body, paths] of refusals) {
    test(`${name} is refused`, async () => {
      const id = await world.deploy(echo)
      const { status, json } = await execute(id, body)
      expect({ status, code: json.error.code }).toEqual({ status: 400, code: 'BAD_REQUEST' })
      const shown = json.error.details.map((each: { path: string[] }) => each.path.join('.'))
      expect(shown).toEqual(paths)
    })
  }

  test('is checked against the input format', async () => {
    const id = await world.deploy(
      document({ blocks: [start([{ name: 'city', type: 'string', required: true }])], edges: [] }),
    )
    const { status, json } = await execute(id, { input: {} })
    expect({ status, details: json.error.details }).toEqual({
      status: 400,
      details: [{ path: ['input', 'city'], message: 'The field "city" is required.' }],
    })
  })

  test('with a very large number of unknown members is refused with few of them', async () => {
    const id = await world.deploy(echo)
    const many = Object.fromEntries(Array.from({ length: 150 }, (_, index) => [`m${index}`, 1]))
    const { json } = await execute(id, many)
    expect(json.error.details.length).toBeLessThanOrEqual(21)
  })
})
