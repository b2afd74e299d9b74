import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { TimeLimits } from '../../src/outbound/time-limit.ts'
import { ManualClock } from '../clock.ts'

const nobody = new AbortController().signal

test('each request ends when its own time is up, unless it was over before', () => {
  const step = fc.record({
    waitMs: fc.nat(40),
    timeoutMs: fc.constantFrom(50, 80, 200),
    liftAfterMs: fc.option(fc.nat(250), { nil: undefined }),
  })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const clock = new ManualClock()
      const limits = new TimeLimits(clock)
      const begun = steps.map(({ waitMs, timeoutMs, liftAfterMs }) => {
        clock.advance(waitMs)
        const limit = limits.begin(timeoutMs, nobody)
        const startedAt = clock.monotonic()
        const seen = { endedAfterMs: undefined as number | undefined, liftAfterMs, timeoutMs, limit }
        limit.onEnd = () => {
          seen.endedAfterMs = clock.monotonic() - startedAt
        }
        if (liftAfterMs !== undefined) clock.setTimer(liftAfterMs, () => limits.lift(limit, nobody))
        return seen
      })
      clock.advance(1_000)
      for (const { endedAfterMs, liftAfterMs, timeoutMs, limit } of begun) {
        const isOver = liftAfterMs !== undefined && liftAfterMs < timeoutMs
        // Both at one time: either may come first.
        if (liftAfterMs === timeoutMs) continue
        expect(endedAfterMs).toBe(isOver ? undefined : timeoutMs)
        expect(limit.reason?.code).toBe(isOver ? undefined : 'TIMEOUT')
      }
      expect(clock.pending).toBe(0)
    }),
  )
})

test('hundreds that end together leave turns to others in between', () => {
  const clock = new ManualClock()
  let turns = 0
  const limits = new TimeLimits({
    monotonic: () => clock.monotonic(),
    setTimer(delayMs, run) {
      return clock.setTimer(delayMs, () => {
        turns += 1
        run()
      })
    },
  })
  const begun = Array.from({ length: 300 }, () => limits.begin(100, nobody))
  clock.advance(100)
  expect(begun.every(({ reason }) => reason?.code === 'TIMEOUT')).toBe(true)
  expect(turns).toBeGreaterThan(5)
})

test('a caller who gives up ends all of its own, and nobody else’s', () => {
  const limits = new TimeLimits(new ManualClock())
  const caller = new AbortController()
  const own = [limits.begin(50, caller.signal), limits.begin(90, caller.signal)]
  const over = limits.begin(50, caller.signal)
  const other = limits.begin(50, nobody)
  limits.lift(over, caller.signal)
  caller.abort()
  expect(own.map(({ reason }) => reason?.code)).toEqual(['CANCELLED', 'CANCELLED'])
  expect([over.reason, other.reason]).toEqual([undefined, undefined])
  expect(limits.begin(50, caller.signal).reason?.code).toBe('CANCELLED')
})
