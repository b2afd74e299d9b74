import { describe, expect, test } from 'bun:test'
import { RegistrationLimits } from '../../../src/accounts/oauth/registration-limits.ts'
import { ManualClock } from '../../support/clock.ts'

/** Registers from the addresses in turn, until all are refused. Returns how many registrations were allowed. */
function exhaust(limits: RegistrationLimits, addresses: readonly string[]): number {
  let count = 0
  for (let before = -1; before !== count; ) {
    before = count
    for (const address of addresses) if (limits.take(address).allowed) count += 1
  }
  return count
}

describe('registrations of clients', () => {
  test('are limited for a site, whichever of its addresses they come from', () => {
    const clock = new ManualClock(1_000)
    const limits = new RegistrationLimits(clock)
    const ipv4 = Array.from({ length: 256 }, (_, n) => `192.0.2.${n}`)
    const ipv6 = Array.from({ length: 256 }, (_, n) => `2001:db8:1:${n.toString(16)}::1`)
    expect([exhaust(limits, ipv4), exhaust(limits, ipv6)]).toEqual([60, 60])
    expect(limits.take('192.0.2.1')).toEqual({ allowed: false, limit: 60, remaining: 0, resetAt: 3_601_000 })
    expect([limits.take('192.0.3.1').allowed, limits.take('2001:db8:2::1').allowed]).toEqual([true, true])
    clock.advance(3_600_000)
    expect(limits.take('192.0.2.1')).toEqual({ allowed: true, limit: 60, remaining: 59, resetAt: 7_201_000 })
  })

  test.each([10, 50, 100])('are possible from another site after %p sites registered all they could', (sites) => {
    const clock = new ManualClock(1_000)
    const limits = new RegistrationLimits(clock)
    const busy = Array.from({ length: sites }, (_, n) => `10.0.${n}.1`)
    expect(exhaust(limits, busy)).toBeGreaterThan(400)
    expect(limits.take('198.51.100.7').allowed).toBe(true)
    expect(limits.take('10.0.0.1').allowed).toBe(false)
    clock.advance(3_600_000)
    expect(limits.take('10.0.0.1').allowed).toBe(true)
  })

  test('are limited in total', () => {
    const limits = new RegistrationLimits(new ManualClock(1_000))
    const addresses = Array.from({ length: 1_000 }, (_, n) => `10.${n >> 8}.${n & 255}.1`)
    expect(exhaust(limits, addresses)).toBe(600)
    expect(limits.take('10.9.9.9')).toEqual({ allowed: false, limit: 600, remaining: 0, resetAt: 3_601_000 })
  })
})
