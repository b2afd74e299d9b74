import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { logIdOf } from '../../src/domain/ids.ts'
import { rowsScannedMax } from '../../src/http/log-page.ts'
import { HttpWorld, type Parsed } from './world.ts'

let world: HttpWorld
let workflowId: string
let inFolder: string
beforeAll(async () => {
  world = await HttpWorld.open()
  workflowId = await world.deployed({ description: 'What it does' })
  inFolder = await world.deployed({ folder: 'sales/eu' })
})
afterAll(() => world.close())

const ids = ({ json }: { json: Parsed }) => json.data.map(({ id }: Parsed) => id)
const logs = (query: string, target = world) => target.get(`/api/v1/logs?workspaceId=${target.workspaceId}${query}`)

describe('a page of log entries', () => {
  test('has the shape of the interface, and limits', async () => {
    const row = await world.log(workflowId, { costTotal: 0.25 })
    const { status, json, headers } = await logs('&limit=1')
    expect(status).toBe(200)
    expect(headers.get('content-type')).toStartWith('application/json')
    expect(json).toEqual({
      data: [
        {
          id: logIdOf(row.sequence),
          workflowId,
          executionId: row.executionId,
          level: 'info',
          trigger: 'api',
          startedAt: '2025-06-01T12:00:00.000Z',
          endedAt: '2025-06-01T12:00:00.012Z',
          totalDurationMs: 12,
          cost: { total: 0.25 },
          files: null,
        },
      ],
      nextCursor: null,
      limits: {
        workflowExecutionRateLimit: {
          sync: { limit: 100, remaining: 99, resetAt: '2030-01-01T00:00:00.000Z' },
          async: { limit: 200, remaining: 0, resetAt: '2030-01-01T00:00:00.000Z' },
        },
        usage: { currentPeriodCost: 1.5, limit: 10, plan: 'free', isExceeded: false },
      },
    })
  })

  test('shows more when it is asked to', async () => {
    const cost = { total: 0.5, tokens: { prompt: 1, completion: 2, total: 3 }, models: {} }
    await world.log(workflowId, { costTotal: 0.5, cost: JSON.stringify(cost), finalOutput: '{"a":[1,"ü"]}' })
    const [plain] = (await logs('&limit=1')).json.data
    for (const member of ['workflow', 'finalOutput', 'traceSpans']) expect(plain).not.toHaveProperty(member)
    const [full] = (await logs('&limit=1&details=full&includeFinalOutput=1&includeTraceSpans=true')).json.data
    expect(full).toMatchObject({
      cost,
      finalOutput: { a: [1, 'ü'] },
      traceSpans: [{ id: 's1' }],
      workflow: { id: workflowId, description: 'What it does' },
    })
    const [outputs] = (await logs('&limit=1&includeFinalOutput=true&includeTraceSpans=0')).json.data
    expect(outputs.finalOutput).toEqual({ a: [1, 'ü'] })
    expect(outputs.cost).toEqual({ total: 0.5 })
    expect(outputs).not.toHaveProperty('traceSpans')
  })
})

