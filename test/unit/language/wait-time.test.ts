import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { durationMs, timeOf } from '../../../src/language/wait-time.ts'

describe('a duration', () => {
  test('has units in words or letters, and several parts', () => {
    expect(durationMs('90 minutes')).toBe(5_400_000)
    expect(durationMs('3 days')).toBe(259_200_000)
    expect(durationMs('1 hour 30 minutes')).toBe(5_400_000)
    expect(durationMs('1 hour, 30 minutes and 5 seconds')).toBe(5_405_000)
    expect(durationMs(' 1.5H ')).toBe(5_400_000)
    expect(durationMs('2w')).toBe(1_209_600_000)
    expect(durationMs('250 ms')).toBe(250)
  })

  test('is nothing else', () => {
    for (const text of ['', '3', 'days', '3 fortnights', '-1 day', '1 day x', '1e3 s', 'P3D', '3 days ago']) {
      expect(durationMs(text)).toBeUndefined()
    }
  })

  test('is a finite number, or undefined, for any text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const found = durationMs(text)
        return found === undefined || (Number.isFinite(found) && found >= 0)
      }),
    )
  })
})

describe('a time', () => {
  const iso = (text: string, zone: string) => {
    const time = timeOf(text, zone)
    return time === undefined ? undefined : new Date(time).toISOString()
  }

  test('has an offset, or belongs to a time zone', () => {
    expect(iso('2027-01-31T09:00:00Z', 'Europe/Berlin')).toBe('2027-01-31T09:00:00.000Z')
    expect(iso('2027-01-31T09:00+05:30', 'UTC')).toBe('2027-01-31T03:30:00.000Z')
    expect(iso('2027-01-31T09:00', 'Europe/Berlin')).toBe('2027-01-31T08:00:00.000Z')
    expect(iso('2027-07-31 09:00', 'America/New_York')).toBe('2027-07-31T13:00:00.000Z')
    expect(iso('2027-07-31', 'UTC')).toBe('2027-07-31T00:00:00.000Z')
  })

  test('that the clocks skip is as much later, and one that occurs twice is the first', () => {
    expect(iso('2027-03-28T02:30', 'Europe/Berlin')).toBe('2027-03-28T01:30:00.000Z')
    expect(iso('2027-10-31T02:30', 'Europe/Berlin')).toBe('2027-10-31T00:30:00.000Z')
  })

  test('is nothing else', () => {
    for (const text of ['', 'tomorrow', '2027-13-01T00:00Z', '31.01.2027', '2027-01-31T25:00', '10:00']) {
      expect(timeOf(text, 'UTC')).toBeUndefined()
    }
  })

  test('in any zone shows its own clock there', () => {
    const zones = fc.constantFrom('UTC', 'Asia/Kolkata', 'Pacific/Apia', 'America/St_Johns', 'Pacific/Kiritimati')
    // Not at the hours in which these zones change their clocks.
    const times = fc.integer({ min: Date.UTC(2026, 5, 1), max: Date.UTC(2026, 7, 1) })
    fc.assert(
      fc.property(zones, times, (timeZone, at) => {
        const minute = Math.floor(at / 60_000) * 60_000
        const text = new Date(minute).toISOString().slice(0, 16)
        const shown = new Intl.DateTimeFormat('sv-SE', { timeZone, dateStyle: 'short', timeStyle: 'short' })
        return shown.format(timeOf(text, timeZone)) === text.replace('T', ' ')
      }),
    )
  })
})
