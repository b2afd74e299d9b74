import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  cachedTimetable,
  cronProblem,
  type TimetableRule,
  timetableOf,
  timezoneProblem,
} from '../../../src/language/timetable.ts'
import { WallClock } from './wall-clock.ts'

const rule = (more: Partial<TimetableRule>): TimetableRule => ({
  cron: null,
  intervalMs: null,
  timezone: 'UTC',
  startAt: null,
  endAt: null,
  ...more,
})
const timesOf = (of: TimetableRule, from: number, to: number): number[] => {
  const { next } = timetableOf(of)
  const times: number[] = []
  for (let at = next(from - 1); at !== null && at <= to; at = next(at)) times.push(at)
  return times
}
const iso = (times: readonly number[]) => times.map((time) => new Date(time).toISOString())
const day = 86_400_000

// Both hemispheres, a change by half an hour, at midnight, none at all, and zones whose rules changed in these years.
const zones = [
  ...['UTC', 'Europe/Lisbon', 'Europe/Berlin', 'America/New_York', 'America/St_Johns', 'Australia/Lord_Howe'],
  ...['Africa/Cairo', 'America/Santiago', 'Asia/Kolkata', 'Asia/Gaza', 'Europe/Istanbul', 'America/Sao_Paulo'],
  ...['Pacific/Apia', 'Africa/Casablanca', 'Asia/Tehran', 'America/Havana'],
]
const from = Date.UTC(2016, 0, 1)
const to = Date.UTC(2026, 0, 1)

/** One field: its text, and the numbers that it matches. */
type Field = { text: string; values: ReadonlySet<number>; isWild: boolean }
const fieldOf = (low: number, high: number): fc.Arbitrary<Field> => {
  const all = Array.from({ length: high - low + 1 }, (_, index) => low + index)
  const number = fc.integer({ min: low, max: high })
  return fc.oneof(
    { weight: 2, arbitrary: fc.constant({ text: '*', values: new Set(all), isWild: true }) },
    { weight: 4, arbitrary: number.map((value) => ({ text: `${value}`, values: new Set([value]), isWild: false })) },
    fc.tuple(number, number).map(([a, b]) => {
      const [first, last] = a <= b ? [a, b] : [b, a]
      const values = new Set(all.filter((value) => value >= first && value <= last))
      return { text: `${first}-${last}`, values, isWild: false }
    }),
    fc.uniqueArray(number, { minLength: 2, maxLength: 4 }).map((list) => {
      return { text: list.join(','), values: new Set(list), isWild: false }
    }),
    fc.integer({ min: 2, max: Math.min(20, high - low) }).map((step) => {
      return { text: `*/${step}`, values: new Set(all.filter((value) => (value - low) % step === 0)), isWild: true }
    }),
  )
}
const fields = fc.record({
  // Few seconds and minutes, so that ten years have a manageable number of times.
  second: fc.oneof(
    fc.constant(undefined),
    fieldOf(0, 59).filter(({ values }) => values.size <= 2),
  ),
  minute: fieldOf(0, 59).filter(({ values }) => values.size <= 4),
  hour: fieldOf(0, 23),
  dayOfMonth: fieldOf(1, 31),
  month: fieldOf(1, 12),
  dayOfWeek: fieldOf(0, 6),
})

