// Long because it is one list: the promises of the search.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { sequenceAt } from '../../../../src/domain/ids.ts'
import { type LogRow, runStatuses } from '../../../../src/domain/run/log.ts'
import type { LogFilter, LogPage, LogQuery } from '../../../../src/store/log-query.ts'
import type { Sql } from '../../../../src/store/sqlite/connection.ts'
import { queryLogs } from '../../../../src/store/sqlite/logs/log-page.ts'
import { rowsReadMax } from '../../../../src/store/sqlite/logs/log-search.ts'
import { ZoneMapMaker, zoneRows } from '../../../../src/store/sqlite/logs/zone-maps.ts'
import { retainLogs } from '../../../../src/store/sqlite/upkeep/retention.ts'
import { temporaryFolder } from '../../../support/executable.ts'
import { admits, entriesOf, logFilter, logQuery, walkPages } from '../../../support/store/log-model.ts'
import { LogTable } from '../log-table.ts'

const rowCount = 7 * zoneRows + 300
const startMs = Date.UTC(2025, 5, 1)
const minuteMs = 60_000

type World = { table: LogTable; rows: LogRow[]; remove(): void }

/**
 * How many rows have zone maps: all, none, some. In the last state all have, and retention has deleted the oldest rows
 * and half a zone.
 */
const states = ['zones', 'tail', 'both', 'trimmed'] as const
let worlds: Record<(typeof states)[number], World>

beforeAll(() => {
  worlds = { zones: newWorld(), tail: newWorld(), both: newWorld(), trimmed: newWorld() }
  expect(makeZones(worlds.zones.table)).toBe(7)
  expect(makeZones(worlds.both.table, 3)).toBe(3)
  expect(makeZones(worlds.trimmed.table)).toBe(7)
  const { connection } = worlds.trimmed.table
  const before = worlds.trimmed.rows[Math.floor(2.5 * zoneRows)]!.sequence
  const bounds = { before, bytesMax: Number.MAX_SAFE_INTEGER, workMs: 1_000 }
  while (!connection.write(() => retainLogs(connection, bounds, () => performance.now())).done) {}
  const left = new Set(entriesOf(page(worlds.trimmed, { limit: 1_000 })).map(({ executionId }) => executionId))
  const first = worlds.trimmed.rows.findIndex(({ executionId }) => left.has(executionId))
  expect(first).toBeWithin(zoneRows, Math.floor(2.5 * zoneRows))
  worlds.trimmed.rows = worlds.trimmed.rows.slice(first)
})

afterAll(() => {
  for (const world of Object.values(worlds)) world.remove()
})

function newWorld(drafts: readonly Partial<LogRow>[] = manyDrafts()): World {
  const folder = temporaryFolder()
  const table = new LogTable(folder.path)
  const rows: LogRow[] = []
  for (let at = 0; at < drafts.length; at += 500) rows.push(...table.append(drafts.slice(at, at + 500)))
  const remove = () => {
    table.connection.close()
    folder[Symbol.dispose]()
  }
  return { table, rows, remove }
}

function makeZones({ connection }: LogTable, most = 1_000): number {
  const maker = new ZoneMapMaker()
  let made = 0
  while (made < most && connection.write(() => maker.step(connection, 'home'))) made += 1
  return made
}

const endings: readonly Pick<LogRow, 'level' | 'cancelled' | 'failure' | 'labels'>[] = [
  ...Array.from({ length: 5 }, () => ({ level: 'info' as const })),
  { level: 'info', labels: { customer: 'Acme', region: 'EU: "north"' } },
  { level: 'info', labels: { customer: 'Zürich AG' } },
  { level: 'error', failure: failureNote('The request timed out'), labels: { customer: 'Acme' } },
  { level: 'error', cancelled: true, failure: { ...failureNote('The run was cancelled.'), code: 'CANCELLED' } },
]

function failureNote(message: string) {
  return { code: 'EXECUTION_FAILED' as const, message, blockId: 'b1', blockName: 'Fetch order' }
}

