import { expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import fc from 'fast-check'
import { Metrics } from '../../../../src/telemetry/metrics.ts'
import { envelopeOf } from '../../../../src/telemetry/otlp/envelope.ts'
import { metricTexts } from '../../../../src/telemetry/otlp/metric-texts.ts'
import { ManualClock } from '../../../support/clock.ts'
import { findMetricFaults, type MetricsMessage, metricsIn } from '../../../support/telemetry/otlp-metrics.ts'
import { ExportMetricsServiceRequest } from '../../../support/telemetry/otlp-schema.ts'
import { readScrape, valueIn } from '../../../support/telemetry/scrape.ts'

const help = 'Something that is counted.'

async function messageOf(metrics: Metrics): Promise<MetricsMessage> {
  const { before, after } = envelopeOf('metrics', [], '1.0.0')
  const slices = metricTexts(await metrics.read(), { from: 1_000, at: 61_000.25 })
  let slice = slices.next()
  while (!slice.done) slice = slices.next()
  const message: unknown = JSON.parse(before + slice.value.join(',') + after)
  expect([...Value.Errors(ExportMetricsServiceRequest, message)]).toEqual([])
  return message as MetricsMessage
}

const newMetrics = () => new Metrics({ clock: new ManualClock() })

test('a counter is a sum since the start', async () => {
  const metrics = newMetrics()
  metrics.counters('millrace_things_total', help, ['kind']).of('a').add(3)
  expect(metricsIn(await messageOf(metrics))).toEqual([
    {
      ...{ name: 'millrace_things_total', description: help, unit: '1' },
      sum: {
        dataPoints: [
          {
            attributes: [{ key: 'kind', value: { stringValue: 'a' } }],
            startTimeUnixNano: '1000000000',
            timeUnixNano: '61000250000',
            asDouble: 3,
          },
        ],
        aggregationTemporality: 2,
        isMonotonic: true,
      },
    },
  ])
})

test('a gauge has no start', async () => {
  const metrics = newMetrics()
  metrics.gauge('millrace_store_bytes', help, () => 0.5)
  expect(metricsIn(await messageOf(metrics))).toEqual([
    {
      ...{ name: 'millrace_store_bytes', description: help, unit: 'By' },
      gauge: { dataPoints: [{ attributes: [], timeUnixNano: '61000250000', asDouble: 0.5 }] },
    },
  ])
})

test('a histogram has the count of each bucket alone', async () => {
  const metrics = newMetrics()
  const waits = metrics.histogram('millrace_wait_seconds', help, [0.1, 1])
  for (const value of [0.05, 0.1, 0.5, 7]) waits.observe(value)
  const [metric] = metricsIn(await messageOf(metrics))
  expect(metric).toMatchObject({
    unit: 's',
    histogram: {
      aggregationTemporality: 2,
      dataPoints: [{ count: '4', sum: 7.65, bucketCounts: ['2', '1', '1'], explicitBounds: [0.1, 1] }],
    },
  })
})

test('metrics without values are left out', async () => {
  const metrics = newMetrics()
  metrics.counters('millrace_things_total', help, ['kind'])
  expect(metricsIn(await messageOf(metrics))).toEqual([])
})

test('infinite numbers are texts', async () => {
  const metrics = newMetrics()
  metrics.gauge('millrace_things', help, () => Number.NEGATIVE_INFINITY)
  expect(metricsIn(await messageOf(metrics))).toMatchObject([{ gauge: { dataPoints: [{ asDouble: '-Infinity' }] } }])
})

test('any histograms are valid, and have the numbers of the scrape', async () => {
  const series = fc.array(fc.array(fc.double({ min: 0, max: 20, noNaN: true }), { maxLength: 30 }), { maxLength: 5 })
  await fc.assert(
    fc.asyncProperty(series, async (all) => {
      const metrics = newMetrics()
      const waits = metrics.histograms('millrace_wait_seconds', help, ['kind'], [0.1, 1, 10])
      for (const [at, values] of all.entries()) for (const value of values) waits.of(`k${at}`).observe(value)
      const found = metricsIn(await messageOf(metrics))
      expect(findMetricFaults(found)).toEqual([])
      const scrape = readScrape((await metrics.text()) || '\n')
      for (const metric of found) {
        if (!('histogram' in metric)) throw new Error('not a histogram')
        for (const { attributes, count, sum } of metric.histogram.dataPoints) {
          const kind = Object.values(attributes?.[0]?.value ?? {})[0] as string
          expect(valueIn(scrape, 'millrace_wait_seconds_count', { kind })).toBe(Number(count))
          expect(valueIn(scrape, 'millrace_wait_seconds_sum', { kind })).toBe(Number(sum))
        }
      }
    }),
  )
})
