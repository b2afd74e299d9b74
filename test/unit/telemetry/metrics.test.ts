import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { Metrics, seriesMax } from '../../../src/telemetry/metrics.ts'
import { ManualClock } from '../../support/clock.ts'
import { findScrapeFaults, readScrape, valueIn } from '../../support/telemetry/scrape.ts'

const help = 'Something that is counted.'

describe('the metrics text', () => {
  test('reports what was counted, whatever the labels contain', async () => {
    const value = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('"', '\\', '\n', '\\n', '} 1', '{a="b"}'))
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(value, { maxLength: 20 }), async (names) => {
        const metrics = new Metrics({ clock: new ManualClock() })
        const counters = metrics.counters('millrace_things_total', help, ['name', 'kind'])
        for (const [at, name] of names.entries()) counters.of(name, 'x').add(at + 0.5)
        const scrape = readScrape((await metrics.text()) || '\n')
        for (const [at, name] of names.entries()) {
          expect(valueIn(scrape, 'millrace_things_total', { name, kind: 'x' })).toBe(at + 0.5)
        }
      }),
    )
  })

  test('contains the complete help texts', async () => {
    const metrics = new Metrics({ clock: new ManualClock() })
    const text = 'A back\\slash, a "quote"\nand a second line.'
    metrics.counter('millrace_things_total', text)
    expect(readScrape(await metrics.text())[0]?.help).toBe(text)
  })

  test('omits metrics without values', async () => {
    const metrics = new Metrics({ clock: new ManualClock() })
    metrics.counters('millrace_things_total', help, ['kind'])
    metrics.gauge('millrace_unknown', help, () => undefined)
    expect(await metrics.text()).toBe('')
  })

  test('writes large, tiny and infinite numbers so that they are read back exactly', async () => {
    const metrics = new Metrics({ clock: new ManualClock() })
    const values = [2 ** 60, 1e21, 5e-324, -0.25, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
    for (const [at, value] of values.entries()) metrics.gauge(`millrace_value_${at}`, help, () => value)
    const scrape = readScrape(await metrics.text())
    expect(values.map((_, at) => valueIn(scrape, `millrace_value_${at}`))).toEqual(values)
  })
})

describe('a histogram', () => {
  test('counts each value in every bucket that it fits in', async () => {
    const bounds = [0.1, 1, 10]
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.double({ min: 0, max: 20, noNaN: true }), fc.constantFrom(0, ...bounds))),
        async (values) => {
          const metrics = new Metrics({ clock: new ManualClock() })
          const histogram = metrics.histograms('millrace_wait_seconds', help, ['kind'], bounds).of('x')
          for (const value of values) histogram.observe(value)
          const scrape = readScrape(await metrics.text())
          const bucket = (le: string) => valueIn(scrape, 'millrace_wait_seconds_bucket', { kind: 'x', le })
          for (const bound of bounds)
            expect(bucket(String(bound))).toBe(values.filter((value) => value <= bound).length)
          expect(bucket('+Inf')).toBe(values.length)
          expect(valueIn(scrape, 'millrace_wait_seconds_count', { kind: 'x' })).toBe(values.length)
          expect(valueIn(scrape, 'millrace_wait_seconds_sum', { kind: 'x' })).toBe(
            values.reduce((sum, each) => sum + each, 0),
          )
          expect(findScrapeFaults(scrape)).toEqual([])
        },
      ),
    )
  })
})

describe('a value read at each scrape', () => {
  test('is omitted when it is late, without delaying the others', async () => {
    const clock = new ManualClock()
    const metrics = new Metrics({ clock })
    const late = Promise.withResolvers<number>()
    metrics.gauge('millrace_slow', help, () => new Promise<number>(() => {}))
    metrics.gauge('millrace_late', help, () => late.promise)
    metrics.gauge('millrace_known', help, () => 1)
    const text = metrics.text()
    await clock.whenPending(2)
    clock.advance(999)
    late.resolve(2)
    await late.promise
    expect(await Promise.race([text, 'waits'])).toBe('waits')
    clock.advance(1)
    const scrape = readScrape(await text)
    expect(scrape.map(({ name }) => name)).toEqual(['millrace_late', 'millrace_known'])
    expect(clock.pending).toBe(0)
  })

  test('is omitted when it fails', async () => {
    const metrics = new Metrics({ clock: new ManualClock() })
    const fail = () => {
      throw new Error('no')
    }
    metrics.gauge('millrace_broken', help, fail)
    metrics.gauge('millrace_broken_later', help, () => Promise.reject(new Error('no')))
    metrics.gauge('millrace_known', help, () => 1)
    expect(readScrape(await metrics.text()).map(({ name }) => name)).toEqual(['millrace_known'])
  })
})

describe('labels', () => {
  test('cannot create an unlimited number of series', async () => {
    const metrics = new Metrics({ clock: new ManualClock() })
    const counters = metrics.counters('millrace_things_total', help, ['name'])
    for (let n = 0; n < 3 * seriesMax; n++) counters.of(`n${n}`).add()
    counters.of('n0').add()
    const series = readScrape(await metrics.text())[0]?.series ?? []
    expect(series).toHaveLength(seriesMax + 1)
    expect(series.reduce((sum, { value }) => sum + value, 0)).toBe(3 * seriesMax + 1)
    expect(series.find(({ labels }) => labels['name'] === 'other')?.value).toBe(2 * seriesMax)
    expect(series.find(({ labels }) => labels['name'] === 'n0')?.value).toBe(2)
  })

  test('with values that look alike when joined are still different series', () => {
    const counters = new Metrics({ clock: new ManualClock() }).counters('millrace_things_total', help, ['a', 'b'])
    expect(counters.of('x\ny', 'z')).not.toBe(counters.of('x', 'y\nz'))
    expect(counters.of('x', 'y')).toBe(counters.of('x', 'y'))
    expect(() => counters.of('x')).toThrow('2 label values')
  })
})

test('an invalid or duplicate metric name throws', () => {
  const metrics = new Metrics({ clock: new ManualClock() })
  expect(() => metrics.counter('millrace-things', help)).toThrow('not a valid metric name')
  expect(() => metrics.counters('millrace_things_total', help, ['le'])).toThrow('not a valid metric name')
  metrics.counter('millrace_things_total', help)
  expect(() => metrics.counter('millrace_things_total', help)).toThrow('already')
})
