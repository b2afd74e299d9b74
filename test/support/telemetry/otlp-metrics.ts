import type { Static } from '@sinclair/typebox'
import type { ExportMetricsServiceRequest } from './otlp-schema.ts'

export type MetricsMessage = Static<typeof ExportMetricsServiceRequest>
export type SeenMetric = MetricsMessage['resourceMetrics'][number]['scopeMetrics'][number]['metrics'][number]

export function metricsIn({ resourceMetrics }: MetricsMessage): SeenMetric[] {
  return resourceMetrics.flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics))
}

/** Violations of the rules that the definitions give in words. */
export function findMetricFaults(metrics: readonly SeenMetric[]): string[] {
  const names = metrics.map(({ name }) => name)
  const repeated = names.filter((name, index) => names.indexOf(name) !== index)
  return [...repeated.map((name) => `${name} occurs twice`), ...metrics.flatMap(faultsOf)]
}

function faultsOf(metric: SeenMetric): string[] {
  const points = pointsOf(metric)
  const keys = points.map(({ attributes }) => JSON.stringify(attributes))
  const faults = new Set(keys).size === keys.length ? [] : [`${metric.name} has the same attributes twice`]
  for (const { startTimeUnixNano, timeUnixNano } of points) {
    const isCounted = !('gauge' in metric)
    if (isCounted !== (startTimeUnixNano !== undefined)) faults.push(`${metric.name}: only counts have a start`)
    if (BigInt(startTimeUnixNano ?? 0) > BigInt(timeUnixNano)) faults.push(`${metric.name} starts after its end`)
  }
  if ('histogram' in metric) {
    for (const { count, bucketCounts = [], explicitBounds = [] } of metric.histogram.dataPoints) {
      const isAscending = explicitBounds.every((each, index) => index === 0 || each > (explicitBounds[index - 1] ?? 0))
      if (bucketCounts.length !== explicitBounds.length + 1) faults.push(`${metric.name} has the wrong bounds`)
      if (!isAscending) faults.push(`${metric.name} has bounds that do not ascend`)
      const total = bucketCounts.reduce((sum, each) => sum + BigInt(each), 0n)
      if (total !== BigInt(count)) faults.push(`${metric.name} has buckets with another sum than its count`)
    }
  }
  return faults
}

type Point = {
  attributes?: { key: string; value: object }[] | undefined
  startTimeUnixNano?: string | undefined
  timeUnixNano: string
}

function pointsOf(metric: SeenMetric): Point[] {
  if ('sum' in metric) return metric.sum.dataPoints
  return 'gauge' in metric ? metric.gauge.dataPoints : metric.histogram.dataPoints
}

/** The series as in Prometheus' text: `name{label="value"}` with its number, and histograms with their counts. */
export function numbersIn(metrics: readonly SeenMetric[]): Map<string, number> {
  return new Map(
    metrics.flatMap((metric) =>
      pointsOf(metric).map((point): [string, number] => {
        const labels = (point.attributes ?? []).map(({ key, value }) => `${key}="${Object.values(value)[0]}"`)
        const suffix = 'histogram' in metric ? '_count' : ''
        const braces = labels.length > 0 ? `{${labels.join(',')}}` : ''
        const value = 'asDouble' in point ? point.asDouble : 'count' in point ? point.count : Number.NaN
        return [`${metric.name}${suffix}${braces}`, Number(value)]
      }),
    ),
  )
}
