import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { pausedMsOf } from '../../../src/domain/run/pause.ts'

test('a run that never paused has no pausedMs', () => {
  expect(pausedMsOf([], 100)).toBeUndefined()
  expect(pausedMsOf([{ since: 5, endedAt: 5 }], 100)).toBe(0)
})

test('a pause that is open at the end of the run, or ends later, counts until the end of the run', () => {
  expect(pausedMsOf([{ since: 40, endedAt: null }], 100)).toBe(60)
  expect(pausedMsOf([{ since: 40, endedAt: 500 }], 100)).toBe(60)
})

test('each millisecond counts once, even if pauses overlap, and in any order', () => {
  const pause = fc
    .record({ since: fc.nat(50), length: fc.option(fc.nat(60), { nil: null }) })
    .map(({ since, length }) => ({ since, endedAt: length === null ? null : since + length }))
  fc.assert(
    fc.property(fc.array(pause, { minLength: 1, maxLength: 8 }), (pauses) => {
      const paused = Array.from({ length: 70 }, (_, at) => at).filter((at) =>
        pauses.some(({ since, endedAt }) => since <= at && at < Math.min(endedAt ?? 70, 70)),
      )
      expect(pausedMsOf(pauses, 70)).toBe(paused.length)
    }),
  )
})