/** Realistic rows: one workflow runs often, others rarely; models come and go; times mostly increase. */
function manyDrafts(): Partial<LogRow>[] {
  const [drafts] = fc.sample(
    fc.array(
      fc.record({
        workflowId: fc.constantFrom('w0', 'w0', 'w0', 'w0', 'w1', 'w2', 'w3'),
        ending: fc.constantFrom(...endings),
        partial: fc.constantFrom(undefined, undefined, true as const),
        trigger: fc.constantFrom<LogRow['trigger'][]>('api', 'api', 'webhook', 'schedule', 'manual'),
        lateMs: fc.integer({ min: 0, max: 5 * minuteMs }),
        durationMs: fc.oneof(fc.integer({ min: 0, max: 50 }), fc.double({ min: 0, max: 60_000, noNaN: true })),
        costTotal: fc.oneof(fc.constant(0), fc.constantFrom(0.25, 0.5, 1)),
        models: fc.constantFrom<string[][]>([], [], ['gpt'], ['gpt', 'claude'], ['claude']),
      }),
      { minLength: rowCount, maxLength: rowCount, size: 'max' },
    ),
    { seed: 7, numRuns: 1 },
  )
  return drafts!.map(({ lateMs, ending, partial, ...rest }, index) => {
    const draft = { ...rest, ...ending, ...(partial && { partial }) }
    const startedAt = startMs + index * 1_000 - lateMs
    const row: Partial<LogRow> = { ...draft, startedAt, endedAt: startedAt + 10 }
    // These values occur in one or two zones only, so a search can skip the others.
    if (index > 2 * zoneRows && index < 2 * zoneRows + 20) row.workflowId = 'w4'
    if (index > 4 * zoneRows && index < 4 * zoneRows + 9) row.models = ['rare']
    if (index === 5 * zoneRows || index === 5 * zoneRows - 1) Object.assign(row, { trigger: 'chat', costTotal: 7 })
    return row
  })
}

/** A clock that does not move, so that searches end only at their other limits. */
const still = () => 0

const page = ({ table }: World, more: Partial<LogQuery>): LogPage =>
  queryLogs(table.connection, logQuery('home', more), still)

async function expectExact(world: World, query: LogQuery, clock = still): Promise<LogPage[]> {
  const store = { queryLogs: async (each: LogQuery) => queryLogs(world.table.connection, each, clock) }
  const { sequences, pages } = await walkPages(store, query)
  const { filter, order, limit } = query
  const after = query.after?.at(-1)
  const wanted = world.rows
    .filter((row) => admits(filter, row, LogTable.folderIds))
    .map(({ sequence }) => sequence)
    .filter((sequence) => after === undefined || (order === 'asc' ? sequence > after : sequence < after))
  expect(sequences).toEqual(order === 'asc' ? wanted : wanted.toReversed())
  for (const { count, end } of pages) if (end === 'limit') expect(count).toBe(limit)
  return pages
}

const orders = ['asc', 'desc'] as const
const folderIds = [...new Set([...LogTable.folderIds.values()].flat()), 'fld_unknown']
const anyList = <Item>(...items: Item[]) => fc.uniqueArray(fc.constantFrom(...items), { minLength: 1, maxLength: 3 })
const edgeMs = fc.integer({ min: -10, max: rowCount + 10 }).map((index) => startMs + index * 1_000)

