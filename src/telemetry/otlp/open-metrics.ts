import type { ServiceMetrics } from '../service-metrics.ts'
import { envelopeOf } from './envelope.ts'
import { MetricExporter } from './metric-exporter.ts'
import { metricTexts } from './metric-texts.ts'
import type { Sending } from './open-traces.ts'
import { OtlpClient } from './otlp-client.ts'
import type { OtelSettings } from './settings.ts'

/** Connects the parts that export metrics. Loaded only when an address for them is set. */
export function openMetrics(
  metrics: ServiceMetrics,
  { target, intervalMs, timeoutMs }: NonNullable<OtelSettings['metrics']>,
  { resource, version, clock, inSlices, logger }: Sending,
): MetricExporter {
  const client = new OtlpClient({ target, clock, random: Math.random, version })
  const { before, after } = envelopeOf('metrics', resource, version)
  return new MetricExporter({
    ...{ clock, intervalMs, timeoutMs },
    async message() {
      const families = await metrics.read()
      const texts = await inSlices(metricTexts(families, { from: metrics.startedAt, at: clock.now() }))
      return before + texts.join(',') + after
    },
    send: (json, signal) => client.send(json, signal),
    onFailure: (reason) => logger.warn('metrics could not be exported', { reason }),
  })
}
