import { describe, expect, test } from 'bun:test'
import type { Sql } from '../../../../src/store/sqlite/connection.ts'
import { countLogs } from '../../../../src/store/sqlite/logs/log-counts.ts'
import { queryLogs } from '../../../../src/store/sqlite/logs/log-page.ts'
import { zoneRows } from '../../../../src/store/sqlite/logs/zone-maps.ts'
import { restMs, workMs, Yielder } from '../../../../src/store/sqlite/thread/yielder.ts'
import { temporaryFolder } from '../../../support/executable.ts'
import { logFilter, logQuery } from '../../../support/store/log-model.ts'
import { LogTable } from '../log-table.ts'

describe('a yielder', () => {
  test('sleeps after enough work, and then starts counting again', () => {
    const { yielder, work, rests } = world()
    yielder.begin()
    for (let n = 0; n < 30; n += 1) work(workMs / 3)
    expect(rests).toEqual(Array.from({ length: 10 }, () => restMs))
  })

  test('does not delay short work, however long the thread was idle before', () => {
    const { yielder, work, rests, pass } = world()
    for (let n = 0; n < 10; n += 1) {
      pass(60_000)
      yielder.begin()
      work(workMs * 0.9)
    }
    expect(rests).toEqual([])
  })

  test('blocks the thread for the given time', () => {
    const yielder = new Yielder()
    yielder.begin()
    const startedAt = performance.now()
    while (performance.now() - startedAt < workMs) {}
    const restedAt = performance.now()
    yielder.yieldIfDue()
    expect(performance.now() - restedAt).toBeGreaterThan(restMs / 2)
  })
})

test('searching, counting and reading entries yields at least once per zone, or every 32 entries', () => {
  using folder = temporaryFolder()
  const { connection } = tableOf(folder.path)
  let yields = 0
  const sql: Sql = {
    workflows: connection.workflows,
    all: (text, ...values) => connection.all(text, ...values),
    run: (text, ...values) => connection.run(text, ...values),
    get: (text, ...values) => connection.get(text, ...values),
    yieldIfDue() {
      yields += 1
    },
  }
  const yieldsOf = (run: () => unknown) => {
    yields = 0
    run()
    return yields
  }
  const still = () => 0
  const filter = logFilter({ minDurationMs: 1_000_000 })
  expect(yieldsOf(() => queryLogs(sql, logQuery('home', { filter }), still))).toBeGreaterThanOrEqual(zones)
  const counts = { workspaceId: 'home', filter: logFilter(), from: 0, bucketMs: 1e13, count: 1, before: undefined }
  expect(yieldsOf(() => countLogs(sql, counts, still))).toBeGreaterThanOrEqual(zones)
  expect(yieldsOf(() => queryLogs(sql, logQuery('home', { limit: 640 }), still))).toBeGreaterThanOrEqual(20)
  connection.close()
})

const zones = 4

function tableOf(directory: string): LogTable {
  const table = new LogTable(directory)
  table.append(Array.from({ length: zones * zoneRows }, () => ({})))
  return table
}

/** A yielder whose clock moves only during work. */
function world() {
  let nowMs = 0
  const rests: number[] = []
  const pass = (ms: number) => {
    nowMs += ms
  }
  const yielder = new Yielder(
    () => nowMs,
    (ms) => {
      rests.push(ms)
      pass(10 * ms)
    },
  )
  const work = (ms: number) => {
    // Values that rounding errors cannot change.
    pass(ms * 1.01)
    yielder.yieldIfDue()
  }
  return { yielder, work, rests, pass }
}
