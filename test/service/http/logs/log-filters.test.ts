import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { logIdOf } from '../../../../src/domain/ids.ts'
import { rowsReadMax } from '../../../../src/store/sqlite/logs/log-search.ts'
import { appendLogs } from '../../../support/store/append-logs.ts'
import { HttpWorld, type Parsed } from '../world.ts'

let few: HttpWorld
beforeAll(async () => {
  few = await HttpWorld.open()
})
afterAll(() => few.close())

describe('filters', () => {
  const names = new Map<string, string>()
  const met = async (query: string) => {
    const { status, json } = await few.logs(`&order=asc${query}`)
    expect(status).toBe(200)
    return json.data.map(({ id }: Parsed) => names.get(id)).join('')
  }
  let ids: Record<'plain' | 'sales' | 'eu', string>
  let executionId: string
  beforeAll(async () => {
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
    const failure = { code: 'CLIENT_CLOSED', message: 'The caller left.', blockId: null, blockName: null }
    const stopped = { level: 'error', cancelled: true, failure }
    const day = (n: number) => ({ startedAt: Date.UTC(2025, 0, n), endedAt: Date.UTC(2025, 0, n) + 5 })
    await add('a', 'plain', { ...day(1), durationMs: 10, costTotal: 0, labels: { customer: 'ZÜRICH: AG' } })
    executionId = (await add('b', 'sales', { ...day(2), ...stopped, durationMs: 20, costTotal: 1 })).executionId
    const labels = { customer: 'Acme', region: 'EU' }
    const cost = '{"total":2,"tokens":{"prompt":0,"completion":0,"total":0},"models":{"gpt":{}}}'
    await add('c', 'eu', { ...day(3), trigger: 'webhook', durationMs: 30, costTotal: 2, cost, models: ['gpt'], labels })
    // On PostgreSQL, entries in this order appear when every transaction of the server that began before has ended.
    while ((await met('')) !== 'abc') await Bun.sleep(5)
  })
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
    ['&minCost=1e-7&maxCost=2E0', 'bc'],
    ['&model=gpt', 'c'],
    ['&model=toString', ''],
    ['&status=error', ''],
    ['&status=cancelled', 'b'],
    ['&status=cancelled,success', 'abc'],
    ['&search=CALLER', 'b'],
    ['&search=%C3%BCrich', 'a'],
    ['&search=nothing', ''],
    ['&labels=customer:Z%C3%9CRICH: AG', 'a'],
    ['&labels=customer:Acme&labels=region:EU', 'c'],
    ['&labels=customer:Acme&labels=region:US', ''],
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

  test('apply to every page of a query', async () => {
    const first = await few.logs('&order=asc&level=info&limit=1')
    expect(first.json.data.map(({ id }: Parsed) => names.get(id))).toEqual(['a'])
    const second = await few.logs(`&order=asc&level=info&limit=1&cursor=${first.json.nextCursor}`)
    expect(second.json.data.map(({ id }: Parsed) => names.get(id))).toEqual(['c'])
  })

  test('a rare filter returns an empty page with a cursor instead of searching without limit', async () => {
    const many = await HttpWorld.open()
    try {
      const id = await many.deployed()
      await many.log(id, { level: 'error' })
      const rows = Array.from({ length: rowsReadMax }, () => many.logRow(id))
      await appendLogs(many.store, rows)
      const first = await many.logs('&level=error')
      expect(first.json.data).toEqual([])
      expect(first.json.nextCursor).toBeString()
      let last = first
      for (let pages = 1; last.json.nextCursor !== null && pages < 100; pages += 1) {
        expect(last.json.data).toEqual([])
        last = await many.logs(`&level=error&cursor=${last.json.nextCursor}`)
      }
      expect(last.json.data).toHaveLength(1)
    } finally {
      await many.close()
    }
  })
})

describe('invalid parameters', () => {
  test('are reported together, each with the valid values', async () => {
    const query =
      '&limit=0&order=up&level=warn&triggers=api,cron&startDate=yesterday&endDate=2025-02-30&minDurationMs=-1' +
      '&maxCost=1e999&details=all&includeTraceSpans=yes&workflowIds=,&executionId='
    const { status, json } = await few.logs(query)
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
      maxCost: 'maxCost must be a number of 0 or more, not "1e999".',
      details: 'details must be basic or full, not "all".',
      includeTraceSpans: 'includeTraceSpans must be true, false, 1 or 0, not "yes".',
      workflowIds: 'workflowIds is empty; leave it out instead.',
      executionId: 'executionId is empty; leave it out instead.',
    })
  })

  test('include a missing workspace, and a parameter given twice', async () => {
    const missing = await few.get('/api/v1/logs')
    expect(missing.json.details).toEqual([
      { path: 'workspaceId', message: 'workspaceId must be given; GET /api/workspaces lists yours.' },
    ])
    expect((await few.logs('&limit=1&limit=2')).json.details).toEqual([
      { path: 'limit', message: 'limit must be given once.' },
    ])
  })
})