describe('walking through pages', () => {
  let small: HttpWorld
  let all: string[]
  beforeAll(async () => {
    small = await HttpWorld.open()
    const id = await small.deployed()
    all = []
    for (let n = 0; n < 7; n++) all.push(logIdOf((await small.log(id, { durationMs: n })).sequence))
  })
  afterAll(() => small.close())

  for (const order of ['asc', 'desc']) {
    for (const limit of [1, 2, 3, 7, 8]) {
      test(`${order}, ${limit} at a time, meets every entry once, in order`, async () => {
        const met: string[] = []
        let cursor: string | null = ''
        for (let pages = 0; cursor !== null && pages < 20; pages++) {
          const page: Parsed = await logs(
            `&order=${order}&limit=${limit}${cursor === '' ? '' : `&cursor=${cursor}`}`,
            small,
          )
          expect(page.status).toBe(200)
          if (order === 'asc') expect(page.json.nextCursor === null).toBe(page.json.data.length === 0)
          met.push(...ids(page))
          cursor = page.json.nextCursor
        }
        expect(met).toEqual(order === 'asc' ? all : [...all].reverse())
      })
    }
  }

  test('a poller that comes back with its cursor meets what came since, once', async () => {
    const poll = await HttpWorld.open()
    try {
      const id = await poll.deployed()
      await poll.log(id)
      const first = await logs('&order=asc', poll)
      expect(first.json.data).toHaveLength(1)
      const cursor = first.json.nextCursor
      expect((await logs(`&order=asc&cursor=${cursor}`, poll)).json).toMatchObject({ data: [], nextCursor: null })
      const late = await poll.log(id)
      const second = await logs(`&order=asc&cursor=${cursor}`, poll)
      expect(ids(second)).toEqual([logIdOf(late.sequence)])
    } finally {
      await poll.close()
    }
  })

  test('a cursor goes on with another page size and other details, and with nothing else', async () => {
    const { nextCursor } = (await logs('&limit=2', small)).json
    expect(ids(await logs(`&limit=3&details=full&includeFinalOutput=1&cursor=${nextCursor}`, small))).toHaveLength(3)
    for (const query of ['&order=asc', '&level=info', '&minDurationMs=0', '&startDate=2020-01-01', '&workflowIds=x']) {
      const { status, json } = await logs(`${query}&cursor=${nextCursor}`, small)
      expect({ query, status, code: json.code }).toEqual({ query, status: 400, code: 'INVALID_CURSOR' })
    }
    const other = await small.workspace()
    const elsewhere = await small.get(`/api/v1/logs?workspaceId=${other}&cursor=${nextCursor}`)
    expect(elsewhere.json.code).toBe('INVALID_CURSOR')
    expect((await logs('&cursor=bm9uc2Vuc2U', small)).json.code).toBe('INVALID_CURSOR')
  })
})

describe('filters', () => {
  let few: HttpWorld
  const names = new Map<string, string>()
  const met = async (query: string) => {
    const { status, json } = await logs(`&order=asc${query}`, few)
    expect(status).toBe(200)
    return json.data.map(({ id }: Parsed) => names.get(id)).join('')
  }
  let ids: Record<'plain' | 'sales' | 'eu', string>
  let executionId: string
  beforeAll(async () => {
    few = await HttpWorld.open()
    ids = {
      plain: await few.deployed(),
      sales: await few.deployed({ folder: 'sales' }),
      eu: await few.deployed({ folder: 'sales/eu' }),
    }
    const add = async (name: string, workflow: keyof typeof ids, more: Parsed) => {
      const row = await few.log(ids[workflow], more)
      names.set(logIdOf(row.sequence), name)
      return row
    }
    const day = (n: number) => ({ startedAt: Date.UTC(2025, 0, n), endedAt: Date.UTC(2025, 0, n) + 5 })
    await add('a', 'plain', { ...day(1), durationMs: 10, costTotal: 0 })
    executionId = (await add('b', 'sales', { ...day(2), level: 'error', durationMs: 20, costTotal: 1 })).executionId
    const cost = '{"total":2,"tokens":{"prompt":0,"completion":0,"total":0},"models":{"gpt":{}}}'
    await add('c', 'eu', { ...day(3), trigger: 'webhook', durationMs: 30, costTotal: 2, cost })
  })
  afterAll(() => few.close())

  const cases: [string, string][] = [
    ['', 'abc'],
    ['&level=error', 'b'],
    ['&level=info', 'ac'],
    ['&triggers=api', 'ab'],
    ['&triggers=webhook, chat', 'c'],
    ['&startDate=2025-01-02', 'bc'],
    ['&startDate=2025-01-02T00:00:00.001Z', 'c'],
    ['&endDate=2025-01-02', 'ab'],
    ['&startDate=2025-01-02T01:00:00%2B01:00&endDate=2025-01-02T00:00:00', 'b'],
    ['&startDate=2025-01-02T01:00:00+01:00', 'bc'],
    ['&minDurationMs=20', 'bc'],
    ['&maxDurationMs=20', 'ab'],
    ['&minCost=1&maxCost=1.5', 'b'],
    ['&model=gpt', 'c'],
    ['&model=toString', ''],
    ['&workflowIds=unknown', ''],
    ['&folderIds=unknown', ''],
    ['&unknownParameter=1', 'abc'],
  ]
  for (const [query, wanted] of cases)
    test(`${query || 'none'} → ${wanted || 'nothing'}`, async () => expect(await met(query)).toBe(wanted))

  test('by workflow, folder and execution', async () => {
    const { json } = await few.get('/api/folders')
    expect(json.data.map(({ path }: Parsed) => path)).toEqual(['sales', 'sales/eu'])
    const [sales, eu] = json.data.map(({ id }: Parsed) => id)
    expect(await met(`&folderIds=${sales}`)).toBe('bc')
    expect(await met(`&folderIds=${eu}`)).toBe('c')
    expect(await met(`&folderIds=${sales}&workflowIds=${ids.sales},${ids.plain}`)).toBe('b')
    expect(await met(`&workflowIds= ${ids.plain} , ${ids.eu}`)).toBe('ac')
    expect(await met(`&executionId=${executionId}`)).toBe('b')
  })

  test('keep their place across pages', async () => {
    const first = await logs('&order=asc&level=info&limit=1', few)
    expect(first.json.data.map(({ id }: Parsed) => names.get(id))).toEqual(['a'])
    const second = await logs(`&order=asc&level=info&limit=1&cursor=${first.json.nextCursor}`, few)
    expect(second.json.data.map(({ id }: Parsed) => names.get(id))).toEqual(['c'])
  })

  test('a rare one answers with an empty page and a cursor rather than search without end', async () => {
    const many = await HttpWorld.open()
    try {
      const id = await many.deployed()
      const row = await many.log(id, { level: 'error' })
      const rows = Array.from({ length: rowsScannedMax }, () => ({
        ...row,
        level: 'info' as const,
        sequence: many.sequence.next(),
        executionId: crypto.randomUUID(),
      }))
      await many.store.appendLogs(rows)
      const first = await logs('&level=error', many)
      expect(first.json.data).toEqual([])
      expect(first.json.nextCursor).toBeString()
      const second = await logs(`&level=error&cursor=${first.json.nextCursor}`, many)
      expect(second.json.data).toHaveLength(1)
      expect(second.json.nextCursor).toBeNull()
    } finally {
      await many.close()
    }
  })
})

