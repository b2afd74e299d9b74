import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { retryDelayMs } from '../../../src/webhooks/backoff.ts'

const random = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true })

test('the delays are 5 s, 15 s, 1 min, 3 min and then 10 min', () => {
  const delays = Array.from({ length: 7 }, (_, index) => retryDelayMs(index + 1, 0))
  expect(delays).toEqual([5_000, 15_000, 60_000, 180_000, 600_000, 600_000, 600_000])
})

test('each delay is longer by a random part of up to a tenth', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 50 }), random, (attempt, part) => {
      const shortest = retryDelayMs(attempt, 0)
      expect(retryDelayMs(attempt, part)).toBeCloseTo(shortest + shortest * 0.1 * part, 6)
    }),
  )
})

test('a Retry-After that is longer than the delay replaces it, up to ten minutes', () => {
  expect(retryDelayMs(1, 0, 1_000)).toBe(5_000)
  expect(retryDelayMs(1, 0, 7_000)).toBe(7_000)
  expect(retryDelayMs(1, 0.5, 5_100)).toBe(5_250)
  expect(retryDelayMs(1, 0, 86_400_000)).toBe(600_000)
  expect(retryDelayMs(5, 0.5, 86_400_000)).toBe(630_000)
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 50 }), random, fc.nat(10_000_000), (attempt, part, asked) => {
      const delay = retryDelayMs(attempt, part, asked)
      expect(delay).toBeGreaterThanOrEqual(retryDelayMs(attempt, part))
      expect(delay).toBeLessThanOrEqual(Math.max(600_000, retryDelayMs(attempt, part)))
      expect(delay).toBeGreaterThanOrEqual(Math.min(asked, 600_000))
    }),
  )
})
