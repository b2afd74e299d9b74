import { mkdtempSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { PostgresServer } from '../test/support/store/postgres.ts'
import {
  openStoreOf,
  type Place,
  sealOf,
  secretKey,
  type Template,
  templateOf,
  writePaused,
} from './support/pause-seed.ts'
import {
  deploy,
  initMillrace,
  load,
  type Millrace,
  median,
  percentile,
  residentMb,
  serveMillrace,
} from './support/service.ts'
import { get, post, succeeded, unfinished, until } from './support/service-calls.ts'

/**
 * How much do paused runs cost, how late do they continue, and how fast do runs pause and continue? `bun
 * bench/pauses.ts [paused 1000000] [seconds 20] [rounds 3] [sqlite|postgres]` copies one run that the service has
 * paused, and continues some of the copies. Each copy has its own IDs and encryption. The benchmark alternates between
 * starts of the service with and without the copies.
 */
const [paused = 1_000_000, seconds = 20, rounds = 3] = process.argv.slice(2, 5).map(Number)
const isPostgres = process.argv[5] === 'postgres'
const day = 86_400_000

await using server = isPostgres ? await PostgresServer.start({ isDurable: true }) : undefined
const places: Place[] = []
const running = new Set<Millrace>()
const without = await installed()
const many = await installed()
const templates = await templatesOf(many)
const seal = await sealOf(many)
try {
  console.log(`${isPostgres ? 'PostgreSQL' : 'SQLite'}, load ${loadavg()[0]!.toFixed(1)}`)
  const startedAt = performance.now()
  const ids = await seeded(templates.wait, paused, (index) => Date.now() + 30 * day + index * 1_000)
  console.log(`${paused} paused runs written in ${((performance.now() - startedAt) / 1_000).toFixed(0)} s`)

  await reportStarts()
  await reportSample(ids)
  await reportLists()
  const perSecond = 100
  await reportDue(`${perSecond} due each second`, seconds * perSecond, (index) => (index * 1_000) / perSecond)
  await reportDue('1000 due at once', 1_000, () => 0)
  await reportDue('20000 due at once', 20_000, () => 0)
  await reportPausing()
  await reportAnswers()
} finally {
  for (const service of running) await service.stop()
  for (const { directory } of places) rmSync(directory, { recursive: true })
}

/** The time from exec to the first 200 of `/health/ready`, and the memory ten seconds later. */
async function reportStarts(): Promise<void> {
  const results = {
    without: { ready: [] as number[], mb: [] as number[] },
    with: { ready: [] as number[], mb: [] as number[] },
  }
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, place] of [
      ['without', without],
      ['with', many],
    ] as const) {
      const from = performance.now()
      const service = await served(place)
      await until(async () => (await fetch(`${service.url}/health/ready`)).ok)
      results[name].ready.push(performance.now() - from)
      await Bun.sleep(10_000)
      results[name].mb.push(await residentMb(service.pid))
      await service.stop()
    }
  }
  for (const [name, { ready, mb }] of Object.entries(results)) {
    const slowest = Math.max(...ready).toFixed(0)
    console.log(`${name}: ready after ${median(ready).toFixed(0)} ms (at most ${slowest}), ${median(mb).toFixed(1)} MB`)
  }
}

/** Continues a sample of the copies. Each must end like the copied run. */
async function reportSample(ids: readonly string[]): Promise<void> {
  const service = await served(many)
  const sample = Array.from({ length: Math.min(100, ids.length) }, (_, at) => ids[Math.floor((at * ids.length) / 100)]!)
  for (const id of sample) await post(service, `/api/workspaces/${many.workspaceId}/pauses/${id}/resume`)
  await until(async () => (await succeeded(service)) === sample.length)
  console.log(`${sample.length} of the copies continued, and succeeded`)
  await service.stop()
}

