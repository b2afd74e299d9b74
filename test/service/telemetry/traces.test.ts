import { expect, test } from 'bun:test'
import { temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'
import { call, deploy, init, serve } from '../../support/running-service.ts'
import { Collector } from '../../support/telemetry/collector.ts'
import { readScrape, valueIn } from '../../support/telemetry/scrape.ts'

/** Calls the health check of the service itself. */
const workflowFor = (service: string) =>
  document({
    name: 'Traced',
    blocks: [
      block('start', 'api_trigger'),
      block('call', 'api', { method: 'GET', url: `${service}/health/live?card=<start.input.card>` }),
    ],
    edges: ['start > call'],
  })

async function spansOf(service: string, outcome: string): Promise<number> {
  const families = readScrape(await (await fetch(`${service}/metrics`)).text())
  return valueIn(families, 'millrace_otlp_spans_total', { outcome }) ?? 0
}

test('runs are exported as traces, and the rest is sent when the service stops', async () => {
  using folder = temporaryFolder()
  using collector = new Collector()
  const { apiKey, workspaceId } = await init(folder.path)
  const service = await serve(folder.path, {
    MILLRACE_OUTBOUND_ALLOW: 'loopback',
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_HEADERS: 'x-tenant=seven',
    OTEL_SERVICE_NAME: 'orders',
    OTEL_BSP_SCHEDULE_DELAY: '10',
  })
  const url = await deploy(service.url, apiKey, workflowFor(service.url))
  const run = async () => (await call(url, apiKey, 'POST', { card: '4111-1111' })).body as { executionId: string }
  const { executionId } = await run()
  await collector.until(({ spans }) => spans.length >= 3)
  const traceId = executionId.replaceAll('-', '')
  const spans = collector.spans.filter((span) => span.traceId === traceId)
  const root = spans.find(({ name }) => name === 'Traced')
  expect(root).toMatchObject({
    kind: 2,
    status: {},
    attributes: {
      'millrace.execution.id': executionId,
      'millrace.workspace.id': workspaceId,
      'millrace.trigger': 'api',
      'millrace.status': 'success',
    },
  })
  expect(spans.find(({ name }) => name === 'call')).toMatchObject({
    kind: 3,
    parentSpanId: root?.spanId,
    attributes: {
      'http.request.method': 'GET',
      'server.address': '127.0.0.1',
      'server.port': Number(new URL(service.url).port),
      'http.response.status_code': 200,
    },
  })
  const [first] = collector.requests
  expect(first?.path).toBe('/v1/traces')
  expect(first?.headers.get('x-tenant')).toBe('seven')
  expect(first?.resource).toMatchObject({ 'service.name': 'orders' })
  expect(JSON.stringify(collector.spans)).not.toContain('4111')
  // A span counts as exported when the response of the collector has arrived.
  while ((await spansOf(service.url, 'exported')) < 3) await Bun.sleep(5)

  const last = await run()
  expect(await service.kill('SIGTERM')).toBe(0)
  expect(collector.spans.map((span) => span.traceId)).toContain(last.executionId.replaceAll('-', ''))
  expect(collector.faults).toEqual([])
  expect(service.errors()).not.toContain('spans could not be exported')
}, 60_000)

test('a collector that never answers delays neither runs nor the stop', async () => {
  using folder = temporaryFolder()
  using collector = new Collector()
  for (let request = 0; request < 100; request++) collector.responses.push(() => new Promise(() => undefined))
  const { apiKey } = await init(folder.path)
  const service = await serve(folder.path, {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_MAX_QUEUE_SIZE: '4',
    OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '2',
  })
  const url = await deploy(service.url, apiKey, document({ blocks: [block('start', 'api_trigger')] }))
  for (let run = 0; run < 20; run++) expect((await call(url, apiKey, 'POST', {})).status).toBe(200)
  while ((await spansOf(service.url, 'dropped')) < 30) await Bun.sleep(5)
  const stoppingAt = performance.now()
  expect(await service.kill('SIGTERM')).toBe(0)
  expect(performance.now() - stoppingAt).toBeLessThan(10_000)
  expect(service.errors()).toContain('spans could not be exported')
}, 60_000)

test.each([{}, { OTEL_SDK_DISABLED: 'true' }, { OTEL_TRACES_SAMPLER: 'always_off', OTEL_METRICS_EXPORTER: 'none' }])(
  'nothing is sent with %p and no address of its own',
  async (environment) => {
    using folder = temporaryFolder()
    using collector = new Collector()
    const { apiKey } = await init(folder.path)
    const isOn = Object.keys(environment).length > 0
    const service = await serve(folder.path, {
      ...(isOn ? { OTEL_EXPORTER_OTLP_ENDPOINT: collector.url } : {}),
      ...environment,
    })
    const url = await deploy(service.url, apiKey, document({ blocks: [block('start', 'api_trigger')] }))
    expect((await call(url, apiKey, 'POST', {})).status).toBe(200)
    expect(await service.kill('SIGTERM')).toBe(0)
    expect(collector.attempts).toBe(0)
  },
  60_000,
)
