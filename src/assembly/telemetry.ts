import type { MetricExporter } from '../telemetry/otlp/metric-exporter.ts'
import type { Sending } from '../telemetry/otlp/open-traces.ts'
import type { RunTraces } from '../telemetry/otlp/run-traces.ts'
import type { OtelSettings } from '../telemetry/otlp/settings.ts'
import type { ServiceMetrics } from '../telemetry/service-metrics.ts'
import type { Base } from './base.ts'

/** The exporters that send data to a collector. */
export type Telemetry = {
  traces: RunTraces | undefined
  metrics: MetricExporter | undefined
  stop(graceMs: number): Promise<void>
}

/** The exporters that the settings turn on. Others are not loaded. */
export async function assembleTelemetry(
  settings: OtelSettings | undefined,
  metrics: ServiceMetrics,
  { build: { version }, clock, slices, logger }: Pick<Base, 'build' | 'clock' | 'slices' | 'logger'>,
): Promise<Telemetry> {
  if (!settings) return { traces: undefined, metrics: undefined, stop: async () => undefined }
  const { resourceAttributes } = await import('../telemetry/otlp/envelope.ts')
  const resource = resourceAttributes(settings.resource, version)
  const sending: Sending = { resource, version, clock, inSlices: slices.run, logger }
  const traces =
    settings.traces && (await import('../telemetry/otlp/open-traces.ts')).openTraces(settings.traces, sending)
  const exporter =
    settings.metrics &&
    (await import('../telemetry/otlp/open-metrics.ts')).openMetrics(metrics, settings.metrics, sending)
  if (traces) {
    metrics.watchTraces(() => traces.counts)
    logger.traceWith(traces.logFieldsOf)
  }
  if (exporter) metrics.watchMetricExports(() => exporter.counts)
  return {
    traces,
    metrics: exporter,
    stop: async (graceMs) => void (await Promise.all([traces?.stop(graceMs), exporter?.stop(graceMs)])),
  }
}