/** Lists that must not read every paused run. */
async function reportLists(): Promise<void> {
  const service = await served(many)
  const base = `/api/workspaces/${many.workspaceId}`
  const rare = templates.approval.row.workflowId
  const lists = {
    'pauses of the workspace': `${base}/pauses?limit=100`,
    'pauses of a workflow with one': `${base}/pauses?limit=100&workflowId=${rare}`,
    'pauses of a kind with one': `${base}/pauses?limit=100&kind=approval`,
    'paused runs': `${base}/runs?limit=100&status=paused`,
    'paused runs of a workflow with one': `${base}/runs?limit=100&status=paused&workflowId=${rare}`,
    'runs in progress': `${base}/runs?limit=100&status=processing`,
    "Sim's list of a workflow with one": `/api/workflows/${rare}/paused`,
  }
  for (const [name, path] of Object.entries(lists)) {
    const times: number[] = []
    for (let round = 0; round < 5; round += 1) {
      const from = performance.now()
      const response = await fetch(service.url + path, { headers: { 'x-api-key': service.apiKey } })
      if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
      await response.arrayBuffer()
      times.push(performance.now() - from)
    }
    console.log(`  ${name}: ${median(times).toFixed(1)} ms`)
  }
  await service.stop()
}

/** Reports how late the block after the wait begins. */
async function reportDue(name: string, count: number, offsetOf: (index: number) => number): Promise<void> {
  const firstAt = Date.now() + 4_000 + count / 4
  await seeded(templates.wait, count, (index) => firstAt + offsetOf(index))
  const service = await served(many)
  if (Date.now() > firstAt) throw new Error('The service was ready too late')
  await until(async () => (await succeeded(service)) >= count, 120_000)
  const runs = await endsSince(service, firstAt)
  const late = runs.map(({ until, began }) => began - until)
  const of = (share: number) => percentile(late, share).toFixed(0)
  const took = Math.max(...runs.map(({ began }) => began)) - firstAt
  console.log(
    `${name}: ${late.length} runs, late by p50 ${of(0.5)} ms, p99 ${of(0.99)} ms, at most ${Math.max(...late)} ms` +
      ` (${Math.round((count * 1_000) / Math.max(1, took))} a second)`,
  )
  await service.stop()
}

/** Measures how fast asynchronous runs, started over HTTP, are accepted and pause at a wait. */
async function reportPausing(): Promise<void> {
  const service = await served(many)
  const url = `${service.url}/api/workflows/${templates.wait.row.workflowId}/execute`
  const headers = [`X-API-Key: ${service.apiKey}`, 'X-Execution-Mode: async']
  const body = JSON.stringify({ until: new Date(Date.now() + 90 * day).toISOString() })
  await load({ url, connections: 64, ms: 3_000, body, headers })
  await until(async () => (await unfinished(service)) === 0, 60_000)
  const from = performance.now()
  const { requests } = await load({ url, connections: 64, ms: 5_000, body, headers })
  await until(async () => (await unfinished(service)) === 0, 60_000)
  const took = (performance.now() - from) / 1_000
  console.log(`pausing: ${Math.round(requests / took)} waits a second, started over HTTP`)
  await service.stop()
}

/** Measures how fast approvals are answered over HTTP, and how long their runs take to end. */
async function reportAnswers(): Promise<void> {
  const count = 20_000
  const ids = await seeded(templates.approval, count, () => null)
  const service = await served(many)
  const tokens = seal.tokens(service.url)
  const urls = ids.map((id) => tokens.linksOf(id).callbackUrl)
  const latencies: number[] = []
  const from = performance.now()
  const answering = Array.from({ length: 64 }, async () => {
    for (let url = urls.pop(); url !== undefined; url = urls.pop()) {
      const sentAt = performance.now()
      const response = await fetch(url, { method: 'POST', body: '{"approved":true}' })
      if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
      await response.arrayBuffer()
      latencies.push(performance.now() - sentAt)
    }
  })
  await Promise.all(answering)
  const answered = performance.now() - from
  await until(async () => (await succeeded(service)) >= count, 120_000)
  const ended = performance.now() - from
  const rate = (ms: number) => Math.round((count * 1_000) / ms)
  console.log(
    `answers: ${rate(answered)} a second with 64 callers, p99 ${percentile(latencies, 0.99).toFixed(0)} ms; ` +
      `${rate(ended)} runs a second until the last one has ended`,
  )
  await service.stop()
}

