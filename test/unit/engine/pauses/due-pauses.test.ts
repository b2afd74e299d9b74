import { expect, test } from 'bun:test'
import type { JobFacts } from '../../../../src/domain/run/job.ts'
import { DuePauses } from '../../../../src/engine/jobs/due-pauses.ts'
import { ManualClock } from '../../../support/clock.ts'

/** Pauses in memory, by the time at which they end. */
function world(times: readonly number[], lookEveryMs?: number) {
  const clock = new ManualClock(0)
  const open = [...times]
  const resumed: number[] = []
  let failures = 0
  let waiting = 0
  const due = new DuePauses({
    clock,
    lookEveryMs,
    store: {
      async endDuePauses(at, limit) {
        if (failures > 0) {
          failures -= 1
          throw new Error('The disk is full.')
        }
        open.sort((a, b) => a - b)
        const ended = open.filter((until) => until <= at).slice(0, limit)
        open.splice(0, ended.length)
        return { jobs: ended.map((until) => ({ createdAt: until }) as JobFacts), nextAt: open[0] ?? null }
      },
    },
    resume: (jobs) => void resumed.push(...jobs.map(({ createdAt }) => createdAt)),
    waiting: () => waiting,
    onFailure: () => undefined,
  })
  const settle = async () => {
    for (let turn = 0; turn < 20; turn += 1) await Promise.resolve()
  }
  return {
    clock,
    due,
    open,
    resumed,
    settle,
    wait: (runs: number) => {
      waiting = runs
    },
    fail: (times_: number) => {
      failures = times_
    },
    async advance(ms: number) {
      clock.advance(ms)
      await settle()
    },
  }
}

test('pauses end at their times, however far away the next one is', async () => {
  const year = 365 * 86_400_000
  const it = world([1_000, 1_000, 5_000, year])
  it.due.look()
  await it.advance(0)
  expect(it.resumed).toEqual([])
  await it.advance(999)
  expect(it.resumed).toEqual([])
  await it.advance(1)
  expect(it.resumed).toEqual([1_000, 1_000])
  await it.advance(4_000)
  expect(it.resumed).toEqual([1_000, 1_000, 5_000])
  for (let day = 0; day < 366; day += 1) await it.advance(86_400_000)
  expect(it.resumed.at(-1)).toBe(year)
  expect(it.clock.pending).toBe(0)
})

test('a new pause that ends before all others is not late', async () => {
  const it = world([9_000])
  it.due.look()
  await it.advance(0)
  it.open.push(2_000)
  it.due.note(2_000)
  it.due.note(null)
  await it.advance(2_000)
  expect(it.resumed).toEqual([2_000])
  await it.advance(7_000)
  expect(it.resumed).toEqual([2_000, 9_000])
})

test('many pauses that end together end in several transactions, all of them', async () => {
  const it = world(Array.from({ length: 1_234 }, () => 100))
  it.due.look()
  await it.advance(0)
  await it.advance(100)
  await it.settle()
  expect(it.resumed).toHaveLength(1_234)
})

test('a failure of the store delays pauses, and loses none', async () => {
  const it = world([100])
  it.due.look()
  await it.advance(0)
  it.fail(2)
  await it.advance(100)
  await it.advance(1_000)
  expect(it.resumed).toEqual([])
  await it.advance(1_000)
  expect(it.resumed).toEqual([100])
})

test('with other processes, it looks again now and then', async () => {
  const it = world([], 5_000)
  it.due.look()
  await it.advance(0)
  it.open.push(1_000)
  await it.advance(4_999)
  expect(it.resumed).toEqual([])
  await it.advance(1)
  expect(it.resumed).toEqual([1_000])
})

test('nothing ends after it was closed', async () => {
  const it = world([100])
  it.due.look()
  await it.advance(0)
  await it.due.close()
  it.due.note(50)
  await it.advance(1_000)
  expect(it.resumed).toEqual([])
})

test('pauses do not end while thousands of runs wait to continue', async () => {
  const it = world([100, 200])
  it.due.look()
  it.wait(5_000)
  await it.advance(1_000)
  expect(it.resumed).toEqual([])
  it.wait(4_999)
  await it.advance(50)
  expect(it.resumed).toEqual([100, 200])
})
