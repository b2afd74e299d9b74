import type { Clock } from '../../domain/clock.ts'
import type { InSlices } from '../../domain/slices.ts'
import type { Logger } from '../logger.ts'
import { envelopeOf } from './envelope.ts'
import { OtlpClient } from './otlp-client.ts'
import { RunTraces } from './run-traces.ts'
import type { OtelSettings } from './settings.ts'
import { SpanExporter } from './span-exporter.ts'
import type { KeyValue } from './wire.ts'

/** The dependencies of every kind of data. */
export type Sending = {
  resource: readonly KeyValue[]
  version: string
  clock: Clock
  inSlices: InSlices
  logger: Logger
}

/** Connects the parts that export traces. Loaded only when an address for them is set. */
export function openTraces(
  { target, sampler, queueMax, batchMax, delayMs }: NonNullable<OtelSettings['traces']>,
  { resource, version, clock, inSlices, logger }: Sending,
): RunTraces {
  const client = new OtlpClient({ target, clock, random: Math.random, version })
  const exporter = new SpanExporter({
    ...{ clock, queueMax, batchMax, delayMs },
    send: (json, signal) => client.send(json, signal),
    envelope: envelopeOf('spans', resource, version),
    onFailure: (reason) => logger.warn('spans could not be exported', { reason }),
  })
  const onBug = (cause: unknown) => logger.error('a trace could not be written', { cause })
  return new RunTraces({ sampler, exporter, inSlices, onBug })
}