/** One value for each filter. */
const anyFilter = {
  workflowIds: anyList('w0', 'w1', 'w2', 'w3', 'w4', 'w9', 'elsewhere', 'unknown'),
  folderIds: anyList(...folderIds),
  triggers: anyList<LogRow['trigger']>('api', 'webhook', 'schedule', 'manual', 'chat'),
  level: fc.constantFrom<LogRow['level'][]>('info', 'error'),
  startDate: edgeMs,
  endDate: edgeMs,
  minDurationMs: fc.constantFrom(0, 25, 50, 59_000, 70_000),
  maxDurationMs: fc.constantFrom(0, 25, 50, 59_000, 70_000),
  minCost: fc.constantFrom(0, 0.25, 1, 7, 7.5),
  maxCost: fc.constantFrom(0, 0.25, 1, 7, 7.5),
  model: fc.constantFrom('gpt', 'claude', 'rare', 'none'),
  statuses: anyList(...runStatuses),
  search: fc.constantFrom('TIMED', 'fetch ORDER', 'acme', 'zÜrich', 'w3', 'cancelled', 'nothing at all', '0a-1', '"'),
  labels: fc.constantFrom(...([[['customer', 'Acme']], [['customer', 'acme']], [['region', 'EU: "north"']]] as const), [
    ['customer', 'Acme'],
    ['region', 'EU: "north"'],
  ] as const),
} satisfies { [Name in Exclude<keyof LogFilter, 'executionId'>]: fc.Arbitrary<unknown> }

const somewhere = fc.option(
  fc.nat(rowCount * 4).map((offset) => [1_000 + offset]),
  { nil: undefined },
)
const anyQuery = fc.record({
  order: fc.constantFrom(...orders),
  limit: fc.constantFrom(9, 100, 1_000),
  after: somewhere,
})

for (const state of states) {
  describe(`entries with ${state}`, () => {
    for (const name of Object.keys(anyFilter) as (keyof typeof anyFilter)[]) {
      test(`are those that ${name} admits, in both orders, from any position`, async () => {
        await fc.assert(
          fc.asyncProperty(anyFilter[name], anyQuery, async (value, query) => {
            await expectExact(worlds[state], logQuery('home', { ...query, filter: logFilter({ [name]: value }) }))
          }),
          { numRuns: 12 },
        )
      })
    }

    test('are those that all filters together admit', async () => {
      const filters = fc.record(anyFilter, { requiredKeys: [] }).map((filter) => logFilter(filter))
      await fc.assert(
        fc.asyncProperty(filters, anyQuery, async (filter, query) => {
          await expectExact(worlds[state], logQuery('home', { ...query, filter }))
        }),
        { numRuns: 60 },
      )
    })

    test('are all entries without a filter', async () => {
      for (const order of orders) await expectExact(worlds[state], logQuery('home', { order, limit: 333 }))
    })

    test('are the entry of an execution, if the other filters admit it', async () => {
      const { rows } = worlds[state]
      for (const index of [0, 700, rows.length - 1]) {
        const { executionId, level, sequence } = rows[index]!
        const other = level === 'info' ? 'error' : 'info'
        for (const order of orders) {
          for (const after of [undefined, [sequence - 1], [sequence], [sequence + 1]]) {
            for (const more of [{}, { level }, { level: other } as const, { workflowIds: ['unknown'] }]) {
              const filter = logFilter({ executionId, ...more })
              await expectExact(worlds[state], logQuery('home', { order, after, filter }))
            }
          }
        }
      }
      expect(page(worlds[state], { filter: logFilter({ executionId: 'unknown' }) })).toMatchObject({ count: 0 })
      const { executionId } = entriesOf(queryLogs(worlds[state].table.connection, logQuery('other', { limit: 1 })))[0]!
      expect(page(worlds[state], { filter: logFilter({ executionId }) })).toMatchObject({ count: 0 })
    })
  })
}

