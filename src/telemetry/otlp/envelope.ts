import { newId } from '../../domain/ids.ts'
import type { OtelSettings } from './settings.ts'
import { attributesOf, type KeyValue } from './wire.ts'

/** The attributes of everything that this process sends. The operator's own ones take precedence. */
export function resourceAttributes(resource: OtelSettings['resource'], version: string): KeyValue[] {
  return attributesOf({ 'service.version': version, 'service.instance.id': newId(), ...resource })
}

/** A message up to its spans or metrics, and what follows them. */
export type Envelope = { before: string; after: string }

export function envelopeOf(kind: 'spans' | 'metrics', resource: readonly KeyValue[], version: string): Envelope {
  const { resources, scopes } = memberNames[kind]
  const attributes = JSON.stringify(resource)
  const scope = JSON.stringify({ name: 'millrace', version })
  return {
    before: `{"${resources}":[{"resource":{"attributes":${attributes}},"${scopes}":[{"scope":${scope},"${kind}":[`,
    after: `],"schemaUrl":"${conventions}"}]}]}`,
  }
}

const memberNames = {
  spans: { resources: 'resourceSpans', scopes: 'scopeSpans' },
  metrics: { resources: 'resourceMetrics', scopes: 'scopeMetrics' },
}

/** The version of the semantic conventions that the attributes follow. */
const conventions = 'https://opentelemetry.io/schemas/1.37.0'
