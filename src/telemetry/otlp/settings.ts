import { type Sampler, samplerOf } from './sampler.ts'

/** Where and how one kind of data is sent. */
export type OtlpTarget = {
  url: string
  headers: Readonly<Record<string, string>>
  timeoutMs: number
  compression: 'gzip' | 'none'
}

/** The part of the standard's configuration that the service follows. */
export type OtelSettings = {
  /** Attributes of the resource, `service.name` among them. */
  resource: Readonly<Record<string, string>>
  traces?: {
    target: OtlpTarget
    sampler: Sampler
    /** Spans that may wait. Further ones are dropped. */
    queueMax: number
    batchMax: number
    delayMs: number
  }
  metrics?: {
    target: OtlpTarget
    intervalMs: number
    /** The longest time for one export with all its attempts. */
    timeoutMs: number
  }
}

export type Environment = Readonly<Record<string, string | undefined>>

/** `warnings`: for people. The standard demands that an invalid value is reported and ignored. */
export type ReadSettings = { settings: OtelSettings | undefined; warnings: readonly string[] }

/** Reads the environment variables of the OpenTelemetry specification. No settings when nothing is to be sent. */
export function readOtelSettings(environment: Environment): ReadSettings {
  const reader = new Reader(environment)
  const traces = reader.isDisabled ? undefined : tracesOf(reader)
  const metrics = reader.isDisabled ? undefined : metricsOf(reader)
  if (!traces && !metrics) return { settings: undefined, warnings: reader.uniqueWarnings }
  const resource = resourceOf(reader)
  const settings = { resource, ...(traces && { traces }), ...(metrics && { metrics }) }
  return { settings, warnings: reader.uniqueWarnings }
}