describe('a search', () => {
  /** The number of scan ranges whose rows it reads. */
  const readsOf = ({ table: { connection } }: World, filter: Partial<LogFilter>, order: 'asc' | 'desc') => {
    let reads = 0
    const counting: Sql = {
      workflows: connection.workflows,
      get: (text, ...values) => connection.get(text, ...values),
      run: (text, ...values) => connection.run(text, ...values),
      all(text, ...values) {
        if (/^SELECT sequence, execution_id/.test(text)) reads += 1
        return connection.all(text, ...values)
      },
    }
    const { count } = queryLogs(counting, logQuery('home', { filter: logFilter(filter), order }), still)
    return { count, reads }
  }

  test('reads only the zones that may contain matches, and the rows after the last zone', () => {
    for (const order of orders) {
      const read = (filter: Partial<LogFilter>) => readsOf(worlds.zones, filter, order)
      expect(read({ model: 'rare' })).toEqual({ count: 8, reads: 2 })
      expect(read({ workflowIds: ['w4'] })).toEqual({ count: 19, reads: 2 })
      expect(read({ workflowIds: ['w4', 'w9'], level: 'error' }).reads).toBe(2)
      expect(read({ workflowIds: ['w4'], model: 'rare' })).toEqual({ count: 0, reads: 1 })
      // The two entries are on either side of a border.
      expect(read({ triggers: ['chat'] })).toEqual({ count: 2, reads: 3 })
      expect(read({ minCost: 7 })).toEqual({ count: 2, reads: 3 })
      expect(read({ minCost: 8 })).toEqual({ count: 0, reads: 1 })
      expect(read({ startDate: startMs + rowCount * 1_000 })).toEqual({ count: 0, reads: 1 })
      expect(read({ endDate: startMs - 3_600_000 })).toEqual({ count: 0, reads: 1 })
      expect(read({ workflowIds: ['unknown'] })).toEqual({ count: 0, reads: 0 })
      expect(readsOf(worlds.tail, { minCost: 8 }, order)).toEqual({ count: 0, reads: 8 })
    }
  })

  test('continues after the newest entry it has seen, whatever the filter admitted', () => {
    const newest = worlds.zones.rows.at(-1)!.sequence
    for (const filter of [{}, { triggers: ['chat'] } as const, { minCost: 100 }, { workflowIds: ['unknown'] }]) {
      expect(page(worlds.zones, { filter: logFilter(filter), after: [newest - 50] })).toMatchObject({
        position: [newest],
        end: 'last',
      })
    }
  })

  test('continues a minute before a position of PostgreSQL, which is in the order of commits', () => {
    const minute = sequenceAt(60_000) - sequenceAt(0)
    const newest = worlds.zones.rows.at(-1)!.sequence
    expect(page(worlds.zones, { after: [70_000, newest + minute - 1] })).toMatchObject({ count: 1, position: [newest] })
    expect(page(worlds.zones, { after: [70_000, newest + minute] })).toMatchObject({ count: 0 })
  })

  test('stops after its time limit and continues from there', async () => {
    let now = 0
    const slow = () => {
      now += 1
      return now
    }
    const drafts = manyDrafts()
    const long = newWorld([...drafts, ...drafts, ...drafts])
    try {
      expect(makeZones(long.table, 12)).toBe(12)
      for (const order of orders) {
        for (const filter of [{ minDurationMs: 59_990 }, { triggers: ['chat'] } as const, { model: 'rare' }]) {
          const query = logQuery('home', { order, filter: logFilter(filter), limit: 1_000 })
          const pages = await expectExact(long, query, slow)
          expect(pages.length).toBe('minDurationMs' in filter ? 3 : 2)
        }
      }
    } finally {
      long.remove()
    }
  })

  test('stops after its row limit and continues from there', async () => {
    const count = rowsReadMax + 2 * zoneRows
    const isNearBound = (index: number) =>
      Math.abs(index - rowsReadMax) < 20 || Math.abs(count - index - rowsReadMax) < 20
    const world = newWorld(
      Array.from({ length: count }, (_, index) => ({ level: isNearBound(index) ? 'error' : 'info' }) as const),
    )
    try {
      const { connection } = world.table
      world.rows.push(...world.table.append([{}]))
      const filter = logFilter({ level: 'error' })
      for (const state of ['tail', 'zones']) {
        if (state === 'zones') connection.run('UPDATE log_zones SET levels = 3')
        for (const order of orders) {
          const pages = await expectExact(world, logQuery('home', { order, filter }))
          expect(pages.map(({ end }) => end)).toEqual(['bound', 'last'])
        }
        makeZones(world.table)
      }
    } finally {
      world.remove()
    }
  })
})
