import { PostgresServer } from '../test/support/store/postgres.ts'
import type { LoadResult } from './support/load.ts'
import { deploy, load, type Millrace, median, startMillrace } from './support/service.ts'

/**
 * How much of the speed on SQLite remains on PostgreSQL? `bun bench/stores.ts [rounds] [ms]` runs both services and a
 * PostgreSQL server with its defaults on this machine, and sends load in turns: runs that are answered with 32 callers
 * and with one, and asynchronous runs with 32 callers and with 256, which wait in the queue. `recorded`: asynchronous
 * runs per second, until the log entry of the last one is on disk. Ratios are of the medians.
 */
const [rounds = 5, ms = 3000] = process.argv.slice(2).map(Number)

const condition = {
  name: 'Condition',
  blocks: {
    start: { id: 'start', type: 'api_trigger', name: 'Start', params: {} },
    if: { id: 'if', type: 'condition', name: 'If', params: { conditions: [{ id: 'big', expression: '<api.n> > 3' }] } },
    end: { id: 'end', type: 'response', name: 'End', params: { data: { n: '<api.n>' } } },
  },
  edges: [
    { source: 'start', target: 'if', sourceHandle: 'source' },
    { source: 'if', target: 'end', sourceHandle: 'condition-big' },
  ],
}

await using server = await PostgresServer.start({ isDurable: true })
const environment = {
  MILLRACE_STORE: await server.createDatabase(),
  MILLRACE_SECRET_KEY: 'the key of a benchmark that protects nothing',
}
const services = { SQLite: await startMillrace(), PostgreSQL: await startMillrace(environment) }
const targets = Object.fromEntries(
  await Promise.all(
    Object.entries(services).map(async ([name, service]) => {
      const url = await deploy(service, condition)
      return [name, { service, url, headers: [`X-API-Key: ${service.apiKey}`] }] as const
    }),
  ),
)
const kinds = [
  { name: 'runs, 32 callers', connections: 32, mode: 'sync' },
  { name: 'runs, 1 caller', connections: 1, mode: 'sync' },
  { name: 'asynchronous runs, 32 callers', connections: 32, mode: 'async' },
  { name: 'asynchronous runs, 256 callers', connections: 256, mode: 'async' },
] as const
const syncMembers = ['perSecond', 'p50', 'p99'] as const
const asyncMembers = ['perSecond', 'recorded', 'p50', 'p99'] as const
const body = '{"n":5}'
const warmUpMs = 5_000

console.log(`${rounds} rounds of ${ms} ms in turns, medians`)
for (const { name, connections, mode } of kinds) {
  const loaded = async ({ service, url, headers }: Target, ms: number) => {
    const options = { connections, body, ms, url, headers: [...headers, `X-Execution-Mode: ${mode}`] }
    const result = await load(options)
    return mode === 'sync' ? result : { ...result, recorded: await recordedPerSecond(service, result) }
  }
  const results = new Map<string, Result[]>(Object.keys(targets).map((store) => [store, []]))
  for (const target of Object.values(targets)) await loaded(target, warmUpMs)
  for (let round = 0; round < rounds; round += 1) {
    for (const [store, target] of Object.entries(targets)) results.get(store)!.push(await loaded(target, ms))
  }
  console.log(`\n${name}`)
  for (const member of mode === 'sync' ? syncMembers : asyncMembers) {
    const [one, other] = ['SQLite', 'PostgreSQL'].map((store) =>
      median(results.get(store)!.map((result) => result[member] ?? Number.NaN)),
    ) as [number, number]
    const ratio = (other / one).toFixed(2)
    console.log(`  ${member.padEnd(10)} SQLite ${one.toFixed(2)}, PostgreSQL ${other.toFixed(2)}, ratio ${ratio}`)
  }
}
for (const service of Object.values(services)) await service.stop()

/** Waits until all accepted runs are recorded. Returns how many were, per second since the load began. */
async function recordedPerSecond({ url, apiKey }: Millrace, { requests, perSecond }: LoadResult): Promise<number> {
  const endedAt = performance.now()
  const isDone = async () => {
    const response = await fetch(`${url}/metrics`, { headers: { 'x-api-key': apiKey } })
    const left = (await response.text()).matchAll(/^millrace_jobs\{.*\} (\d+)$/gm).map(([, count]) => Number(count))
    return left.reduce((sum, count) => sum + count, 0) === 0
  }
  while (!(await isDone())) await Bun.sleep(10)
  return requests / (requests / perSecond + (performance.now() - endedAt) / 1_000)
}

type Target = { service: Millrace; url: string; headers: readonly string[] }
type Result = LoadResult & { recorded?: number }