describe('a cron expression', () => {
  test('is due at the same times as an independent calculation, over ten years and all zones', () => {
    const clocks = new Map(zones.map((zone) => [zone, new WallClock(zone, from - 2 * day, to + 2 * day)]))
    fc.assert(
      fc.property(fields, fc.constantFrom(...zones), ({ second, minute, hour, dayOfMonth, month, dayOfWeek }, zone) => {
        const seconds = second ?? { text: '', values: new Set([0]), isWild: false }
        const written = [minute, hour, dayOfMonth, month, dayOfWeek].map(({ text }) => text).join(' ')
        const cron = second ? `${second.text} ${written}` : written
        const isFixed = ![seconds, minute, hour].some(({ isWild }) => isWild)
        const matchesDay = (date: { month: number; day: number; weekday: number }) => {
          const byDay = dayOfMonth.values.has(date.day)
          const byWeek = dayOfWeek.values.has(date.weekday)
          const either = dayOfMonth.text !== '*' && dayOfWeek.text !== '*' ? byDay || byWeek : byDay && byWeek
          return month.values.has(date.month) && either
        }
        const times = { hours: hour.values, minutes: minute.values, seconds: seconds.values }
        const expected = clocks
          .get(zone)!
          .times(matchesDay, times, isFixed)
          .filter((time) => time >= from && time <= to)
        // For frequent schedules, only about a thousand times around a random moment of the ten years.
        const sample =
          expected.length <= 4_000 ? expected : expected.slice(expected.length / 3, expected.length / 3 + 4_000)
        const found = timesOf(rule({ cron, timezone: zone }), sample[0] ?? from, sample.at(-1) ?? to)
        expect({ cron, zone, times: iso(found) }).toEqual({ cron, zone, times: iso(sample) })
      }),
      { numRuns: 80 },
    )
  }, 120_000)

  test('for a time of day is due once on every day, also when the clocks change', () => {
    const everyNight = timesOf(rule({ cron: '30 2 * * *', timezone: 'Europe/Berlin' }), from, to)
    const nights = everyNight.map((time) => new Date(time + 3 * 3_600_000).toISOString().slice(0, 10))
    expect(new Set(nights).size).toBe(nights.length)
    expect(nights.length).toBe((to - from) / day)
    const change = (month: number, date: number) => Date.UTC(2025, month, date)
    const around = (at: number) => iso(timesOf(rule({ cron: '30 2 * * *', timezone: 'Europe/Berlin' }), at, at + day))
    expect(around(change(2, 30))).toEqual(['2025-03-30T01:00:00.000Z'])
    expect(around(change(9, 26))).toEqual(['2025-10-26T00:30:00.000Z'])
  })

  test('for every ten minutes is due in a repeated hour, and not in a skipped one', () => {
    const tens = rule({ cron: '*/10 * * * *', timezone: 'America/New_York' })
    for (const at of [Date.UTC(2025, 2, 9), Date.UTC(2025, 10, 2)]) {
      expect(timesOf(tens, at, at + day - 1)).toEqual(Array.from({ length: 144 }, (_, index) => at + index * 600_000))
    }
  })

  test.each(['', '* * * *', '* * * * * * *', '61 * * * *', '* 25 * * *', 'a b c d e', '0 0 31 2 *', '*/0 * * * *'])(
    '"%s" is refused in words',
    (expression) => {
      expect(cronProblem(expression)).toStartWith(`The cron expression "${expression}" `)
    },
  )

  test('with too few or too many fields is refused with their number', () => {
    expect(cronProblem('* * *')).toContain('it has 3 fields, but needs five or six')
    expect(cronProblem(' ')).toContain('it has 0 fields')
    expect(cronProblem('@daily')).toBeUndefined()
  })

  test.each(['* * * * *', '*/5 * * * * *', '0 9 * * MON-FRI', '0 0 29 2 *', '15 10 L * *'])(
    '"%s" is accepted',
    (text) => {
      expect(cronProblem(text)).toBeUndefined()
    },
  )
})

describe('an interval', () => {
  test('counts from its start, or from the epoch', () => {
    expect(
      iso(timesOf(rule({ intervalMs: 900_000 }), Date.UTC(2025, 0, 1, 0, 1), Date.UTC(2025, 0, 1, 0, 30))),
    ).toEqual(['2025-01-01T00:15:00.000Z', '2025-01-01T00:30:00.000Z'])
    const startAt = Date.UTC(2025, 0, 1, 0, 7)
    expect(iso(timesOf(rule({ intervalMs: 900_000, startAt }), 0, startAt + 900_000))).toEqual([
      '2025-01-01T00:07:00.000Z',
      '2025-01-01T00:22:00.000Z',
    ])
  })
})

