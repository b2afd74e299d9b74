import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { AppError } from '../../../../src/domain/errors.ts'
import { sequenceAt, sequenceOf } from '../../../../src/domain/ids.ts'
import type { LogPosition } from '../../../../src/store/log-query.ts'
import { Retention, type RetentionOptions } from '../../../../src/store/retention.ts'
import { openSqliteStore } from '../../../../src/store/sqlite/sqlite-store.ts'
import type { RetentionStep, Store } from '../../../../src/store/store.ts'
import { ManualClock } from '../../../support/clock.ts'
import { temporaryFolder } from '../../../support/executable.ts'
import { appendLogs } from '../../../support/store/append-logs.ts'
import { type Installed, install, logRow } from '../../../support/store/installed.ts'
import { entriesOf, logQuery } from '../../../support/store/log-model.ts'

const start = Date.UTC(2025, 5, 1)
const dayMs = 86_400_000
const roundMs = 5_000

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
    retention = new Retention({ store, clock, ...bounds, onRound: onSwept, onFailure, ...more })
  }
  const recordAt = (atMs: number, count = 1) =>
    appendLogs(
      store,
      Array.from({ length: count }, (_, index) => logRow(home, sequenceAt(atMs) + index)),
    )
  const left = async () => entriesOf(await store.queryLogs(logQuery(home.workspaceId))).map(({ id }) => sequenceOf(id))
  /** Advances the clock from step to step until a round has ended. */
  const round = async () => {
    const { lastRoundAt } = retention.counters
    do {
      await clock.whenPending()
      clock.advance(clock.nextInMs!)
      await clock.whenPending()
    } while (retention.counters.lastRoundAt === lastRoundAt)
  }

  test('keeps an entry for the configured days, exact to the millisecond', async () => {
    for (const offset of [0, 1, 2, 3]) await recordAt(start + offset)
    // One step per round, so that the clock does not move during it.
    begin({ store: { retain: (bounds) => store.retain({ ...bounds, workMs: 10_000 }) } })
    // The first round starts soon after the start, the others follow every five seconds.
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

  test('starts a round every five seconds, and does nothing in between', async () => {
    begin()
    await round()
    expect(clock.pending).toBe(1)
    expect(clock.nextInMs).toBe(roundMs)
    await round()
    expect(clock.nextInMs).toBe(roundMs)
    expect(swept).toEqual([])
  })

  /** A store whose steps return the results that a test gives. */
  const steps = (taken: (workMs: number) => Partial<RetentionStep>) => {
    const asked: number[] = []
    const nothing = { entries: 1, bytesFreed: 0, usedBytes: 1, heldMs: 1, heldTo: 0, leftBytes: 1, done: false }
    const retain: Store['retain'] = async ({ workMs }) => {
      asked.push(workMs)
      return { ...nothing, ...taken(workMs) }
    }
    return { store: { retain }, asked }
  }
  /** Advances the clock from step to step. Returns the pause after the last one. */
  const take = async (count: number): Promise<number> => {
    for (let n = 0; n < count; n += 1) {
      clock.advance(clock.nextInMs!)
      await clock.whenPending()
    }
    return clock.nextInMs!
  }

  test('shortens steps when commits take longer, within reason, and makes longer pauses', async () => {
    let commitMs = 0
    // So much is deleted that the pauses stay the same.
    let leftBytes = 1e12
    const { store, asked } = steps((workMs) => {
      leftBytes *= 0.9
      return { heldMs: workMs + commitMs, leftBytes }
    })
    begin({ store })
    const settle = async (ms: number) => {
      commitMs = ms
      const pauseMs = await take(100)
      return { workMs: asked.at(-1), pauseMs }
    }
    expect(asked).toEqual([])
    const near = (value: number) => expect.closeTo(value, 2)
    expect(await settle(0)).toEqual({ workMs: near(1.5), pauseMs: near(24) })
    expect(asked[0]).toBe(0.4)
    expect(await settle(0.3)).toEqual({ workMs: near(1.2), pauseMs: near(24) })
    expect(await settle(0.9)).toEqual({ workMs: near(0.9), pauseMs: near(28.8) })
    expect(await settle(12)).toEqual({ workMs: near(5), pauseMs: near(272) })
    expect(await settle(0)).toEqual({ workMs: near(1.5), pauseMs: near(24) })
    expect(retention.counters.heldMsMax).toBeGreaterThan(16)
  })

  test('halves the next step after one that took far too long, and doubles it after many short ones', async () => {
    let heldMs = 19
    const { store, asked } = steps(() => ({ heldMs }))
    begin({ store })
    /** The time budget of each step. */
    const allowed = async (count: number, eachMs: number) => {
      heldMs = eachMs
      asked.length = 0
      await take(count)
      return asked
    }
    // Steps of the maximum length, with proportionate commits.
    expect((await allowed(100, 19)).slice(20)).toEqual(Array.from({ length: 80 }, () => 5))
    expect(await allowed(6, 77)).toEqual([5, 2.5, 1.25, 1.25, 1.25, 1.25])
    // One slow step among short ones restarts the count.
    await allowed(31, 15)
    expect(asked.slice(1)).toEqual(Array.from({ length: 30 }, () => 1.25))
    await allowed(1, 77)
    const after = await allowed(100, 15)
    expect(after.filter((workMs, index) => workMs !== after[index - 1])).toEqual([1.25, 2.5, 5])
    expect([after.lastIndexOf(1.25), after.lastIndexOf(2.5)]).toEqual([31, 63])
  })

  test('pauses less while much is left to delete, and more again near the end', async () => {
    let leftBytes = 10_000_000_000
    let bytesEach = 1_000
    const { store } = steps(() => {
      leftBytes -= bytesEach
      return { leftBytes }
    })
    begin({ store })
    expect(await take(2)).toBe(16)
    // Much is left. Retention measures its progress over about a second.
    expect(await take(70)).toBe(8)
    expect(await take(130)).toBe(4)
    expect(await take(1_000)).toBe(4)
    // Everything will be deleted in five seconds, which is soon enough.
    bytesEach = leftBytes / 5 / 250
    expect(await take(500)).toBe(4)
    leftBytes = 2 * 250 * bytesEach
    expect(await take(260)).toBe(8)
    leftBytes = 2 * 125 * bytesEach
    expect(await take(130)).toBe(16)
    expect(await take(1)).toBe(16)
  })

  test('pauses as long as its steps take while the log grows all the same', async () => {
    let leftBytes = 1_000_000
    const { store } = steps(() => {
      leftBytes += 1_000
      return { leftBytes, heldMs: 10 }
    })
    begin({ store })
    expect(await take(200)).toBe(10)
  })

  test('makes long pauses when no entry is left to delete', async () => {
    const { store } = steps(() => ({ entries: 0, leftBytes: 0 }))
    begin({ store })
    expect(await take(3_000)).toBe(16)
  })

  test('begins each round with long pauses', async () => {
    let done = false
    const { store } = steps(() => ({ done }))
    begin({ store })
    expect(await take(3_000)).toBe(2)
    done = true
    expect(await take(1)).toBe(1_000)
    expect(await take(1)).toBe(1_000)
    done = false
    expect(await take(1)).toBe(16)
  })

  test('begins the next round after a second while entries are deleted, and after five otherwise', async () => {
    let entries = 1
    const { store } = steps(() => ({ entries, done: true }))
    begin({ store })
    expect(await take(3)).toBe(1_000)
    entries = 0
    expect(await take(1)).toBe(roundMs)
  })

  test('waits for a minute when all that is left has pending deliveries', async () => {
    const { store } = steps(() => ({ entries: 0, heldTo: 7, done: true }))
    begin({ store })
    expect(await take(1)).toBe(60_000)
  })

  test('reports a failure and tries again', async () => {
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
    // Each row gets a chunk of its own, although they are recorded together.
    const finalOutput = JSON.stringify('x'.repeat(20_000))
    const rows = Array.from({ length: 10 }, (_, n) => logRow(home, sequenceAt(start - 40 * dayMs) + n, { finalOutput }))
    await appendLogs(store, rows)
    // With no time budget, each step deletes one chunk.
    begin({ store: { retain: (bounds) => store.retain({ ...bounds, workMs: 0 }) } })
    clock.advance(clock.nextInMs!)
    const stopping = retention.stop()
    await stopping
    expect(await left()).toHaveLength(9)
    expect(clock.pending).toBe(0)
  })

  test('does not delay new entries and pages while it deletes, and no page fails, repeats or omits entries', async () => {
    const count = 3_000
    for (let n = 0; n < count; n += 30) await recordAt(start - 40 * dayMs + n, 30)
    for (let n = 0; n < count; n += 30) await recordAt(start + n, 30)
    begin({ store: { retain: (bounds) => store.retain({ ...bounds, workMs: 0 }) } })
    const young = new Set<number>()
    for (const order of ['asc', 'desc'] as const) {
      const seen: number[] = []
      let after: LogPosition | undefined
      for (;;) {
        const page = await store.queryLogs(logQuery(home.workspaceId, { limit: 70, order, after }))
        seen.push(...entriesOf(page).map(({ id }) => sequenceOf(id)!))
        if (page.end === 'last') break
        after = page.position!
        if (clock.nextInMs !== roundMs) {
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