describe('parameters that cannot be taken', () => {
  test('are named all at once, each with what would do', async () => {
    const query =
      '&limit=0&order=up&level=warn&triggers=api,cron&startDate=yesterday&endDate=2025-02-30&minDurationMs=-1' +
      '&maxCost=1e3&details=all&includeTraceSpans=yes&workflowIds=,&executionId='
    const { status, json } = await logs(query)
    expect({ status, code: json.code }).toEqual({ status: 400, code: 'INVALID_PARAMETERS' })
    const messages = Object.fromEntries(json.details.map(({ path, message }: Parsed) => [path, message]))
    expect(messages).toEqual({
      limit: 'limit must be a whole number from 1 to 1000, not "0".',
      order: 'order must be desc or asc, not "up".',
      level: 'level must be info or error, not "warn".',
      triggers: 'triggers may hold api, webhook, schedule, manual or chat, not "cron".',
      startDate: 'startDate must be a time such as 2025-01-31T08:00:00Z, or a date, not "yesterday".',
      endDate: 'endDate must be a time such as 2025-01-31T08:00:00Z, or a date, not "2025-02-30".',
      minDurationMs: 'minDurationMs must be a number of 0 or more, not "-1".',
      maxCost: 'maxCost must be a number of 0 or more, not "1e3".',
      details: 'details must be basic or full, not "all".',
      includeTraceSpans: 'includeTraceSpans must be true, false, 1 or 0, not "yes".',
      workflowIds: 'workflowIds is empty; leave it out instead.',
      executionId: 'executionId is empty; leave it out instead.',
    })
  })

  test('a missing workspace, and one parameter given twice', async () => {
    const missing = await world.get('/api/v1/logs')
    expect(missing.json.details).toEqual([
      { path: 'workspaceId', message: 'workspaceId must be given; GET /api/workspaces lists yours.' },
    ])
    expect((await logs('&limit=1&limit=2')).json.details).toEqual([
      { path: 'limit', message: 'limit must be given once.' },
    ])
  })
})

