import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { bucketsFor } from '../../../src/ui/screens/logs/buckets.ts'
import {
  isFiltered,
  type LogFilter,
  noFilter,
  parametersOf,
  ranges,
  readFilter,
  statuses,
  triggers,
  writeFilter,
} from '../../../src/ui/screens/logs/log-filter.ts'

const id = fc.stringMatching(/^[a-z0-9-]{1,8}$/)
const amount = fc.option(fc.double({ min: 0, max: 1e9, noNaN: true }).map(Math.abs), { nil: undefined })
const time = fc.option(
  fc.date({ min: new Date(0), max: new Date(4e12), noInvalidDate: true }).map((date) => date.toISOString()),
  { nil: undefined },
)
const anyFilter: fc.Arbitrary<LogFilter> = fc.record({
  status: fc.constantFrom(...statuses, undefined),
  search: fc.option(id, { nil: undefined }),
  labels: fc.uniqueArray(fc.stringMatching(/^[a-z]{1,4}:[a-z,: ]{0,6}$/), { maxLength: 3 }),
  triggers: fc.subarray([...triggers]),
  workflowIds: fc.uniqueArray(id, { maxLength: 3 }),
  folderIds: fc.uniqueArray(id, { maxLength: 3 }),
  range: fc.oneof(
    fc.constantFrom(...(Object.keys(ranges) as (keyof typeof ranges)[])),
    fc.record({ from: time, to: time }).filter(({ from, to }) => from !== undefined || to !== undefined),
  ),
  executionId: fc.option(id, { nil: undefined }),
  ...{ minDurationMs: amount, maxDurationMs: amount, minCost: amount, maxCost: amount },
  model: fc.option(id, { nil: undefined }),
})

describe('the URL of the log', () => {
  test('contains every filter and is read back unchanged', () => {
    fc.assert(
      fc.property(anyFilter, (filter) => {
        const written = writeFilter(filter, new URLSearchParams('entry=log_1&level=info&triggers=chat&startDate=2020'))
        expect(written.get('entry')).toBe('log_1')
        expect(readFilter(written)).toEqual(filter)
      }),
    )
  })

  test('omits default values', () => {
    expect(writeFilter(noFilter, new URLSearchParams('level=error&range=7d')).toString()).toBe('')
    expect(isFiltered(noFilter)).toBe(false)
    expect(isFiltered({ ...noFilter, range: 'all' })).toBe(false)
    expect(isFiltered({ ...noFilter, minCost: 0 })).toBe(true)
  })

  test('may contain anything: invalid values are ignored', () => {
    const text = 'level=loud&triggers=api,bell&minCost=-1&maxCost=x&range=constructor&startDate=never&model=%20'
    expect(readFilter(new URLSearchParams(text))).toEqual({ ...noFilter, triggers: ['api'] })
    fc.assert(fc.property(fc.string(), (text) => void readFilter(new URLSearchParams(text))))
  })

  test('requests a range counted back from now, or the one it names', () => {
    const now = Date.UTC(2025, 5, 2)
    expect(parametersOf({ ...noFilter, range: '1h' }, now)['startDate']).toBe('2025-06-01T23:00:00.000Z')
    expect(parametersOf({ ...noFilter, range: 'all' }, now)).not.toHaveProperty('startDate')
    const range = { from: '2025-01-01T00:00:00.000Z', to: undefined }
    expect(parametersOf({ ...noFilter, range }, now)).toMatchObject({ startDate: range.from })
  })
})

test('histogram buckets cover the range, stay below the maximum, and start at round local times', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 4e12 }),
      fc.integer({ min: 0, max: 400 * 86_400_000 }),
      fc.integer({ min: 2, max: 200 }),
      (from, spanMs, most) => {
        const to = from + spanMs
        const buckets = bucketsFor(from, to, most)
        expect(buckets.from).toBeLessThanOrEqual(from)
        expect(buckets.from + buckets.bucketMs * buckets.count).toBeGreaterThan(to)
        expect(buckets.from).toBeGreaterThan(from - buckets.bucketMs)
        if (spanMs < 100 * 86_400_000) expect(buckets.count).toBeLessThanOrEqual(most + 1)
        const offsetMs = new Date(from).getTimezoneOffset() * 60_000
        expect((buckets.from - offsetMs) % Math.min(buckets.bucketMs, 86_400_000)).toBe(0)
      },
    ),
  )
})
