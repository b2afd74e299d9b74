import { PostgresServer } from '../test/support/store/postgres.ts'
import { deploy, load, median, startMillrace } from './support/service.ts'

/**
 * How much of the speed on SQLite remains on PostgreSQL? `bun bench/stores.ts [rounds] [ms]` runs both services and a
 * PostgreSQL server with its defaults on this machine, and sends load in turns: runs that are answered with 32 callers
 * and with one, and asynchronous runs. Ratios are of the medians.
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
      return [name, { url, headers: [`X-API-Key: ${service.apiKey}`] }] as const
    }),
  ),
)
const kinds = [
  { name: 'runs, 32 callers', connections: 32, mode: 'sync' },
  { name: 'runs, 1 caller', connections: 1, mode: 'sync' },
  { name: 'asynchronous runs accepted, 32 callers', connections: 32, mode: 'async' },
]
const body = '{"n":5}'
const warmUpMs = 5_000

console.log(`${rounds} rounds of ${ms} ms in turns, medians`)
for (const { name, connections, mode } of kinds) {
  const options = { connections, body }
  const loaded = (target: Target, ms: number) =>
    load({ ...options, ms, url: target.url, headers: [...target.headers, `X-Execution-Mode: ${mode}`] })
  const results = new Map<string, { perSecond: number[]; p50: number[]; p99: number[] }>()
  for (const target of Object.values(targets)) await loaded(target, warmUpMs)
  for (let round = 0; round < rounds; round += 1) {
    for (const [store, target] of Object.entries(targets)) {
      const { perSecond, p50, p99 } = await loaded(target, ms)
      const row = results.get(store) ?? { perSecond: [], p50: [], p99: [] }
      results.set(store, row)
      row.perSecond.push(perSecond)
      row.p50.push(p50)
      row.p99.push(p99)
    }
  }
  const [sqlite, postgres] = ['SQLite', 'PostgreSQL'].map((store) => {
    const { perSecond, p50, p99 } = results.get(store)!
    return { perSecond: median(perSecond), p50: median(p50), p99: median(p99) }
  }) as [Summary, Summary]
  console.log(`\n${name}`)
  for (const member of ['perSecond', 'p50', 'p99'] as const) {
    const [one, other] = [sqlite[member], postgres[member]]
    const ratio = (other / one).toFixed(2)
    console.log(`  ${member.padEnd(10)} SQLite ${one.toFixed(2)}, PostgreSQL ${other.toFixed(2)}, ratio ${ratio}`)
  }
}
for (const service of Object.values(services)) await service.stop()

type Target = { url: string; headers: readonly string[] }
type Summary = { perSecond: number; p50: number; p99: number }
