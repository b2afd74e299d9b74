import { type TProperties, Type as t } from '@sinclair/typebox'

/**
 * The messages of OTLP 1.x in their JSON encoding, written from the protobuf definitions
 * (`opentelemetry/proto/{common,resource,trace,metrics}/v1` and `collector/{trace,metrics}/v1`). Names outside the
 * definitions are invalid. IDs are hex digits, 64-bit integers decimal texts, enumerations numbers.
 */
const message = <Members extends TProperties>(members: Members) => t.Object(members, { additionalProperties: false })
const uint32 = t.Optional(t.Integer({ minimum: 0, maximum: 4_294_967_295 }))
const fixed64 = t.String({ pattern: '^(0|[1-9]\\d{0,19})$' })
const int64 = t.String({ pattern: '^(0|-?[1-9]\\d{0,18})$' })
const traceId = t.String({ pattern: '^(?!0{32})[0-9a-f]{32}$' })
const spanId = t.String({ pattern: '^(?!0{16})[0-9a-f]{16}$' })
const text = t.Optional(t.String())

const double = t.Union([t.Number(), t.Literal('NaN'), t.Literal('Infinity'), t.Literal('-Infinity')])

const AnyValue = t.Recursive((self) =>
  t.Union([
    message({ stringValue: t.String() }),
    message({ boolValue: t.Boolean() }),
    message({ intValue: int64 }),
    message({ doubleValue: double }),
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

const times = { startTimeUnixNano: t.Optional(fixed64), timeUnixNano: fixed64 }
const point = { attributes: t.Optional(Attributes), ...times, flags: uint32 }
const NumberDataPoint = t.Union([message({ ...point, asDouble: double }), message({ ...point, asInt: int64 })])
const HistogramDataPoint = message({
  ...point,
  count: fixed64,
  sum: t.Optional(double),
  bucketCounts: t.Optional(t.Array(fixed64)),
  explicitBounds: t.Optional(t.Array(double)),
  min: t.Optional(double),
  max: t.Optional(double),
})
const temporality = { aggregationTemporality: t.Integer({ minimum: 1, maximum: 2 }) }
const about = { name: t.String({ minLength: 1 }), description: text, unit: text, metadata: t.Optional(Attributes) }
const NumberPoints = t.Array(NumberDataPoint, { minItems: 1 })
const Metric = t.Union([
  message({ ...about, gauge: message({ dataPoints: NumberPoints }) }),
  message({
    ...about,
    sum: message({ dataPoints: NumberPoints, ...temporality, isMonotonic: t.Optional(t.Boolean()) }),
  }),
  message({
    ...about,
    histogram: message({ dataPoints: t.Array(HistogramDataPoint, { minItems: 1 }), ...temporality }),
  }),
])

export const ExportMetricsServiceRequest = message({
  resourceMetrics: t.Array(
    message({
      resource: Resource,
      scopeMetrics: t.Array(message({ scope: Scope, metrics: t.Array(Metric), schemaUrl: text })),
      schemaUrl: text,
    }),
  ),
})
