import { type TProperties, Type as t } from '@sinclair/typebox'

/**
 * The messages of OTLP 1.x in their JSON encoding, written from the protobuf definitions
 * (`opentelemetry/proto/{common,resource,trace,collector/trace}/v1`). Names outside the definitions are invalid. IDs
 * are hex digits, 64-bit integers decimal texts, enumerations numbers.
 */
const message = <Members extends TProperties>(members: Members) => t.Object(members, { additionalProperties: false })
const uint32 = t.Optional(t.Integer({ minimum: 0, maximum: 4_294_967_295 }))
const fixed64 = t.String({ pattern: '^(0|[1-9]\\d{0,19})$' })
const int64 = t.String({ pattern: '^(0|-?[1-9]\\d{0,18})$' })
const traceId = t.String({ pattern: '^(?!0{32})[0-9a-f]{32}$' })
const spanId = t.String({ pattern: '^(?!0{16})[0-9a-f]{16}$' })
const text = t.Optional(t.String())

const AnyValue = t.Recursive((self) =>
  t.Union([
    message({ stringValue: t.String() }),
    message({ boolValue: t.Boolean() }),
    message({ intValue: int64 }),
    message({ doubleValue: t.Union([t.Number(), t.Literal('NaN'), t.Literal('Infinity'), t.Literal('-Infinity')]) }),
    message({ arrayValue: message({ values: t.Array(self) }) }),
    message({ kvlistValue: message({ values: t.Array(message({ key: t.String({ minLength: 1 }), value: self })) }) }),
    message({ bytesValue: t.String() }),
  ]),
)
export const Attributes = t.Array(message({ key: t.String({ minLength: 1 }), value: AnyValue }))
const attributes = { attributes: t.Optional(Attributes), droppedAttributesCount: uint32 }

export const Resource = message({ ...attributes })
export const Scope = message({ name: text, version: text, ...attributes })

const Event = message({ timeUnixNano: fixed64, name: t.String({ minLength: 1 }), ...attributes })
const Link = message({ traceId, spanId, traceState: text, ...attributes, flags: uint32 })
const Status = message({ message: text, code: t.Optional(t.Integer({ minimum: 0, maximum: 2 })) })

const Span = message({
  ...{ traceId, spanId, traceState: text, parentSpanId: t.Optional(spanId), flags: uint32 },
  name: t.String({ minLength: 1 }),
  kind: t.Optional(t.Integer({ minimum: 0, maximum: 5 })),
  startTimeUnixNano: fixed64,
  endTimeUnixNano: fixed64,
  ...attributes,
  ...{ events: t.Optional(t.Array(Event)), droppedEventsCount: uint32 },
  ...{ links: t.Optional(t.Array(Link)), droppedLinksCount: uint32 },
  status: t.Optional(Status),
})

export const ExportTraceServiceRequest = message({
  resourceSpans: t.Array(
    message({
      resource: Resource,
      scopeSpans: t.Array(message({ scope: Scope, spans: t.Array(Span), schemaUrl: text })),
      schemaUrl: text,
    }),
  ),
})