function tracesOf(reader: Reader): OtelSettings['traces'] {
  const target = targetOf(reader, 'TRACES', 'v1/traces', ['none'])
  if (!target) return undefined
  const queueMax = reader.whole('OTEL_BSP_MAX_QUEUE_SIZE', 2_048, 1, 1_000_000)
  return {
    target,
    sampler: samplerOf(reader.text('OTEL_TRACES_SAMPLER'), reader.text('OTEL_TRACES_SAMPLER_ARG'), reader.warn),
    queueMax,
    batchMax: Math.min(queueMax, reader.whole('OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512, 1, 10_000)),
    delayMs: reader.whole('OTEL_BSP_SCHEDULE_DELAY', 5_000, 1, 3_600_000),
  }
}

function metricsOf(reader: Reader): OtelSettings['metrics'] {
  // Metrics are always available to Prometheus.
  const target = targetOf(reader, 'METRICS', 'v1/metrics', ['none', 'prometheus'])
  if (!target) return undefined
  reader.only('OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE', 'cumulative')
  reader.only('OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION', 'explicit_bucket_histogram')
  return {
    target,
    intervalMs: reader.whole('OTEL_METRIC_EXPORT_INTERVAL', 60_000, 100, 86_400_000),
    timeoutMs: reader.whole('OTEL_METRIC_EXPORT_TIMEOUT', 30_000, 1, 3_600_000),
  }
}

/** A setting of one signal takes precedence over the one for all signals. `others`: exporters that send nothing. */
function targetOf(reader: Reader, signal: string, path: string, others: readonly string[]): OtlpTarget | undefined {
  const exporters = (reader.text(`OTEL_${signal}_EXPORTER`) ?? 'otlp').split(',').map((name) => name.trim())
  for (const name of exporters.filter((each) => each !== 'otlp' && !others.includes(each)))
    reader.warn(`OTEL_${signal}_EXPORTER: the exporter "${name}" is not supported. Use otlp or none.`)
  if (!exporters.includes('otlp')) return undefined
  const of = (name: string) => {
    const own = `OTEL_EXPORTER_OTLP_${signal}_${name}`
    const named = reader.text(own) === undefined ? `OTEL_EXPORTER_OTLP_${name}` : own
    return { name: named, text: reader.text(named) }
  }
  const url = urlOf(reader, signal, path)
  if (url === undefined) return undefined
  const protocol = of('PROTOCOL')
  if (protocol.text !== undefined && protocol.text !== 'http/json')
    reader.warn(`${protocol.name}: the protocol is http/json, not "${protocol.text}".`)
  const compression = of('COMPRESSION')
  if (compression.text !== undefined && compression.text !== 'gzip' && compression.text !== 'none')
    reader.warn(`${compression.name}: the value must be gzip or none.`)
  const headers = of('HEADERS')
  return {
    ...withoutPassword(url, pairsOf(reader, headers.name)),
    timeoutMs: reader.whole(of('TIMEOUT').name, 10_000, 1, 600_000),
    compression: compression.text === 'gzip' ? 'gzip' : 'none',
  }
}

/** The path belongs only to the address for all signals. */
function urlOf(reader: Reader, signal: string, path: string): string | undefined {
  const own = reader.text(`OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`)
  const name = own === undefined ? 'OTEL_EXPORTER_OTLP_ENDPOINT' : `OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`
  const text = reader.text(name)
  if (text === undefined) return undefined
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    reader.warn(`${name} must be an http or https address, such as http://localhost:4318. Nothing is sent.`)
    return undefined
  }
  if (own === undefined) url.pathname = `${url.pathname.replace(/\/+$/, '')}/${path}`
  return url.href
}

/** `fetch` refuses an address with a user and a password, so they become a header. */
function withoutPassword(
  address: string,
  headers: Readonly<Record<string, string>>,
): Pick<OtlpTarget, 'url' | 'headers'> {
  const url = new URL(address)
  const { username, password } = url
  if (username === '' && password === '') return { url: address, headers }
  url.username = ''
  url.password = ''
  const credentials = `${decoded(username) ?? username}:${decoded(password) ?? password}`
  const authorization = `Basic ${Buffer.from(credentials).toString('base64')}`
  return { url: url.href, headers: { authorization, ...headers } }
}

function resourceOf(reader: Reader): Record<string, string> {
  const given = pairsOf(reader, 'OTEL_RESOURCE_ATTRIBUTES', false)
  return { ...given, 'service.name': reader.text('OTEL_SERVICE_NAME') ?? given['service.name'] ?? 'millrace' }
}

/** `name=value` pairs, separated by commas, with percent encoding. */
function pairsOf(reader: Reader, name: string, isHeaders = true): Record<string, string> {
  const pairs: [string, string][] = []
  for (const part of (reader.text(name) ?? '').split(',')) {
    if (part.trim() === '') continue
    const at = part.indexOf('=')
    const key = part.slice(0, Math.max(0, at)).trim()
    const value = decoded(part.slice(at + 1).trim())
    const isValid = key !== '' && value !== undefined && (!isHeaders || isHeader(key, value))
    if (isValid) pairs.push([isHeaders ? key.toLowerCase() : key, value])
    // The value of a header is a secret.
    else reader.warn(`${name}: a pair${key === '' ? '' : ` (${key})`} is not valid. Write name=value,name=value.`)
  }
  return Object.fromEntries(pairs)
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text)
  } catch {
    return undefined
  }
}

const isHeader = (name: string, value: string) => /^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[ -~\t]*$/.test(value)

class Reader {
  readonly #environment: Environment
  readonly warnings: string[] = []

  constructor(environment: Environment) {
    this.#environment = environment
  }

  get isDisabled(): boolean {
    return this.text('OTEL_SDK_DISABLED')?.toLowerCase() === 'true'
  }

  readonly warn = (message: string): void => {
    this.warnings.push(message)
  }

  /** The variables for all signals are read once per signal. */
  get uniqueWarnings(): readonly string[] {
    return [...new Set(this.warnings)]
  }

  /** Reports any other value than the one that the service supports. */
  only(name: string, value: string): void {
    const text = this.text(name)
    if (text !== undefined && text.toLowerCase() !== value) this.warn(`${name} can only be ${value} here.`)
  }

  /** An empty variable counts as absent. */
  text(name: string): string | undefined {
    return this.#environment[name]?.trim() || undefined
  }

  whole(name: string, usual: number, min: number, max: number): number {
    const text = this.text(name)
    if (text === undefined) return usual
    const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (value >= min && value <= max) return value
    this.warn(`${name} must be a whole number from ${min} to ${max}; ${usual} is used.`)
    return usual
  }
}
