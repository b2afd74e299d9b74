import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { PauseBudget } from '../../../../src/engine/jobs/pause-budget.ts'
import { ManualClock } from '../../../support/clock.ts'

/** A budget of a workspace in which `open` blocks are paused. */
function world(max: number, open = 0) {
  const clock = new ManualClock(0)
  const it = { clock, open, counts: 0 }
  const store = {
    async countPauses(_: string, limit: number) {
      it.counts += 1
      return Math.min(limit, it.open)
    },
  }
  const budget = new PauseBudget({ store, max, clock })
  return Object.assign(it, {
    budget,
    async pause() {
      await budget.take('w1')
      it.open += 1
    },
  })
}

test('a workspace cannot have more pauses than the limit', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 300 }), fc.nat(300), async (max, open) => {
      const it = world(max, Math.min(open, max))
      for (let left = max - it.open; left > 0; left -= 1) await it.pause()
      expect(it.open).toBe(max)
      await expect(it.pause()).rejects.toMatchObject({ code: 'TOO_MANY_PAUSES' })
      expect(it.counts).toBeLessThanOrEqual(Math.log2(max) + 3)
    }),
  )
})

test('a full workspace is counted once a second, and pauses again when there is room', async () => {
  const it = world(2, 2)
  for (let time = 0; time < 10; time += 1) await expect(it.pause()).rejects.toThrow('the most that MILLRACE_PAUSES_MAX')
  expect(it.counts).toBe(1)
  it.open = 1
  it.clock.advance(1_000)
  await it.pause()
  expect(it.counts).toBe(2)
})

test('the store counts once for blocks that pause at the same time, and for each workspace separately', async () => {
  const it = world(1_000, 900)
  await Promise.all(Array.from({ length: 50 }, () => it.pause()))
  expect(it.counts).toBe(1)
  await it.budget.take('w2')
  expect(it.counts).toBe(2)
})
