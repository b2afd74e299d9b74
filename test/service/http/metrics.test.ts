import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { block, document } from '../../support/make.ts'
import { postgresAddress } from '../../support/store/test-store.ts'
import { type Family, findScrapeFaults, readScrape, valueIn } from '../../support/telemetry/scrape.ts'
import { ExecutionWorld } from './execution-world.ts'

let world: ExecutionWorld
beforeAll(async () => {
  world = await ExecutionWorld.open({ plan: 'free', 'outbound-allow': 'loopback' })
})
afterAll(() => world.close())

async function scrape(): Promise<Family[]> {
  const response = await fetch(`${world.url}/metrics`)
  expect(response.status).toBe(200)
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8')
  return readScrape(await response.text())
}

/** The increase of each number during `act`. */
async function growth(act: () => Promise<unknown>) {
  const before = await scrape()
  await act()
  const after = await scrape()
  return (name: string, labels: Record<string, string> = {}) =>
    (valueIn(after, name, labels) ?? 0) - (valueIn(before, name, labels) ?? 0)
}

const workflow = document({
  name: 'Counted',
  blocks: [
    block('start', 'api_trigger'),
    block('f', 'function', { code: 'if (<start.input>.fail) throw new Error("no")\nreturn 1' }),
  ],
  edges: ['start > f'],
})

