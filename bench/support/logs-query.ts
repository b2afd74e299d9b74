import type { Seeded } from './logs-seed.ts'
import { type Millrace, median, pacedLoad, percentile, serveMillrace } from './service.ts'

/** The pause between a response and the next query. */
const pauseMs = 20
const executionsPerSecond = 200
const bar = { pageMs: 10, executions: 1.3 }

/**
 * How long does a page of 100 entries take for each kind of query while 200 runs per second are recorded? And how do
 * such queries, one after the other, affect the runs? Alternates: runs alone, runs with queries.
 */
export async function measureQueries(seeded: Seeded, requestsPerCase: number): Promise<void> {
  const service = await serveMillrace(seeded, settings)
  try {
    const cases = await casesOf(service, seeded)
    const latencies = new Map<string, number[]>(cases.map(({ name }) => [name, []]))
    const ends = new Map<string, string>()
    const alone: number[] = []
    const beside: number[] = []
    const rounds = Math.max(1, Math.round(requestsPerCase / requestsPerRound))
    await executions(service, seeded, 3_000)
    for (let round = 0; round < rounds; round += 1) {
      const roundMs = cases.length * requestsPerRound * (pauseMs + 5)
      alone.push((await executions(service, seeded, roundMs)).p99)
      let isOver = false
      const running = executions(service, seeded, roundMs).finally(() => {
        isOver = true
      })
      for (let index = 0; !isOver; index += 1) {
        const { name, query } = cases[index % cases.length]!
        const startedAt = performance.now()
        const page = await ask(service, query)
        latencies.get(name)!.push(performance.now() - startedAt)
        ends.set(name, `${page.data.length}${page.nextCursor === null ? '' : ' …'}`)
        await Bun.sleep(pauseMs)
      }
      beside.push((await running).p99)
    }
    console.log(`${seeded.entries} entries, pages of 100 while ${executionsPerSecond} runs a second are recorded; ms`)
    console.log(`${'query'.padEnd(40)} ${'times'.padStart(6)} ${'p50'.padStart(7)} ${'p99'.padStart(7)}  entries`)
    for (const [name, values] of [...latencies, ['all of them', [...latencies.values()].flat()] as const]) {
      const [p50, p99] = [median(values), percentile(values, 0.99)]
      const cells = [`${values.length}`.padStart(6), p50.toFixed(2).padStart(7), p99.toFixed(2).padStart(7)]
      console.log(
        `${name.padEnd(40)} ${cells.join(' ')}  ${ends.get(name) ?? ''}${p99 > bar.pageMs ? '  over the bar' : ''}`,
      )
    }
    const ratio = median(beside) / median(alone)
    console.log(
      `runs: p99 ${median(alone).toFixed(2)} ms alone, ${median(beside).toFixed(2)} ms beside queries, ` +
        `${ratio.toFixed(2)} times (medians of ${rounds} rounds; at most ${bar.executions})`,
    )
  } finally {
    await service.stop()
  }
}

const requestsPerRound = 10

/** Retention is off, because the database may be larger than its default limit. */
export const settings = { MILLRACE_LOG_RETENTION_BYTES: '1000000000000', MILLRACE_LOG_LEVEL: 'warn' }

type Page = { data: { id: string }[]; nextCursor: string | null }

export async function ask({ url, apiKey, workspaceId }: Millrace, query: Record<string, unknown>): Promise<Page> {
  const parameters = new URLSearchParams({ workspaceId })
  for (const [name, value] of Object.entries(query)) parameters.set(name, `${value}`)
  const response = await fetch(`${url}/api/v1/logs?${parameters}`, { headers: { 'x-api-key': apiKey } })
  if (!response.ok) throw new Error(`${response.status} ${await response.text()}`)
  return (await response.json()) as Page
}

async function casesOf(service: Millrace, { workflows, executionIds, startedAt }: Seeded) {
  const middle = (startedAt.first + startedAt.last) / 2
  const iso = (epochMs: number) => new Date(epochMs).toISOString()
  const filters: Record<string, Record<string, unknown>> = {
    'no filter': {},
    'level=error (1 %)': { level: 'error' },
    'triggers everywhere': { triggers: 'webhook,schedule' },
    'triggers rare': { triggers: 'chat' },
    'triggers nowhere': { triggers: 'manual' },
    'workflowIds everywhere': { workflowIds: workflows.busy },
    'workflowIds rare': { workflowIds: workflows.rare },
    'workflowIds nowhere': { workflowIds: workflows.idle },
    'startDate, one half': { startDate: iso(middle) },
    'startDate, nothing': { startDate: iso(startedAt.last + 86_400_000) },
    'endDate, one half': { endDate: iso(middle) },
    'endDate, nothing': { endDate: iso(startedAt.first - 86_400_000) },
    'a minute in the middle': { startDate: iso(middle), endDate: iso(middle + 60_000) },
    'minDurationMs everywhere': { minDurationMs: 2 },
    'minDurationMs rare': { minDurationMs: 500_000 },
    'minDurationMs nowhere': { minDurationMs: 5_000_000 },
    'maxDurationMs everywhere': { maxDurationMs: 2 },
    'maxDurationMs nowhere': { maxDurationMs: 0 },
    'minCost everywhere': { minCost: 0.001 },
    'minCost rare': { minCost: 50 },
    'minCost nowhere': { minCost: 500 },
    'maxCost everywhere': { maxCost: 0.001 },
    'model everywhere': { model: 'gpt-5-mini' },
    'model rare': { model: 'rare-model' },
    'model nowhere': { model: 'no-model' },
    'all together, rare': { level: 'error', triggers: 'webhook', workflowIds: workflows.busy, minCost: 0.0038 },
    'executionId, old': { executionId: executionIds[0] },
    'executionId, unknown': { executionId: '00000000-0000-4000-8000-000000000000' },
  }
  const cases: { name: string; query: Record<string, unknown> }[] = []
  for (const order of ['desc', 'asc']) {
    for (const [name, filter] of Object.entries(filters))
      cases.push({ name: `${order}, ${name}`, query: { order, ...filter } })
    // Page 1,000. The page size may change from page to page.
    let cursor: string | null = null
    for (let page = 0; page < 100; page += 1) {
      const { nextCursor }: Page = await ask(service, { order, limit: 1000, ...(cursor === null ? {} : { cursor }) })
      cursor = nextCursor ?? cursor
    }
    cases.push({ name: `${order}, page 1,000`, query: { order, cursor } })
  }
  return cases
}

function executions({ url, apiKey }: Millrace, { workflows }: Seeded, ms: number) {
  return pacedLoad({
    url: `${url}/api/workflows/${workflows.busy}/execute`,
    headers: [`X-API-Key: ${apiKey}`],
    perSecond: executionsPerSecond,
    ms,
    body: '{"order":5,"customer":"millrace"}',
  })
}