describe('one entry', () => {
  test('has the detail form of the interface', async () => {
    const row = await world.log(workflowId)
    const { json, status } = await world.get(`/api/v1/logs/${logIdOf(row.sequence)}`)
    expect(status).toBe(200)
    const noTokens = { prompt: 0, completion: 0, total: 0 }
    const { name } = (await world.get(`/api/workflows/${workflowId}`)).json
    expect(json.data).toEqual({
      id: logIdOf(row.sequence),
      workflowId,
      executionId: row.executionId,
      level: 'info',
      trigger: 'api',
      startedAt: '2025-06-01T12:00:00.000Z',
      endedAt: '2025-06-01T12:00:00.012Z',
      totalDurationMs: 12,
      cost: { total: 0, tokens: noTokens, models: {} },
      files: null,
      workflow: { id: workflowId, name, description: 'What it does' },
      executionData: { traceSpans: JSON.parse(row.traceSpans), finalOutput: { answer: 42 } },
      limits: json.limits,
    })
    expect(json.limits.usage.plan).toBe('free')
  })

  test('has an empty description where the workflow has none', async () => {
    const row = await world.log(inFolder)
    const { json } = await world.get(`/api/v1/logs/${logIdOf(row.sequence)}`)
    expect(json.data.workflow.description).toBe('')
  })

  test('stays when its workflow is deleted', async () => {
    const id = await world.deployed()
    const row = await world.log(id)
    await world.call('DELETE', `/api/workflows/${id}`)
    expect((await world.get(`/api/v1/logs/${logIdOf(row.sequence)}`)).status).toBe(200)
    const detail = await world.get(`/api/v1/logs/executions/${row.executionId}`)
    expect(Object.keys(detail.json.workflowState.blocks)).toEqual(['start', 'end'])
  })

  test('that does not exist is 404, whatever is asked for', async () => {
    for (const id of [
      'log_zzzzzzzzzzz',
      'log_00000000000',
      'x',
      'log_',
      '%00',
      'log_0000000000A',
      '..',
      'a'.repeat(5000),
    ]) {
      const { status, json } = await world.get(`/api/v1/logs/${encodeURIComponent(id)}`)
      expect({ id: id.slice(0, 20), status, code: json.code }).toEqual({
        id: id.slice(0, 20),
        status: 404,
        code: 'NOT_FOUND',
      })
    }
  })
})

describe('an execution', () => {
  test('is the same at both paths, with the deployment that ran and not the draft', async () => {
    const id = await world.deployed()
    const row = await world.log(id, { version: 1 })
    const draft = (await world.get(`/api/workflows/${id}`)).json
    draft.blocks.end.name = 'Renamed'
    await world.call('PUT', `/api/workflows/${id}`, { body: draft })
    await world.post(`/api/workflows/${id}/deploy`)
    const long = await world.get(`/api/v1/logs/workflow/pt-BR/executions/${row.executionId}`)
    const short = await world.get(`/api/v1/logs/executions/${row.executionId}`)
    expect(long.status).toBe(200)
    expect(short.json).toEqual(long.json)
    expect(long.json).toMatchObject({
      executionId: row.executionId,
      workflowId: id,
      workflowState: { edges: [{ source: 'start', target: 'end' }], loops: {}, parallels: {} },
      executionMetadata: {
        trigger: 'api',
        startedAt: '2025-06-01T12:00:00.000Z',
        endedAt: '2025-06-01T12:00:00.012Z',
        totalDurationMs: 12,
        cost: { total: 0, models: {} },
      },
      limits: { usage: { plan: 'free' } },
    })
    expect(long.json.workflowState.blocks.end.name).toBe('End')
    expect((await world.get(`/api/v1/logs/workflow/en/executions/${row.executionId}`)).status).toBe(404)
  })
})

describe('the rate limit of the external API', () => {
  test('is on every answer, and counts down to 429', async () => {
    const limited = await HttpWorld.open({ rateLimit: 4 })
    try {
      const paths = [
        `/api/v1/logs?workspaceId=${limited.workspaceId}`,
        '/api/v1/logs',
        '/api/v1/logs/none',
        '/api/v1/unknown',
      ]
      const answers = []
      for (const path of paths) answers.push(await limited.get(path))
      expect(answers.map(({ status }) => status)).toEqual([200, 400, 404, 404])
      expect(answers.map(({ headers }) => headers.get('x-ratelimit-remaining'))).toEqual(['3', '2', '1', '0'])
      const last = await limited.get('/api/v1/logs/none')
      expect({ status: last.status, code: last.json.code }).toEqual({ status: 429, code: 'RATE_LIMIT_EXCEEDED' })
      expect(last.headers.get('x-ratelimit-limit')).toBe('4')
      expect(Number(last.headers.get('retry-after'))).toBeGreaterThan(50)
      expect(Date.parse(last.headers.get('x-ratelimit-reset') ?? '')).toBeGreaterThan(Date.now())
    } finally {
      await limited.close()
    }
  })

  test('without a valid key counts against the caller only, never against one with a key', async () => {
    const limited = await HttpWorld.open({ rateLimit: 3 })
    try {
      const statuses = []
      for (const key of [null, 'bad', null, 'bad', null]) {
        const { status, headers } = await limited.get('/api/v1/logs/x', { key })
        expect(headers.get('x-ratelimit-limit')).toBe('3')
        statuses.push(status)
      }
      expect(statuses).toEqual([401, 401, 401, 429, 429])
      expect((await limited.get('/api/v1/logs/x')).status).toBe(404)
      expect((await limited.post('/api/v1/logs/x', {}, { key: null })).status).toBe(429)
    } finally {
      await limited.close()
    }
  })

  test('does not touch management routes', async () => {
    const limited = await HttpWorld.open({ rateLimit: 1 })
    try {
      for (let n = 0; n < 5; n++) {
        const { status, headers } = await limited.get('/api/workspaces')
        expect(status).toBe(200)
        expect(headers.get('x-ratelimit-limit')).toBeNull()
      }
    } finally {
      await limited.close()
    }
  })
})