describe('the metrics', () => {
  test('need no key, and follow the rules of Prometheus', async () => {
    const id = await world.deploy(workflow)
    await world.execute(id, {})
    const families = await scrape()
    expect(findScrapeFaults(families)).toEqual([])
    expect(families.length).toBeGreaterThan(25)
  })

  test('count requests by route instead of path, and errors by code', async () => {
    const grown = await growth(async () => {
      await world.call('/api/workflows/one')
      await world.call('/api/workflows/two?x=1')
      await world.call('/api/workflows', { key: null })
      await world.call('/nothing/here')
      await world.call('/nothing/there')
      await fetch(`${world.url}/health/live`, { method: 'HEAD' })
      await fetch(`${world.url}/health/live`, { method: 'PROPFIND' })
    })
    const requests = (method: string, route: string, status: string) =>
      grown('http_requests_total', { method, route, status })
    expect(requests('GET', '/api/workflows/{id}', '404')).toBe(2)
    expect(grown('http_request_duration_seconds_count', { method: 'GET', route: '/api/workflows/{id}' })).toBe(2)
    expect(requests('GET', '/api/workflows', '401')).toBe(1)
    expect(requests('GET', '/*', '404')).toBe(2)
    expect(requests('HEAD', '/health/live', '200')).toBe(1)
    expect(requests('other', '/*', '405')).toBe(1)
    expect(grown('millrace_errors_total', { code: 'NOT_FOUND' })).toBe(4)
    expect(grown('millrace_errors_total', { code: 'API_KEY_REQUIRED' })).toBe(1)
  })

  test('count runs by outcome, and measure how long recording them took', async () => {
    const id = await world.deploy(workflow)
    const route = '/api/workflows/{id}/execute'
    const grown = await growth(async () => {
      expect((await world.execute(id, {})).status).toBe(200)
      expect((await world.execute(id, { fail: true })).status).toBe(500)
      expect((await world.execute('missing', {})).status).toBe(404)
    })
    expect(grown('http_requests_total', { method: 'POST', route, status: '200' })).toBe(1)
    expect(grown('http_requests_total', { method: 'POST', route, status: '500' })).toBe(1)
    expect(grown('http_requests_total', { method: 'POST', route, status: '404' })).toBe(1)
    expect(grown('http_request_duration_seconds_count', { method: 'POST', route })).toBe(3)
    expect(grown('millrace_runs_total', { trigger: 'api', outcome: 'success' })).toBe(1)
    expect(grown('millrace_runs_total', { trigger: 'api', outcome: 'failed' })).toBe(1)
    expect(grown('millrace_run_duration_seconds_count', { trigger: 'api' })).toBe(2)
    expect(grown('millrace_commit_rows_sum')).toBe(2)
    expect(grown('millrace_commit_duration_seconds_count')).toBe(grown('millrace_commit_rows_count'))
    expect(grown('millrace_commit_duration_seconds_sum')).toBeGreaterThan(0)
  })

  test('show work in flight, and zero afterwards', async () => {
    const asked = Promise.withResolvers<void>()
    const response = Promise.withResolvers<Response>()
    const waiting = () => {
      asked.resolve()
      return response.promise
    }
    const peer = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => waiting() })
    try {
      const id = await world.deploy(
        document({
          name: 'Waits',
          blocks: [block('start', 'api_trigger'), block('call', 'api', { url: peer.url.href, method: 'GET' })],
          edges: ['start > call'],
        }),
      )
      const grown = await growth(async () => {
        const run = world.execute(id, {})
        await asked.promise
        const during = await scrape()
        expect(valueIn(during, 'millrace_runs_in_flight')).toBe(1)
        expect(valueIn(during, 'millrace_outbound_requests_in_flight')).toBe(1)
        expect(valueIn(during, 'millrace_outbound_requests_waiting')).toBe(0)
        response.resolve(new Response('{}', { status: 203 }))
        await run
        const after = await scrape()
        expect(valueIn(after, 'millrace_runs_in_flight')).toBe(0)
        expect(valueIn(after, 'millrace_outbound_requests_in_flight')).toBe(0)
      })
      expect(grown('millrace_outbound_requests_total', { outcome: '2xx' })).toBe(1)
      expect(grown('millrace_outbound_request_duration_seconds_count')).toBe(1)
    } finally {
      await peer.stop(true)
    }
  })

  test('show asynchronous runs in progress, and how long they waited', async () => {
    const asked = Promise.withResolvers<void>()
    const response = Promise.withResolvers<Response>()
    const waiting = () => {
      asked.resolve()
      return response.promise
    }
    const peer = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: waiting })
    try {
      const blocks = [block('start', 'api_trigger'), block('call', 'api', { url: peer.url.href, method: 'GET' })]
      const id = await world.deploy(document({ name: 'Later', blocks, edges: ['start > call'] }))
      const grown = await growth(async () => {
        const { status, json } = await world.execute(id, {}, { headers: { 'x-execution-mode': 'async' } })
        expect(status).toBe(202)
        await asked.promise
        expect(valueIn(await scrape(), 'millrace_jobs', { status: 'processing' })).toBe(1)
        response.resolve(new Response('{}'))
        const { statusUrl } = json as { statusUrl: string }
        const isDone = async () => ((await world.call(statusUrl)).json as { status: string }).status === 'completed'
        while (!(await isDone())) await Bun.sleep(5)
        while (valueIn(await scrape(), 'millrace_jobs', { status: 'processing' }) !== 0) await Bun.sleep(5)
      })
      expect(grown('millrace_runs_total', { trigger: 'api', outcome: 'success' })).toBe(1)
      expect(grown('millrace_job_wait_seconds_count')).toBe(1)
      expect(valueIn(await scrape(), 'millrace_jobs', { status: 'queued' })).toBe(0)
    } finally {
      await peer.stop(true)
    }
  })

  test('count refusals by rate limits', async () => {
    const grown = await growth(async () => {
      const statuses = []
      for (let n = 0; n < 11; n++)
        statuses.push((await world.call(`/api/v1/logs?workspaceId=${world.workspaceId}`)).status)
      expect(statuses.at(-1)).toBe(429)
    })
    expect(grown('millrace_rate_limit_refusals_total', { window: 'external' })).toBe(1)
    expect(grown('millrace_errors_total', { code: 'RATE_LIMIT_EXCEEDED' })).toBe(1)
  })

  test('describe the process, the database and the build', async () => {
    const families = await scrape()
    const value = (name: string) => valueIn(families, name) ?? Number.NaN
    expect(value('process_cpu_seconds_total')).toBeGreaterThan(0)
    expect(value('process_resident_memory_bytes')).toBeGreaterThan(10_000_000)
    expect(Math.abs(value('process_start_time_seconds') - Date.now() / 1000)).toBeLessThan(3_600)
    expect(value('process_open_fds')).toBeGreaterThan(3)
    expect(value('process_max_fds')).toBeGreaterThan(value('process_open_fds'))
    expect(value('millrace_database_bytes')).toBeGreaterThanOrEqual(4_096)
    if (postgresAddress === undefined) {
      expect(value('millrace_wal_bytes')).toBeGreaterThan(0)
      expect(value('millrace_disk_free_bytes')).toBeGreaterThan(0)
      expect(valueIn(families, 'millrace_storage_calls_waiting', { thread: 'reader' })).toBe(0)
      expect(valueIn(families, 'millrace_storage_calls_waiting', { thread: 'searcher' })).toBe(0)
    } else {
      expect(valueIn(families, 'millrace_database_connections', { state: 'busy' })).toBeGreaterThanOrEqual(0)
      expect(valueIn(families, 'millrace_database_connections', { state: 'idle' })).toBeGreaterThan(0)
      expect(value('millrace_database_calls_waiting')).toBe(0)
    }
    expect(value('millrace_storage_healthy')).toBe(1)
    expect(value('millrace_runs_in_flight_max')).toBe(20)
    expect(valueIn(families, 'millrace_build_info', { version: 'test', commit: 'test', bun: Bun.version })).toBe(1)
  })
})
