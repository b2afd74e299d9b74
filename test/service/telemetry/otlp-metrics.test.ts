import { expect, test } from 'bun:test'
import { temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'
import { call, deploy, init, serve } from '../../support/running-service.ts'
import { Collector } from '../../support/telemetry/collector.ts'
import { numbersIn } from '../../support/telemetry/otlp-metrics.ts'
import { readScrape } from '../../support/telemetry/scrape.ts'

test('all metrics of the scrape are exported, and the last values when the service stops', async () => {
  using folder = temporaryFolder()
  using collector = new Collector()
  const { apiKey } = await init(folder.path)
  const service = await serve(folder.path, {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_EXPORTER_OTLP_COMPRESSION: 'gzip',
    OTEL_TRACES_EXPORTER: 'none',
    OTEL_METRIC_EXPORT_INTERVAL: '100',
    OTEL_SERVICE_NAME: 'orders',
  })
  const url = await deploy(service.url, apiKey, document({ blocks: [block('start', 'api_trigger')] }))
  const run = async () => expect((await call(url, apiKey, 'POST', {})).status).toBe(200)
  await run()
  const runs = () => [...numbersIn(collector.metrics)].find(([name]) => name.startsWith('millrace_runs_total{'))?.[1]
  await collector.until(() => runs() === 1)

  const scraped = readScrape(await (await fetch(`${service.url}/metrics`)).text())
  const before = collector.requests.length
  await collector.until(({ requests }) => requests.length > before + 1)
  expect(new Set(collector.metrics.map(({ name }) => name))).toEqual(new Set(scraped.map(({ name }) => name)))
  const [request] = collector.requests
  expect(request?.path).toBe('/v1/metrics')
  expect(request?.resource).toMatchObject({ 'service.name': 'orders' })

  for (let count = 0; count < 5; count++) await run()
  expect(await service.kill('SIGTERM')).toBe(0)
  expect(runs()).toBe(6)
  expect(collector.faults).toEqual([])
  expect(service.errors()).not.toContain('could not be exported')
}, 60_000)

test('a collector for metrics that never answers delays neither runs nor the stop', async () => {
  using folder = temporaryFolder()
  using collector = new Collector()
  for (let request = 0; request < 100; request++) collector.responses.push(() => new Promise(() => undefined))
  const { apiKey } = await init(folder.path)
  const service = await serve(folder.path, {
    OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: collector.url,
    OTEL_METRIC_EXPORT_INTERVAL: '100',
    OTEL_METRIC_EXPORT_TIMEOUT: '300',
  })
  const url = await deploy(service.url, apiKey, document({ blocks: [block('start', 'api_trigger')] }))
  await collector.until(({ attempts }) => attempts > 1)
  expect((await call(url, apiKey, 'POST', {})).status).toBe(200)
  const stoppingAt = performance.now()
  expect(await service.kill('SIGTERM')).toBe(0)
  expect(performance.now() - stoppingAt).toBeLessThan(10_000)
  expect(service.errors()).toContain('metrics could not be exported')
}, 60_000)
