import { expect, test } from 'bun:test'
import { KeyUses } from '../../../src/accounts/key-uses.ts'
import type { KeyUse } from '../../../src/store/account-store.ts'
import { ManualClock } from '../../support/clock.ts'

function world(options: { keysMax?: number } = {}) {
  const clock = new ManualClock(1_000_000)
  const written: KeyUse[][] = []
  let failure: Error | undefined
  const uses = new KeyUses({
    clock,
    ...options,
    async record(batch) {
      written.push([...batch])
      if (failure) throw failure
    },
  })
  return {
    clock,
    written,
    uses,
    fail(error: Error | undefined) {
      failure = error
    },
  }
}

test('uses are written together, a moment later, at most once a minute per key', () => {
  const { clock, written, uses } = world()
  for (let n = 0; n < 100; n += 1) uses.note('a')
  uses.note('b')
  expect(written).toEqual([])
  clock.advance(1_000)
  expect(written).toEqual([
    [
      { keyId: 'a', at: 1_000_000 },
      { keyId: 'b', at: 1_000_000 },
    ],
  ])
  clock.advance(58_999)
  uses.note('a')
  expect(clock.pending).toBe(0)
  clock.advance(1)
  uses.note('a')
  clock.advance(1_000)
  expect(written[1]).toEqual([{ keyId: 'a', at: 1_060_000 }])
})

test('pending uses are written at stop', async () => {
  const { clock, written, uses } = world()
  uses.note('a')
  await uses.stop()
  expect(written).toEqual([[{ keyId: 'a', at: 1_000_000 }]])
  clock.advance(10_000)
  expect(written).toHaveLength(1)
})

test('a disk failure is ignored', async () => {
  const { clock, written, uses, fail } = world()
  fail(new Error('The disk failed'))
  uses.note('a')
  clock.advance(1_000)
  uses.note('b')
  await uses.stop()
  expect(written).toHaveLength(2)
})

test('the number of remembered and pending keys is limited', () => {
  const { clock, written, uses } = world({ keysMax: 2 })
  for (const key of ['a', 'b', 'c', 'a']) uses.note(key)
  clock.advance(1_000)
  expect(written).toEqual([
    [
      { keyId: 'a', at: 1_000_000 },
      { keyId: 'b', at: 1_000_000 },
    ],
  ])
})
