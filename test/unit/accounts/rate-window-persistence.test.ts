import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { RateLimiter } from '../../../src/accounts/rate-limit.ts'
import { RateWindowPersistence } from '../../../src/accounts/rate-window-persistence.ts'
import type { CountedWindow, RateWindowRow } from '../../../src/store/account-store.ts'
import { ManualClock } from '../../support/clock.ts'

const settled = () => new Promise((resolve) => setImmediate(resolve))

function world(totals: (rows: readonly CountedWindow[]) => RateWindowRow[] = () => []) {
  const clock = new ManualClock(1_000_000)
  const saves: CountedWindow[][] = []
  let gate: PromiseWithResolvers<void> | undefined
  let failure: Error | undefined
  const journal = new RateWindowPersistence({
    clock,
    async save(rows) {
      saves.push([...rows])
      await gate?.promise
      if (failure) throw failure
      return totals(rows)
    },
  })
  return {
    clock,
    saves,
    journal,
    sync: new RateLimiter({ clock, changed: journal.of('sync') }),
    fail(error: Error | undefined) {
      failure = error
    },
    hold() {
      const held = Promise.withResolvers<void>()
      gate = held
      return () => {
        gate = undefined
        held.resolve()
      }
    },
  }
}

test('changed windows are written together, at most once a second', async () => {
  const { clock, saves, sync } = world()
  for (let n = 0; n < 5; n += 1) sync.take('a', 10)
  sync.take('b', 10)
  clock.advance(999)
  expect(saves).toEqual([])
  clock.advance(1)
  expect(saves).toEqual([
    [
      { kind: 'sync', userId: 'a', used: 5, added: 5, resetAt: 1_060_000 },
      { kind: 'sync', userId: 'b', used: 1, added: 1, resetAt: 1_060_000 },
    ],
  ])
  await settled()
  clock.advance(60_000)
  expect(saves).toHaveLength(1)
})

test('nothing is written during a write, nor for rejected requests', async () => {
  const { clock, saves, sync, hold } = world()
  const release = hold()
  sync.take('a', 2)
  clock.advance(1_000)
  sync.take('a', 2)
  clock.advance(10_000)
  expect(saves).toHaveLength(1)
  release()
  await settled()
  clock.advance(1_000)
  expect(saves[1]).toMatchObject([{ userId: 'a', used: 2 }])
  await settled()
  sync.take('a', 2)
  expect(clock.pending).toBe(0)
})

test('windows whose limit cannot be reached are not written', async () => {
  const { clock, saves, journal, sync } = world()
  for (let n = 0; n < 1_000; n += 1) sync.take('a', 1_000_001)
  expect(clock.pending).toBe(0)
  await journal.stop()
  expect(saves).toEqual([])
})

test('a failed write is repeated while the window is open', async () => {
  const { clock, saves, sync, fail } = world()
  fail(new Error('The disk failed'))
  sync.take('a', 10)
  clock.advance(1_000)
  await settled()
  sync.take('a', 10)
  clock.advance(1_000)
  await settled()
  fail(undefined)
  clock.advance(1_000)
  await settled()
  expect(saves.map((rows) => rows.map(({ used }) => used))).toEqual([[1], [2], [2]])
  fail(new Error('The disk failed again'))
  sync.take('a', 10)
  for (let n = 0; n < 120; n += 1) {
    clock.advance(1_000)
    await settled()
  }
  expect(clock.pending).toBe(0)
})

test('stop writes immediately, after a write in progress', async () => {
  const { clock, saves, journal, sync, hold } = world()
  const release = hold()
  sync.take('a', 10)
  clock.advance(1_000)
  sync.take('a', 10)
  const stopped = journal.stop()
  release()
  await stopped
  expect(saves.at(-1)).toMatchObject([{ userId: 'a', used: 2 }])
})

test('a new limiter continues with what was saved, whenever the old one was killed', async () => {
  const step = fc.record({ who: fc.constantFrom('a', 'b'), waitMs: fc.nat(30_000) })
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
      const { clock, saves, journal, sync } = world()
      for (const { who, waitMs } of steps) {
        clock.advance(waitMs)
        await settled()
        sync.take(who, 5)
      }
      await journal.stop()
      const disk = new Map(saves.flat().map((row) => [row.userId, row]))
      const next = new RateLimiter({ clock })
      for (const { userId, ...window } of disk.values()) next.restore(userId, window)
      for (const who of ['a', 'b']) expect(next.peek(who, 5)).toEqual(sync.peek(who, 5))
    }),
    { numRuns: 50 },
  )
})

test('a window counts what other processes have counted, and adds its own requests only once', async () => {
  let others = 0
  let stored = 0
  const { clock, saves, sync, hold } = world((rows) =>
    rows.map((row) => {
      stored += row.added
      return { ...row, used: stored + others, resetAt: 1_050_000 }
    }),
  )
  const limit = 20
  for (let n = 0; n < 3; n += 1) sync.take('a', limit)
  others = 10
  const release = hold()
  clock.advance(1_000)
  // While the window is being stored.
  sync.take('a', limit)
  release()
  await settled()
  expect(sync.peek('a', limit)).toMatchObject({ remaining: limit - 14, resetAt: 1_050_000 })
  clock.advance(1_000)
  await settled()
  expect(saves.map(([row]) => row?.added)).toEqual([3, 1])
  expect(sync.peek('a', limit).remaining).toBe(limit - 14)
})