test('the start and the end may be due times, and nothing is due outside them', () => {
  const startAt = Date.UTC(2025, 0, 1, 10)
  const endAt = Date.UTC(2025, 0, 1, 12)
  const hours = ['2025-01-01T10:00:00.000Z', '2025-01-01T11:00:00.000Z', '2025-01-01T12:00:00.000Z']
  for (const of of [{ cron: '0 * * * *' }, { intervalMs: 3_600_000 }]) {
    const bounded = rule({ ...of, startAt, endAt })
    expect(iso(timesOf(bounded, 0, endAt + day))).toEqual(hours)
    expect(iso(timetableOf(bounded).last(10, endAt + day))).toEqual(hours)
    expect(timetableOf(bounded).next(endAt)).toBeNull()
    expect(timetableOf(bounded).last(10, startAt)).toEqual([])
  }
})

test('the last times equal those found by repeatedly asking for the next one', () => {
  const rules = fc.oneof(
    fc.constantFrom('*/7 * * * *', '30 2 * * *', '0 0 1 * *', '15 1,2 * * SUN').map((cron) => ({ cron })),
    fc.integer({ min: 1_000, max: 10_000_000 }).map((intervalMs) => ({ intervalMs })),
  )
  fc.assert(
    fc.property(
      rules,
      fc.constantFrom(...zones),
      fc.integer({ min: from, max: to }),
      fc.integer({ min: 0, max: 20 }),
      (of, timezone, at, count) => {
        const { next, last } = timetableOf(rule({ ...of, timezone }))
        const found = last(count, at)
        expect(found).toHaveLength(count)
        for (const [index, time] of found.entries()) {
          expect(time).toBeLessThan(at)
          if (index + 1 < found.length) expect(next(time)).toBe(found[index + 1]!)
          else expect(next(time)).toBeGreaterThanOrEqual(at)
        }
      },
    ),
    { numRuns: 200 },
  )
})

test('the cache returns the computed times, and computes once between two due times', () => {
  const asked = fc.record({ at: fc.integer({ min: 0, max: 40 }), count: fc.integer({ min: 0, max: 2 }) })
  const rules = fc.constantFrom(...[{ cron: '*/7 * * * *' }, { intervalMs: 420_000 }], {
    cron: '*/7 * * * *',
    startAt: '2025-01-01T00:10:00Z',
    endAt: '2025-01-01T00:25:00Z',
  })
  const moment = (minute: number) => Date.UTC(2025, 0, 1) + minute * 60_000
  fc.assert(
    fc.property(rules, fc.array(asked, { maxLength: 20 }), ({ startAt, endAt, ...of }, questions) => {
      const bounds = { startAt: startAt ? Date.parse(startAt) : null, endAt: endAt ? Date.parse(endAt) : null }
      const plain = timetableOf(rule({ ...of, ...bounds }))
      const known = cachedTimetable(plain)
      for (const { at, count } of questions) {
        expect(known.last(count, moment(at))).toEqual(plain.last(count, moment(at)))
        expect(known.next(moment(at))).toBe(plain.next(moment(at)))
      }
    }),
  )
  const plain = timetableOf(rule({ cron: '0 * * * *' }))
  let computed = 0
  const last = (count: number, at: number) => {
    computed += 1
    return plain.last(count, at)
  }
  const known = cachedTimetable({ ...plain, last })
  for (let minute = 1; minute <= 60; minute += 1) known.last(3, moment(minute))
  expect(computed).toBe(1)
})

test('an unknown time zone is refused by name', () => {
  expect(timezoneProblem('Europe/Lisbon')).toBeUndefined()
  expect(timezoneProblem('Europe/Nowhere')).toContain('"Europe/Nowhere"')
})