describe('runs as jobs', () => {
  test('a run in flight is processing, and can be cancelled once', async () => {
    const executionId = crypto.randomUUID()
    const startedAt = Date.UTC(2025, 0, 1)
    world.running.set(executionId, { executionId, workflowId, workspaceId: world.workspaceId, startedAt })
    const path = `/api/workflows/${workflowId}/executions/${executionId}`
    const { json } = await world.get(path)
    expect(json).toEqual({
      success: true,
      taskId: executionId,
      executionId,
      status: 'processing',
      metadata: {
        createdAt: '2025-01-01T00:00:00.000Z',
        startedAt: '2025-01-01T00:00:00.000Z',
        completedAt: null,
        duration: null,
      },
    })
    expect((await world.get(`/api/jobs/${executionId}`)).json).toEqual(json)
    expect((await world.get(`/api/workflows/${inFolder}/executions/${executionId}`)).status).toBe(404)
    expect((await world.get(path, { key: world.stranger })).status).toBe(404)
    const cancelled = await world.post(`${path}/cancel`)
    expect({ status: cancelled.status, json: cancelled.json }).toEqual({
      status: 200,
      json: { success: true, status: 'cancelled' },
    })
    expect(world.cancelled).toEqual([executionId])
    expect((await world.post(`${path}/cancel`)).status).toBe(404)
  })

  test('a run that ended has its output or its error, and cannot be cancelled', async () => {
    const good = await world.log(workflowId)
    const path = `/api/workflows/${workflowId}/executions/${good.executionId}`
    expect((await world.get(path)).json).toMatchObject({
      success: true,
      status: 'completed',
      output: { answer: 42 },
      metadata: { duration: 12 },
    })
    const conflict = await world.post(`${path}/cancel`)
    expect({ status: conflict.status, code: conflict.json.code }).toEqual({ status: 409, code: 'CONFLICT' })

    const failed = await world.log(workflowId, {
      level: 'error',
      finalOutput: '{"error":"It broke.","code":"EXECUTION_FAILED","blockId":"b","blockName":"B"}',
    })
    expect((await world.get(`/api/jobs/${failed.executionId}`)).json).toMatchObject({
      success: false,
      status: 'failed',
      error: { code: 'EXECUTION_FAILED', message: 'It broke.', blockId: 'b', blockName: 'B' },
    })
    const stopped = await world.log(workflowId, {
      level: 'error',
      finalOutput: '{"error":"Gone.","code":"CLIENT_CLOSED"}',
    })
    const { json } = await world.get(`/api/jobs/${stopped.executionId}`)
    expect(json).toMatchObject({
      success: false,
      status: 'cancelled',
      error: { code: 'CLIENT_CLOSED', message: 'Gone.' },
    })
    expect(json).not.toHaveProperty('output')
  })

  test('the usage limits of an account', async () => {
    const { json } = await world.get('/api/users/me/usage-limits')
    expect(json).toEqual({
      success: true,
      rateLimit: {
        sync: { isLimited: false, limit: 100, remaining: 99, resetAt: '2030-01-01T00:00:00.000Z' },
        async: { isLimited: true, limit: 200, remaining: 0, resetAt: '2030-01-01T00:00:00.000Z' },
        authType: 'api',
      },
      usage: { currentPeriodCost: 1.5, limit: 10, plan: 'free' },
    })
  })
})
