/**
 * The messages of OTLP 1.x as JSON (https://opentelemetry.io/docs/specs/otlp/#json-protobuf-encoding): IDs are hex
 * digits, 64-bit integers are texts, enumerations are numbers.
 */
export type KeyValue = { key: string; value: AnyValue }
export type AnyValue =
  | { stringValue: string }
  | { intValue: string }
  | { doubleValue: number }
  | { boolValue: boolean }
  | { arrayValue: { values: AnyValue[] } }
type PlainValue = string | number | boolean | readonly string[]

export type OtlpSpan = {
  traceId: string
  spanId: string
  traceState?: string
  parentSpanId?: string
  /** Bits 8 and 9: whether the parent is in another process is known, and it is. */
  flags: number
  name: string
  kind: number
  startTimeUnixNano: string
  endTimeUnixNano: string
  attributes: KeyValue[]
  events?: OtlpEvent[]
  status: { code?: number }
}

export type OtlpEvent = { timeUnixNano: string; name: string; attributes: KeyValue[] }

export const spanKind = { internal: 1, server: 2, client: 3, producer: 4, consumer: 5 } as const
export const statusError = 2

/** Undefined values are left out. */
export function attributesOf(values: Readonly<Record<string, PlainValue | undefined>>): KeyValue[] {
  const found: KeyValue[] = []
  for (const key in values) {
    const value = values[key]
    if (value !== undefined) found.push({ key, value: anyValueOf(value) })
  }
  return found
}

function anyValueOf(value: PlainValue): AnyValue {
  if (typeof value === 'string') return { stringValue: value }
  if (typeof value === 'boolean') return { boolValue: value }
  if (typeof value !== 'number') return { arrayValue: { values: value.map(anyValueOf) } }
  return Number.isSafeInteger(value) ? { intValue: String(value) } : { doubleValue: value }
}

/** Epoch milliseconds, with fractions or without, in nanoseconds. */
export function nanosOf(ms: number): string {
  const whole = Math.floor(ms)
  return `${whole}${String(Math.floor((ms - whole) * 1e6)).padStart(6, '0')}`
}
