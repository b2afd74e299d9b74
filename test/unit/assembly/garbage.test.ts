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

test('garbage is collected a few times a second at most', () => {
  const clock = new ManualClock()
  let collections = 0
  const garbage = new Garbage(clock, () => {
    collections += 1
  })
  for (let step = 0; step < 100; step += 1) {
    garbage.note(10_000_000)
    clock.advance(10)
  }
  expect(collections).toBeLessThanOrEqual(20)
  expect(collections).toBeGreaterThan(10)
})
