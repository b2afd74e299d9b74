import { deploy, load, median, startBare, startMillrace } from './support/service.ts'

/**
 * How much of a bare server's speed remains when each request is a complete run with a durable log entry?
 * `bun bench/execute.ts [rounds] [ms]` alternates: bare, condition workflow, the same in version 2 of the API, function
 * workflow. The ratios are of the medians.
 */
const [rounds = 5, ms = 3000] = process.argv.slice(2).map(Number)

const trigger = {
  id: 'start',
  type: 'api_trigger',
  name: 'Start',
  params: { inputFormat: [{ name: 'n', type: 'number' }] },
}
const block = (id: string, type: string, params: object) => ({ id, type, name: id, params })
const edge = (source: string, target: string, sourceHandle = 'source') => ({ source, target, sourceHandle })
const documentOf = (name: string, blocks: { id: string }[], edges: object[]) => ({
  name,
  blocks: Object.fromEntries([trigger, ...blocks].map((each) => [each.id, each])),
  edges,
})

const conditionWorkflow = documentOf(
  'Condition',
  [
    block('if', 'condition', { conditions: [{ id: 'big', expression: '<api.n> > 3' }] }),
    block('big', 'response', { data: { big: true, n: '<api.n>' } }),
    block('small', 'response', { data: { big: false } }),
  ],
  [edge('start', 'if'), edge('if', 'big', 'condition-big'), edge('if', 'small', 'condition-else')],
)
const functionWorkflow = documentOf(
  'Function',
  [
    block('add', 'function', { code: 'return { sum: <api.n> + 1 }' }),
    block('answer', 'response', { data: '<add.result>' }),
  ],
  [edge('start', 'add'), edge('add', 'answer')],
)

const bare = await startBare()
const millrace = await startMillrace()
const headers = [`X-API-Key: ${millrace.apiKey}`]
const body = '{"n":5,"name":"millrace"}'
const condition = await deploy(millrace, conditionWorkflow)
const inV2 = condition.replace('/api/workflows/', '/api/v2/workflows/')
const targets = {
  bare: { url: bare.url, headers: [] as string[], body },
  condition: { url: condition, headers, body },
  'condition v2': { url: inV2, headers, body: `{"input":${body}}` },
  function: { url: await deploy(millrace, functionWorkflow), headers, body },
}
/** By then the engine has compiled hot code; after one second it has not. */
const warmUpMs = 6_000

for (const connections of [32, 1]) {
  for (const target of Object.values(targets)) await load({ ...target, connections, ms: warmUpMs })
  const results: Record<string, { perSecond: number[]; p50: number[]; p99: number[] }> = {}
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, target] of Object.entries(targets)) {
      const { perSecond, p50, p99 } = await load({ ...target, connections, ms })
      const row = results[name] ?? { perSecond: [], p50: [], p99: [] }
      results[name] = row
      row.perSecond.push(perSecond)
      row.p50.push(p50)
      row.p99.push(p99)
    }
  }
  console.log(`\n${connections} connection${connections === 1 ? '' : 's'}, ${rounds} rounds of ${ms} ms, medians`)
  console.log('              requests/s   of bare    p50 ms   of bare    p99 ms   of bare')
  const base = results['bare']
  for (const [name, { perSecond, p50, p99 }] of Object.entries(results)) {
    const cells = [perSecond, p50, p99].map((values, column) => {
      const value = median(values)
      const other = median([base?.perSecond, base?.p50, base?.p99][column] ?? [])
      const digits = column === 0 ? value.toFixed(0) : value.toFixed(3)
      return `${digits.padStart(10)} ${(value / other).toFixed(2).padStart(9)}`
    })
    console.log(`${name.padEnd(12)} ${cells.join(' ')}`)
  }
}
await millrace.stop()
await bare.stop()
