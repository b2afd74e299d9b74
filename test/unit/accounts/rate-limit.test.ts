import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { RateLimiter } from '../../../src/accounts/rate-limit.ts'
import { ManualClock } from '../../support/clock.ts'

describe('a window', () => {
  test('starts with its first request, lasts 60 s, and then starts over', () => {
    const clock = new ManualClock(1_000_000)
    const limiter = new RateLimiter({ clock })
    clock.advance(12_345)
    const resetAt = clock.now() + 60_000
    expect(limiter.take('a', 2)).toEqual({ allowed: true, limit: 2, remaining: 1, resetAt })
    clock.advance(59_999)
    expect(limiter.take('a', 2)).toEqual({ allowed: true, limit: 2, remaining: 0, resetAt })
    expect(limiter.take('a', 2)).toEqual({ allowed: false, limit: 2, remaining: 0, resetAt })
    clock.advance(1)
    expect(limiter.take('a', 2)).toEqual({ allowed: true, limit: 2, remaining: 1, resetAt: clock.now() + 60_000 })
  })

  test('can last an hour', () => {
    const clock = new ManualClock(1_000_000)
    const limiter = new RateLimiter({ clock, windowMs: 3_600_000 })
    expect(limiter.peek('a', 1).resetAt).toBe(clock.now() + 3_600_000)
    expect(limiter.take('a', 1).allowed).toBe(true)
    clock.advance(3_599_999)
    expect(limiter.take('a', 1).allowed).toBe(false)
    clock.advance(1)
    expect(limiter.take('a', 1).allowed).toBe(true)
  })

  test('belongs to one account', () => {
    const limiter = new RateLimiter({ clock: new ManualClock() })
    expect(limiter.take('a', 1).allowed).toBe(true)
    expect(limiter.take('a', 1).allowed).toBe(false)
    expect(limiter.take('b', 1).allowed).toBe(true)
  })

  test('can be read without counting; a new one would end in 60 s', () => {
    const clock = new ManualClock()
    const limiter = new RateLimiter({ clock })
    expect(limiter.peek('a', 5)).toEqual({ allowed: true, limit: 5, remaining: 5, resetAt: clock.now() + 60_000 })
    const { resetAt } = limiter.take('a', 5)
    clock.advance(1_000)
    for (let n = 0; n < 3; n += 1) {
      expect(limiter.peek('a', 5)).toEqual({ allowed: true, limit: 5, remaining: 4, resetAt })
    }
    expect(limiter.peek('a', 1)).toMatchObject({ allowed: false, remaining: 0 })
  })

  test('follows a limit that changes while it is open', () => {
    const limiter = new RateLimiter({ clock: new ManualClock() })
    for (let n = 0; n < 3; n += 1) limiter.take('a', 3)
    expect(limiter.take('a', 3).allowed).toBe(false)
    expect(limiter.take('a', 5)).toMatchObject({ allowed: true, limit: 5, remaining: 1 })
    expect(limiter.take('a', 2)).toMatchObject({ allowed: false, limit: 2, remaining: 0 })
  })

  test('ends when the clock was set back, instead of staying for years', () => {
    const clock = new ManualClock()
    const limiter = new RateLimiter({ clock })
    limiter.take('a', 1)
    clock.setNow(clock.now() - 3_600_000)
    expect(limiter.peek('a', 1)).toMatchObject({ remaining: 1, resetAt: clock.now() + 60_000 })
    expect(limiter.take('a', 1).allowed).toBe(true)
  })
})

test('a window never allows more than its limit, and never rejects below it', () => {
  const step = fc.record({ who: fc.constantFrom('a', 'b', 'c'), waitMs: fc.nat(20_000) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200 }), fc.integer({ min: 1, max: 6 }), (steps, limit) => {
      const clock = new ManualClock()
      const limiter = new RateLimiter({ clock })
      const open = new Map<string, { resetAt: number; used: number }>()
      for (const { who, waitMs } of steps) {
        clock.advance(waitMs)
        let window = open.get(who)
        if (!window || clock.now() >= window.resetAt) {
          window = { resetAt: clock.now() + 60_000, used: 0 }
          open.set(who, window)
        }
        const allowed = window.used < limit
        if (allowed) window.used += 1
        const { resetAt } = window
        expect(limiter.take(who, limit)).toEqual({ allowed, limit, remaining: limit - window.used, resetAt })
      }
    }),
  )
})

test('when the cache is full, the window opened first is dropped', () => {
  const clock = new ManualClock()
  const limiter = new RateLimiter({ clock, windowsMax: 3 })
  for (const who of ['a', 'b', 'c', 'd']) limiter.take(who, 1)
  for (const who of ['b', 'c', 'd']) expect(limiter.peek(who, 1).remaining).toBe(0)
  expect(limiter.peek('a', 1).remaining).toBe(1)
})
