import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type LogRow, runStatuses } from '../../../../src/domain/run/log.ts'
import type { LogCountQuery } from '../../../../src/store/log-query.ts'
import { countLogs } from '../../../../src/store/sqlite/logs/log-counts.ts'
import { ZoneMapMaker, zoneRows } from '../../../../src/store/sqlite/logs/zone-maps.ts'
import { temporaryFolder } from '../../../support/executable.ts'
import { admits, logFilter, statusOf } from '../../../support/store/log-model.ts'
import { LogTable } from '../log-table.ts'

const rowCount = 24 * zoneRows
const startMs = Date.UTC(2025, 5, 1)

let table: LogTable
let rows: LogRow[]
let folder: ReturnType<typeof temporaryFolder>
beforeAll(() => {
  folder = temporaryFolder()
  table = new LogTable(folder.path)
  rows = table.append(drafts())
  const maker = new ZoneMapMaker()
  // The newest rows have no zone map yet.
  for (let made = 0; made < 20; made += 1) table.connection.write(() => maker.step(table.connection, 'home'))
})
afterAll(() => {
  table.connection.close()
  folder[Symbol.dispose]()
})

/** One run per second, each recorded up to ten minutes after it started. */
function drafts(): Partial<LogRow>[] {
  return Array.from({ length: rowCount }, (_, index) => {
    const startedAt = startMs + index * 1_000 - ((index * 7_919) % 600) * 1_000
    return {
      ...{ startedAt, endedAt: startedAt + 10, durationMs: index % 97, costTotal: (index % 4) / 4 },
      workflowId: `w${index % 3}`,
      level: index % 11 === 0 ? 'error' : 'info',
      models: index % 5 === 0 ? ['gpt'] : [],
    }
  })
}

/** Counts in parts, compares the sum with the model, and returns the number of parts. */
function expectExact(query: Omit<LogCountQuery, 'before'>, clock: () => number): number {
  const { filter, from, bucketMs, count } = query
  const sum = nothing(count)
  let parts = 1
  for (let before: number | undefined; ; parts += 1) {
    const { position, ...part } = countLogs(table.connection, { ...query, before }, clock)
    for (const name of ['success', 'error', 'cancelled', 'cost'] as const) {
      for (const [at, value] of part[name].entries()) sum[name][at]! += value
    }
    if (position === null) break
    before = position
  }
  const wanted = nothing(count)
  for (const row of rows) {
    const bucket = Math.floor((row.startedAt - from) / bucketMs)
    if (bucket < 0 || bucket >= count || !admits(filter, row, LogTable.folderIds)) continue
    wanted[statusOf(row)][bucket]! += 1
    wanted.cost[bucket]! += row.costTotal
  }
  expect(sum).toEqual(wanted)
  return parts
}

function nothing(count: number) {
  const zeros = () => Array.from({ length: count }, () => 0)
  return { success: zeros(), error: zeros(), cancelled: zeros(), cost: zeros() }
}

/** A clock that does not move, and one that exceeds the time limit at every step. */
const still = () => 0
const hasty = () => {
  let now = 0
  return () => (now += 1_000)
}

describe('counts of entries over time', () => {
  const anyFilter = fc.record(
    {
      workflowIds: fc.uniqueArray(fc.constantFrom('w0', 'w1', 'w2', 'unknown'), { minLength: 1 }),
      level: fc.constantFrom<LogRow['level'][]>('info', 'error'),
      statuses: fc.uniqueArray(fc.constantFrom(...runStatuses), { minLength: 1 }),
      startDate: fc.integer({ min: -10, max: rowCount }).map((second) => startMs + second * 1_000),
      maxDurationMs: fc.constantFrom(0, 50, 96),
      model: fc.constantFrom('gpt', 'none'),
    },
    { requiredKeys: [] },
  )
  const anyBuckets = fc.record({
    from: fc.integer({ min: -1_000, max: rowCount }).map((second) => startMs + second * 1_000),
    bucketMs: fc.constantFrom(1_000, 7_777, 600_000, 86_400_000),
    count: fc.integer({ min: 1, max: 40 }),
  })

  test('are exact for every filter, in one part and in several', () => {
    fc.assert(
      fc.property(anyFilter, anyBuckets, (filter, buckets) => {
        const query = { workspaceId: 'home', filter: logFilter(filter), ...buckets }
        expect(expectExact(query, still)).toBe(1)
        expectExact(query, hasty())
      }),
      { numRuns: 60 },
    )
  })

  test('stop at their time limit and continue from there', () => {
    const all = { from: startMs - 3_600_000, bucketMs: 86_400_000, count: 2 }
    const parts = expectExact({ workspaceId: 'home', filter: logFilter(), ...all }, hasty())
    expect(parts).toBeWithin(2, 24)
  })

  test('are zero for an empty workspace', () => {
    const query = { filter: logFilter(), from: 0, bucketMs: 1_000, count: 2, before: undefined }
    expect(countLogs(table.connection, { ...query, workspaceId: 'nowhere' })).toEqual({ ...nothing(2), position: null })
  })
})
