import type { Metrics } from './metrics.ts'

/**
 * Spans of exported traces since the start. `dropped`: there was no room for them. `failed`: the collector did not take
 * them.
 */
export type SpanCounts = { exported: number; dropped: number; failed: number }

export function addTraceMetrics(metrics: Metrics, read: () => SpanCounts): void {
  const help = 'Spans of sampled runs: exported, dropped because too many waited, or failed at the collector.'
  metrics.reading({ name: 'millrace_otlp_spans_total', help, type: 'counter', labels: ['outcome'] }, () => {
    const { exported, dropped, failed } = read()
    return [
      { labels: ['exported'], value: exported },
      { labels: ['dropped'], value: dropped },
      { labels: ['failed'], value: failed },
    ]
  })
}

/** Messages with all metrics since the start. `failed`: the collector did not take all of one. */
export type ExportCounts = { exported: number; failed: number }

export function addMetricExportMetrics(metrics: Metrics, read: () => ExportCounts): void {
  const help = 'Exports of all metrics to the collector: exported, or failed.'
  metrics.reading({ name: 'millrace_otlp_metric_exports_total', help, type: 'counter', labels: ['outcome'] }, () => {
    const { exported, failed } = read()
    return [
      { labels: ['exported'], value: exported },
      { labels: ['failed'], value: failed },
    ]
  })
}
