import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { backoffMs, delayWithRetryAfter, retryAfterMs } from '../../../src/domain/run/backoff.ts'

test('delays double from half a second to 30 s, and vary at random by up to 20 %', () => {
  const middles = Array.from({ length: 10 }, (_, index) => backoffMs(index + 1, 0.5))
  expect(middles).toEqual([500, 1000, 2000, 4000, 8000, 16_000, 30_000, 30_000, 30_000, 30_000])
  expect(backoffMs(1, 0)).toBe(400)
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 2000 }),
      fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
      (attempt, random) => {
        const ratio = backoffMs(attempt, random) / backoffMs(attempt, 0.5)
        expect(ratio).toBeGreaterThanOrEqual(0.8)
        expect(ratio).toBeLessThan(1.2 + 1e-9)
      },
    ),
  )
})

test('Retry-After extends a delay up to a minute, and a longer request ends the retries', () => {
  expect(delayWithRetryAfter(500, undefined)).toBe(500)
  expect(delayWithRetryAfter(500, 0)).toBe(500)
  expect(delayWithRetryAfter(500, 400)).toBe(500)
  expect(delayWithRetryAfter(500, 2_000)).toBe(2_000)
  expect(delayWithRetryAfter(500, 60_000)).toBe(60_000)
  expect(delayWithRetryAfter(500, 60_001)).toBeUndefined()
})

test('Retry-After is read as seconds or as an HTTP date in any of its forms', () => {
  const now = Date.UTC(1994, 10, 6, 8, 49, 0)
  const dates = ['Sun, 06 Nov 1994 08:49:37 GMT', 'Sunday, 06-Nov-94 08:49:37 GMT', 'Sun Nov  6 08:49:37 1994']
  for (const date of dates) expect([date, retryAfterMs(date, now)]).toEqual([date, 37_000])
  expect(retryAfterMs('Sun, 06 Nov 1994 08:48:00 GMT', now)).toBe(0)
  expect(retryAfterMs('120', now)).toBe(120_000)
  expect(retryAfterMs(' 0 ', now)).toBe(0)
  expect(retryAfterMs('1.5', now)).toBe(1_500)
})

test('a malformed Retry-After is ignored', () => {
  for (const text of [undefined, '', '-1', 'soon', '1e9', '5 seconds', '1/2', 'Mon', 'NaN', 'Infinity', '0x10'])
    expect([text, retryAfterMs(text, 0)]).toEqual([text, undefined])
})

test('Retry-After never results in an invalid delay', () => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const ms = retryAfterMs(text, 1_000_000)
      expect(ms === undefined || ms >= 0).toBe(true)
    }),
  )
})
