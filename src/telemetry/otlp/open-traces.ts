import type { Clock } from '../../domain/clock.ts'
import { newId } from '../../domain/ids.ts'
import type { InSlices } from '../../domain/slices.ts'
import type { Logger } from '../logger.ts'
import { OtlpClient } from './otlp-client.ts'
import { RunTraces } from './run-traces.ts'
import type { OtelSettings } from './settings.ts'
import { SpanExporter } from './span-exporter.ts'
import { attributesOf } from './wire.ts'

export type OpenTracesOptions = {
  resource: OtelSettings['resource']
  settings: NonNullable<OtelSettings['traces']>
  version: string
  clock: Clock
  inSlices: InSlices
  logger: Logger
}

/** Connects the parts that export traces. Loaded only when an address for them is set. */
export function openTraces({ resource, settings, version, clock, inSlices, logger }: OpenTracesOptions): RunTraces {
  const { target, sampler, queueMax, batchMax, delayMs } = settings
  const client = new OtlpClient({ target, clock, random: Math.random, version })
  const exporter = new SpanExporter({
    ...{ clock, queueMax, batchMax, delayMs },
    send: (json, signal) => client.send(json, signal),
    envelope: envelopeOf(resource, version),
    onFailure: (reason) => logger.warn('spans could not be exported', { reason }),
  })
  const onBug = (cause: unknown) => logger.error('a trace could not be written', { cause })
  return new RunTraces({ sampler, exporter, inSlices, onBug })
}

function envelopeOf(resource: OtelSettings['resource'], version: string): { before: string; after: string } {
  const own = { 'service.version': version, 'service.instance.id': newId() }
  const attributes = JSON.stringify(attributesOf({ ...own, ...resource }))
  const scope = JSON.stringify({ name: 'millrace', version })
  return {
    before: `{"resourceSpans":[{"resource":{"attributes":${attributes}},"scopeSpans":[{"scope":${scope},"spans":[`,
    after: `],"schemaUrl":"${conventions}"}]}]}`,
  }
}

/** The version of the semantic conventions that the attributes follow. */
const conventions = 'https://opentelemetry.io/schemas/1.37.0'
