import { expect, test } from 'bun:test'
import { Garbage } from '../../../src/assembly/garbage.ts'
import { ManualClock } from '../../support/clock.ts'

test('garbage is collected soon after large bodies, and never after small ones', () => {
  const clock = new ManualClock()
  let collections = 0
  const garbage = new Garbage(clock, () => {
    collections += 1
  })
  garbage.note(1_000_000)
  clock.advance(10_000)
  expect(collections).toBe(0)
  garbage.note(10_000_000)
  clock.advance(100)
  expect(collections).toBe(1)
  // The records of the runs are written after the responses.
  clock.advance(10_000)
  expect(collections).toBe(2)
})

test('collections take a fiftieth of the time at most', () => {
  const clock = new ManualClock()
  let collections = 0
  const garbage = new Garbage(clock, () => {
    collections += 1
    clock.advance(20)
  })
  for (let step = 0; step < 300; step += 1) {
    garbage.note(10_000_000)
    clock.advance(10)
  }
  expect(collections).toBeLessThanOrEqual(4)
  expect(collections).toBeGreaterThan(1)
})
