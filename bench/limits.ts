import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { loadavg, tmpdir } from 'node:os'
import { join } from 'node:path'
import { PostgresServer } from '../test/support/store/postgres.ts'
import { deploy, initMillrace, type Millrace, median, serveMillrace } from './support/service.ts'

/**
 * How much do limits of a workflow cost, and do they hold? `bun bench/limits.ts [starts 10000] [rounds 3]
 * [sqlite|postgres]` starts runs with 1,000 keys; on PostgreSQL, three processes take turns. It measures:
 *
 * - starts a second and the processor time of each, without limits and with limits that are never reached, in
 *   alternating order
 * - how many runs of a key are in progress at the same time, with `concurrency` 2; a server that the runs call counts
 *   them
 */
const [starts = 10_000, rounds = 3] = process.argv.slice(2, 4).map(Number)
const isPostgres = process.argv[4] === 'postgres'
const keys = 1_000
const callers = 64

await using server = isPostgres ? await PostgresServer.start({ isDurable: true }) : undefined
const directory = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
const environment = {
  MILLRACE_OUTBOUND_ALLOW: 'loopback',
  MILLRACE_OUTBOUND_HOST_CONCURRENCY: '1000',
  MILLRACE_LOG_LEVEL: 'warn',
  ...(server && {
    MILLRACE_STORE: await server.createDatabase(),
    MILLRACE_SECRET_KEY: 'the key of a benchmark that protects nothing',
    ...{ MILLRACE_S3_BUCKET: 'unused', MILLRACE_S3_REGION: 'unused' },
    ...{ AWS_ACCESS_KEY_ID: 'unused', AWS_SECRET_ACCESS_KEY: 'unused' },
  }),
}
const installation = initMillrace(directory, environment)
const services: Millrace[] = []
for (let count = 0; count < (isPostgres ? 3 : 1); count += 1)
  services.push(await serveMillrace(installation, environment))
const seen = new Map<string, number>()
let most = 0
const counting = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: count })
try {
  console.log(`${isPostgres ? 'PostgreSQL, three processes' : 'SQLite'}, load ${loadavg()[0]!.toFixed(1)}`)
  await reportCost()
  await reportCount()
} finally {
  await counting.stop(true)
  for (const service of services) await service.stop()
  rmSync(directory, { recursive: true })
}

async function reportCost(): Promise<void> {
  const high = { concurrency: 1_000, rate: { count: 1_000_000, windowMs: 60_000 }, key: '<api.key>' }
  const paths = { without: await deployed({}), with: await deployed({ limits: high }) }
  const results = { without: [] as number[], with: [] as number[] }
  const cpu = { without: [] as number[], with: [] as number[] }
  for (let round = 0; round <= rounds; round += 1) {
    for (const name of round % 2 === 0 ? (['without', 'with'] as const) : (['with', 'without'] as const)) {
      const before = cpuMs()
      const startedAt = performance.now()
      await startAll(paths[name])
      // The first round warms up.
      if (round === 0) continue
      results[name].push((starts / (performance.now() - startedAt)) * 1_000)
      cpu[name].push((cpuMs() - before) / starts)
    }
  }
  for (const name of ['without', 'with'] as const) {
    console.log(
      `${name.padEnd(8)} limits: ${median(results[name]).toFixed(0)} starts/s, ${median(cpu[name]).toFixed(3)} ms of processor each`,
    )
  }
  console.log(`rate with limits: ${(median(results.with) / median(results.without)).toFixed(3)} of that without`)
}

/** Starts many runs with few keys at the same time. The limit must hold for each key. */
async function reportCount(): Promise<void> {
  const api = { id: 'ask', type: 'api', name: 'Ask', params: { url: `${counting.url}<api.key>` } }
  const path = await deployed({ limits: { concurrency: 2, key: '<api.key>' } }, api)
  await startAll(path, Math.min(starts, 3_000), 8)
  console.log(
    `at the same time with a limit of 2, 8 keys: ${most}; ${[...seen.values()].filter((left) => left > 0).length} left`,
  )
}

async function deployed(more: object, block?: { id: string }): Promise<string> {
  const inputFormat = [{ name: 'key', type: 'string' }]
  const trigger = { id: 'start', type: 'api_trigger', name: 'Start', params: { inputFormat } }
  const end = block ?? { id: 'end', type: 'response', name: 'End', params: { data: { key: '<api.input.key>' } } }
  const blocks = { start: trigger, [end.id]: end }
  const edges = [{ source: 'start', target: end.id, sourceHandle: 'source' }]
  return new URL(await deploy(services[0]!, { name: `Limits ${Math.random()}`, blocks, edges, ...more })).pathname
}

async function startAll(path: string, count = starts, keyCount = keys): Promise<void> {
  let next = 0
  const caller = async () => {
    for (let index = next++; index < count; index = next++) {
      const { url, apiKey } = services[index % services.length]!
      const response = await fetch(url + path, {
        method: 'POST',
        headers: { 'x-api-key': apiKey },
        body: `{"key":"k${index % keyCount}"}`,
      })
      if (response.status !== 200) throw new Error(`${response.status} ${await response.text()}`)
      await response.arrayBuffer()
    }
  }
  await Promise.all(Array.from({ length: callers }, caller))
}

async function count(request: Request): Promise<Response> {
  const key = new URL(request.url).pathname
  const now = (seen.get(key) ?? 0) + 1
  seen.set(key, now)
  most = Math.max(most, now)
  await Bun.sleep(2)
  seen.set(key, (seen.get(key) ?? 0) - 1)
  return new Response('{}')
}

/** The processor time that all processes of the service have used so far. */
function cpuMs(): number {
  return services.reduce((sum, { pid }) => {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return sum + (Number(fields[11]) + Number(fields[12])) * 10
  }, 0)
}