/** Stops the service even after a failure. */
async function served(place: Place): Promise<Millrace> {
  const service = await serveMillrace(place, place.environment)
  const entry: Millrace = {
    ...service,
    async stop() {
      running.delete(entry)
      await service.stop()
    },
  }
  running.add(entry)
  return entry
}

async function installed(): Promise<Place> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
  const environment: Record<string, string> = { MILLRACE_SECRET_KEY: secretKey }
  if (server) environment['MILLRACE_STORE'] = await server.createDatabase()
  const place = { ...initMillrace(directory, environment), environment }
  places.push(place)
  return place
}

/** Pauses one run of each kind, and reads its job and its pause from the disk. */
async function templatesOf(place: Place): Promise<{ wait: Template; approval: Template }> {
  const service = await served(place)
  const start = {
    id: 'start',
    type: 'api_trigger',
    name: 'Start',
    params: { inputFormat: [{ name: 'until', type: 'string' }] },
  }
  const run = async (name: string, block: { id: string }, data: object) => {
    const end = { id: 'end', type: 'response', name: 'End', params: { data } }
    const url = await deploy(service, {
      name,
      blocks: { start, [block.id]: block, end },
      edges: [
        { source: 'start', target: block.id, sourceHandle: 'source' },
        { source: block.id, target: 'end', sourceHandle: 'source' },
      ],
    })
    const far = new Date(Date.now() + 90 * day).toISOString()
    const { executionId } = await post<{ executionId: string }>(service, new URL(url).pathname, { until: far }, 'async')
    await until(async () => (await get<{ status: string }>(service, `/api/jobs/${executionId}`)).status === 'paused')
    return executionId
  }
  const wait = { id: 'wait', type: 'wait', name: 'Wait', params: { until: '<api.until>' } }
  const ask = { id: 'ask', type: 'approval', name: 'Ask', params: { title: 'Go on?' } }
  const ids = {
    wait: await run('Wait', wait, { until: '<api.until>' }),
    approval: await run('Ask', ask, { approved: '<ask.approved>' }),
  }
  await service.stop()
  const store = await openStoreOf(place)
  const jobSeal = await sealOf(place)
  const found = {
    wait: await templateOf(store, jobSeal, ids.wait),
    approval: await templateOf(store, jobSeal, ids.approval),
  }
  await store.close()
  return found
}

async function seeded(template: Template, count: number, untilOf: (index: number) => number | null): Promise<string[]> {
  const store = await openStoreOf(many)
  const ids = await writePaused(store, seal, template, count, untilOf)
  await store.close()
  return ids
}

/** For runs that ended since a time: the end of their wait, and the start of their next block. */
async function endsSince(
  { url, apiKey, workspaceId }: Millrace,
  since: number,
): Promise<{ until: number; began: number }[]> {
  const found: { until: number; began: number }[] = []
  for (let cursor: string | null = ''; cursor !== null; ) {
    const flags = { includeFinalOutput: 'true', includeTraceSpans: 'true' }
    const query = new URLSearchParams({
      workspaceId,
      limit: '1000',
      workflowIds: templates.wait.row.workflowId,
      ...flags,
    })
    if (cursor !== '') query.set('cursor', cursor)
    const response = await fetch(`${url}/api/v1/logs?${query}`, { headers: { 'x-api-key': apiKey } })
    const page = (await response.json()) as { data: Entry[]; nextCursor: string | null }
    for (const { finalOutput, traceSpans } of page.data) {
      const until = Date.parse(finalOutput.data.until)
      const end = traceSpans[0]!.children.find(({ blockId }) => blockId === 'end')!
      if (until >= since && until < since + day) found.push({ until, began: Date.parse(end.startTime) })
    }
    cursor = page.nextCursor
  }
  return found
}

type Entry = {
  finalOutput: { data: { until: string } }
  traceSpans: { children: { blockId: string; startTime: string }[] }[]
}
