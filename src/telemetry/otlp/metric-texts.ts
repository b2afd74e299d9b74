import type { Slices } from '../../domain/slices.ts'
import type { Sample } from '../exposition.ts'
import type { FamilyReading } from '../metrics.ts'
import { attributesOf, type KeyValue, nanosOf } from './wire.ts'

/** Counts are since `from`, in epoch milliseconds. */
export type MetricTimes = { from: number; at: number }

/**
 * The JSON texts of metrics. Names are the same as for Prometheus, as the OpenTelemetry specification has it in
 * "Prometheus and OpenMetrics Compatibility".
 */
export function* metricTexts(families: readonly FamilyReading[], times: MetricTimes): Slices<string[]> {
  const texts: string[] = []
  for (const family of families) {
    if (family.samples.length > 0) texts.push(JSON.stringify(otlpMetric(family, times)))
    yield
  }
  return texts
}

function otlpMetric({ name, help, type, labels, samples }: FamilyReading, { from, at }: MetricTimes): OtlpMetric {
  const timeUnixNano = nanosOf(at)
  const counted = { startTimeUnixNano: nanosOf(from), timeUnixNano }
  const attributesFor = (sample: Sample) =>
    attributesOf(Object.fromEntries(labels.map((label, index) => [label, sample.labels[index] ?? ''])))
  const numbers = (time: typeof counted | { timeUnixNano: string }) =>
    samples.map((sample) => ({ attributes: attributesFor(sample), ...time, asDouble: doubleOf(sample.value) }))
  const about = { name, description: help, unit: unitOf(name) }
  switch (type) {
    case 'counter':
      return {
        ...about,
        sum: { dataPoints: numbers(counted), aggregationTemporality: cumulative, isMonotonic: true },
      }
    case 'gauge':
      return { ...about, gauge: { dataPoints: numbers({ timeUnixNano }) } }
    case 'histogram':
      return {
        ...about,
        histogram: {
          dataPoints: seriesOf(samples).map((series) => ({
            attributes: attributesFor(series[0]!),
            ...counted,
            ...distributionOf(series),
          })),
          aggregationTemporality: cumulative,
        },
      }
  }
}

type NumberPoint = {
  attributes: KeyValue[]
  startTimeUnixNano?: string
  timeUnixNano: string
  asDouble: number | string
}
type Distribution = { count: string; sum: number | string; bucketCounts: string[]; explicitBounds: number[] }
type HistogramPoint = Omit<NumberPoint, 'asDouble'> & Distribution
type OtlpMetric = { name: string; description: string; unit: string } & (
  | { sum: { dataPoints: NumberPoint[]; aggregationTemporality: number; isMonotonic: true } }
  | { gauge: { dataPoints: NumberPoint[] } }
  | { histogram: { dataPoints: HistogramPoint[]; aggregationTemporality: number } }
)

/** The samples of a histogram by series. The count is the last of each. */
function seriesOf(samples: readonly Sample[]): Sample[][] {
  const all: Sample[][] = []
  let series: Sample[] = []
  for (const sample of samples) {
    series.push(sample)
    if (sample.suffix !== '_count') continue
    all.push(series)
    series = []
  }
  return all
}

/** Here, the count of a bucket excludes smaller bounds, and the last bucket has none. */
function distributionOf(series: readonly Sample[]): Distribution {
  const buckets = series.filter(({ suffix }) => suffix === '_bucket')
  return {
    count: String(series.at(-1)?.value ?? 0),
    sum: doubleOf(series.find(({ suffix }) => suffix === '_sum')?.value ?? 0),
    bucketCounts: buckets.map(({ value }, index) => String(value - (buckets[index - 1]?.value ?? 0))),
    explicitBounds: buckets.slice(0, -1).map(({ bound }) => bound ?? 0),
  }
}

/** JSON has no infinite numbers, so protobuf writes them as texts. */
function doubleOf(value: number): number | string {
  return Number.isFinite(value) ? value : String(value)
}

/** The unit that the name contains, as UCUM writes it. */
function unitOf(name: string): string {
  if (/_seconds(_|$)/.test(name)) return 's'
  return /_bytes(_|$)/.test(name) ? 'By' : '1'
}

const cumulative = 2
