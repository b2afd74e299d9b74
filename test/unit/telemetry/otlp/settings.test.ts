import { expect, test } from 'bun:test'
import { readOtelSettings } from '../../../../src/telemetry/otlp/settings.ts'

const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://localhost:4318' }

test('without an address, nothing is sent', () => {
  expect(readOtelSettings({ OTEL_SERVICE_NAME: 'x' })).toEqual({ settings: undefined, warnings: [] })
})

test.each([
  { OTEL_SDK_DISABLED: 'True' },
  { OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'none' },
  { OTEL_TRACES_EXPORTER: 'none', OTEL_METRICS_EXPORTER: 'prometheus' },
])('%p turns everything off', (more) => {
  expect(readOtelSettings({ ...endpoint, ...more })).toEqual({ settings: undefined, warnings: [] })
})

test('each kind of data can be turned off, or be the only one with an address', () => {
  const kinds = (environment: Record<string, string>) => {
    const { settings } = readOtelSettings(environment)
    return { traces: settings?.traces?.target.url, metrics: settings?.metrics?.target.url }
  }
  expect(kinds({ ...endpoint, OTEL_METRICS_EXPORTER: 'none' })).toEqual({
    traces: 'http://localhost:4318/v1/traces',
    metrics: undefined,
  })
  expect(kinds({ ...endpoint, OTEL_TRACES_EXPORTER: 'none' })).toEqual({
    traces: undefined,
    metrics: 'http://localhost:4318/v1/metrics',
  })
  expect(kinds({ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'http://prometheus/api/v1/otlp/v1/metrics' })).toEqual({
    traces: undefined,
    metrics: 'http://prometheus/api/v1/otlp/v1/metrics',
  })
})

test('the settings of metrics take precedence for metrics', () => {
  const { settings, warnings } = readOtelSettings({
    ...endpoint,
    OTEL_EXPORTER_OTLP_HEADERS: 'a=1',
    OTEL_EXPORTER_OTLP_METRICS_HEADERS: 'b=2',
    OTEL_EXPORTER_OTLP_METRICS_TIMEOUT: '300',
    OTEL_EXPORTER_OTLP_METRICS_COMPRESSION: 'gzip',
    OTEL_METRIC_EXPORT_INTERVAL: '5000',
    OTEL_METRIC_EXPORT_TIMEOUT: '4000',
  })
  expect(warnings).toEqual([])
  expect(settings?.traces?.target).toMatchObject({ headers: { a: '1' }, timeoutMs: 10_000, compression: 'none' })
  expect(settings?.metrics).toEqual({
    target: { url: 'http://localhost:4318/v1/metrics', headers: { b: '2' }, timeoutMs: 300, compression: 'gzip' },
    ...{ intervalMs: 5_000, timeoutMs: 4_000 },
  })
})

test('an address alone is enough: the rest has the defaults of the standard', () => {
  const { settings, warnings } = readOtelSettings(endpoint)
  expect(warnings).toEqual([])
  expect(settings).toEqual({
    resource: { 'service.name': 'millrace' },
    traces: {
      target: { url: 'http://localhost:4318/v1/traces', headers: {}, timeoutMs: 10_000, compression: 'none' },
      sampler: expect.any(Function),
      ...{ queueMax: 2_048, batchMax: 512, delayMs: 5_000 },
    },
    metrics: {
      target: { url: 'http://localhost:4318/v1/metrics', headers: {}, timeoutMs: 10_000, compression: 'none' },
      ...{ intervalMs: 60_000, timeoutMs: 30_000 },
    },
  })
})

test('the settings of traces take precedence, and their address is used as it is', () => {
  const { settings } = readOtelSettings({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://all:4318/base/',
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces/in',
    OTEL_EXPORTER_OTLP_HEADERS: 'a=1',
    OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'Api-Key=one%20two, x=a=b',
    OTEL_EXPORTER_OTLP_TIMEOUT: '500',
    OTEL_EXPORTER_OTLP_TRACES_TIMEOUT: '700',
    OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
  })
  expect(settings?.traces?.target).toEqual({
    url: 'https://traces/in',
    headers: { 'api-key': 'one two', x: 'a=b' },
    timeoutMs: 700,
    compression: 'gzip',
  })
})

test('the address for all signals gets the path of traces, also below a path', () => {
  const { settings } = readOtelSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://all:4318/base/' })
  expect(settings?.traces?.target.url).toBe('http://all:4318/base/v1/traces')
})

test('a user and a password in the address become a header', () => {
  const { settings } = readOtelSettings({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://me:p%40ss@host' })
  expect(settings?.traces?.target).toMatchObject({
    url: 'http://host/v1/traces',
    headers: { authorization: `Basic ${btoa('me:p@ss')}` },
  })
})

test('the resource has the given attributes, and the name of the service takes precedence', () => {
  const { settings } = readOtelSettings({
    ...endpoint,
    OTEL_RESOURCE_ATTRIBUTES: 'service.name=other,deployment.environment.name=pro%2Cd',
    OTEL_SERVICE_NAME: 'orders',
  })
  expect(settings?.resource).toEqual({ 'service.name': 'orders', 'deployment.environment.name': 'pro,d' })
})

const preference = 'OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE'

test.each([
  [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'localhost:4318' }, 'OTEL_EXPORTER_OTLP_ENDPOINT'],
  [{ ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, 'OTEL_EXPORTER_OTLP_PROTOCOL'],
  [{ ...endpoint, OTEL_EXPORTER_OTLP_TIMEOUT: '10s' }, 'OTEL_EXPORTER_OTLP_TIMEOUT'],
  [{ ...endpoint, OTEL_TRACES_SAMPLER: 'jaeger_remote' }, 'OTEL_TRACES_SAMPLER'],
  [{ ...endpoint, OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '2' }, 'OTEL_TRACES_SAMPLER_ARG'],
  [{ ...endpoint, OTEL_BSP_MAX_QUEUE_SIZE: '0' }, 'OTEL_BSP_MAX_QUEUE_SIZE'],
  [{ ...endpoint, OTEL_TRACES_EXPORTER: 'zipkin' }, 'OTEL_TRACES_EXPORTER'],
  [{ ...endpoint, OTEL_EXPORTER_OTLP_COMPRESSION: 'br' }, 'OTEL_EXPORTER_OTLP_COMPRESSION'],
  [{ ...endpoint, OTEL_METRICS_EXPORTER: 'statsd' }, 'OTEL_METRICS_EXPORTER'],
  [{ ...endpoint, OTEL_METRIC_EXPORT_INTERVAL: '1' }, 'OTEL_METRIC_EXPORT_INTERVAL'],
  [{ ...endpoint, [preference]: 'delta' }, preference],
])('an invalid value is reported with its name: %p', (environment, name) => {
  const { warnings } = readOtelSettings(environment)
  expect(warnings).toHaveLength(1)
  expect(warnings[0]).toStartWith(name)
})

test('a warning about headers does not show their values', () => {
  const { warnings, settings } = readOtelSettings({ ...endpoint, OTEL_EXPORTER_OTLP_HEADERS: 'key=%zz-secret,ok=1' })
  expect(warnings).toHaveLength(1)
  expect(warnings.join()).not.toContain('secret')
  expect(settings?.traces?.target.headers).toEqual({ ok: '1' })
})
