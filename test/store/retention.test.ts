import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { AppError } from '../../src/domain/errors.ts'
import { sequenceAt, sequenceOf } from '../../src/domain/ids.ts'
import { Retention, type RetentionOptions } from '../../src/store/retention.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'
import type { Store } from '../../src/store/store.ts'
import { ManualClock } from '../clock.ts'
import { temporaryFolder } from '../executable.ts'
import { appendLogs } from './append-logs.ts'
import { type Installed, install, logRow } from './installed.ts'
import { entriesOf, logQuery } from './log-model.ts'

const start = Date.UTC(2025, 5, 1)
const dayMs = 86_400_000
const minuteMs = 60_000

describe('retention', () => {
  let folder: ReturnType<typeof temporaryFolder>
  let store: Store
  let home: Installed
  let clock: ManualClock
  let swept: { entries: number; bytesFreed: number }[]
  let failures: unknown[]
  let retention: Retention

  beforeEach(async () => {
    folder = temporaryFolder()
    store = await openSqliteStore({ directory: folder.path, sync: 'normal', mode: 'workers' })
    home = await install(store)
    clock = new ManualClock(start)
    swept = []
    failures = []
  })
  afterEach(async () => {
    await retention.stop()
    await store.close()
    folder[Symbol.dispose]()
  })

  const begin = (more: Partial<RetentionOptions> = {}) => {
    const onSwept = (round: { entries: number; bytesFreed: number }) => void swept.push(round)
    const onFailure = (error: unknown) => void failures.push(error)
    const bounds = { days: 30, bytesMax: 10_000_000_000 }
    retention = new Retention({ store, clock, ...bounds, onSwept, onFailure, ...more })
  }
  const recordAt = (atMs: number, count = 1) =>
    appendLogs(
      store,
      Array.from({ length: count }, (_, index) => logRow(home, sequenceAt(atMs) + index)),
    )
  const left = async () => entriesOf(await store.queryLogs(logQuery(home.workspaceId))).map(({ id }) => sequenceOf(id))
  /** Moves the clock to the next step, again and again, until a round has ended. */
  const round = async () => {
    const { lastRoundAt } = retention.counters
    do {
      await clock.whenPending()
      clock.advance(clock.nextInMs!)
      await clock.whenPending()
    } while (retention.counters.lastRoundAt === lastRoundAt)
  }

  test('keeps an entry for its days, to the millisecond', async () => {
    for (const offset of [0, 1, 2, 3]) await recordAt(start + offset)
    // One step a round, so that the clock stands still during it.
    begin({ store: { retain: (bounds) => store.retain({ ...bounds, workMs: 10_000 }) } })
    // The first round comes soon after the start, the others a minute apart.
    await round()
    expect(await left()).toHaveLength(4)
    const toRound = clock.nextInMs!
    clock.setNow(start + 30 * dayMs + 2 - toRound)
    await round()
    expect(await left()).toEqual([2, 3].map((offset) => sequenceAt(start + offset)))
    expect(swept).toEqual([{ entries: 2, bytesFreed: 0 }])
    expect(retention.counters).toMatchObject({ entries: 2, lastRoundAt: start + 30 * dayMs + 2 })
    expect(retention.counters.heldMsMax).toBeGreaterThan(0)
  })

  test('begins a round once a minute, and does nothing in between', async () => {
    begin()
    await round()
    expect(clock.pending).toBe(1)
    expect(clock.nextInMs).toBe(minuteMs)
    await round()
    expect(clock.nextInMs).toBe(minuteMs)
    expect(swept).toEqual([])
  })

  test('makes steps shorter when commits take longer, but worth their commit, with longer pauses between them', async () => {
    const asked: number[] = []
    let commitMs = 0
    begin({
      store: {
        retain: async ({ workMs }) => {
          asked.push(workMs)
          return { entries: 1, bytesFreed: 0, usedBytes: 1, heldMs: workMs + commitMs, heldTo: 0, done: false }
        },
      },
    })
    const settle = async (ms: number) => {
      commitMs = ms
      for (let n = 0; n < 100; n += 1) {
        clock.advance(clock.nextInMs!)
        await clock.whenPending()
      }
      return { workMs: asked.at(-1), pauseMs: clock.nextInMs }
    }
    expect(asked).toEqual([])
    const near = (value: number) => expect.closeTo(value, 2)
    expect(await settle(0)).toEqual({ workMs: near(1), pauseMs: near(16) })
    expect(asked[0]).toBe(0.4)
    expect(await settle(0.3)).toEqual({ workMs: near(0.7), pauseMs: near(16) })
    expect(await settle(0.9)).toEqual({ workMs: near(0.45), pauseMs: near(21.6) })
    expect(await settle(12)).toEqual({ workMs: near(6), pauseMs: near(288) })
    expect(await settle(0)).toEqual({ workMs: near(1), pauseMs: near(16) })
    expect(retention.counters.heldMsMax).toBeGreaterThan(17)
  })

  test('halves the time of a step after each that took far too long, and doubles it after many that did not', async () => {
    const asked: number[] = []
    let heldMs = 19
    begin({
      store: {
        retain: async ({ workMs }) => {
          asked.push(workMs)
          return { entries: 1, bytesFreed: 0, usedBytes: 1, heldMs, heldTo: 0, done: false }
        },
      },
    })
    const take = async (steps: number, eachMs: number) => {
      heldMs = eachMs
      asked.length = 0
      for (let n = 0; n < steps; n += 1) {
        clock.advance(clock.nextInMs!)
        await clock.whenPending()
      }
      return asked
    }
    // Steps that are worth their commit, as long as they may be.
    expect((await take(100, 19)).at(-1)).toBeWithin(6, 7)
    expect((await take(6, 77)).slice(2)).toEqual([2.5, 2.5, 2.5, 2.5])
    // A long one amid short ones is one too many.
    await take(31, 19)
    await take(1, 77)
    const after = await take(100, 19)
    expect(after.slice(0, 32)).toEqual(Array.from({ length: 32 }, () => 2.5))
    expect(after[32]).toBe(5)
    expect(after.at(-1)).toBeWithin(6, 7)
  })

  test('tries again after a failure, and tells of it', async () => {
    let failing = true
    await recordAt(start - 31 * dayMs)
    begin({
      store: {
        retain: (bounds) =>
          failing ? Promise.reject(new AppError('STORAGE_UNAVAILABLE', 'broken')) : store.retain(bounds),
      },
    })
    await round()
    expect(failures).toMatchObject([{ code: 'STORAGE_UNAVAILABLE' }])
    expect(await left()).toHaveLength(1)
    failing = false
    await round()
    expect(await left()).toEqual([])
    expect(failures).toHaveLength(1)
  })

  test('stops between two steps', async () => {
    for (let n = 0; n < 50; n += 1) await recordAt(start - 40 * dayMs + n)
    // Its work is over as soon as it has begun.
    begin({ store: { retain: (bounds) => store.retain({ ...bounds, workMs: 0 }) } })
    clock.advance(clock.nextInMs!)
    const stopping = retention.stop()
    await stopping
    expect((await left()).length).toBeWithin(1, 50)
    expect(clock.pending).toBe(0)
  })

  test('goes on with new entries and pages while it deletes, and no page errs, repeats or leaves out what is there', async () => {
    const count = 3_000
    for (let n = 0; n < count; n += 30) await recordAt(start - 40 * dayMs + n, 30)
    for (let n = 0; n < count; n += 30) await recordAt(start + n, 30)
    begin({ store: { retain: (bounds) => store.retain({ ...bounds, workMs: 0 }) } })
    const young = new Set<number>()
    for (const order of ['asc', 'desc'] as const) {
      const seen: number[] = []
      let after: number | undefined
      for (;;) {
        const page = await store.queryLogs(logQuery(home.workspaceId, { limit: 70, order, after }))
        seen.push(...entriesOf(page).map(({ id }) => sequenceOf(id)!))
        if (page.end === 'last') break
        after = page.position!
        if (clock.nextInMs !== minuteMs) {
          clock.advance(clock.nextInMs!)
          await clock.whenPending()
        }
      }
      expect(new Set(seen).size).toBe(seen.length)
      expect(seen).toEqual(seen.toSorted((a, b) => (order === 'asc' ? a - b : b - a)))
      const youngSeen = seen.filter((sequence) => sequence >= sequenceAt(start))
      expect(youngSeen).toHaveLength(count)
      for (const sequence of youngSeen) young.add(sequence)
    }
    expect(young.size).toBe(count)
    expect(retention.counters.entries).toBeGreaterThan(count / 2)
  })
})
