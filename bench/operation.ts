import { deploy, load, median, startBare, startMillrace } from './support/service.ts'

/**
 * How much does an operation of a connector cost, compared with an API block that sends the same request?
 * `bun bench/operation.ts [rounds] [ms]` alternates the two; the ratio is of the medians.
 */
const [rounds = 7, ms = 3000] = process.argv.slice(2).map(Number)

const upstream = await startBare()
const { origin } = new URL(upstream.url)
const millrace = await startMillrace({
  ...{ MILLRACE_OUTBOUND_ALLOW: 'loopback', MILLRACE_OUTBOUND_HOST_CONCURRENCY: '200' },
})
const parameters = { type: 'object', properties: { n: { type: 'integer' }, name: { type: 'string' } }, required: ['n'] }
const connector = {
  ...{ id: 'bench', name: 'Bench', baseUrl: origin },
  operations: { send: { label: 'Send', method: 'POST', path: '/execute', parameters } },
}
const put = await fetch(`${millrace.url}/api/workspaces/${millrace.workspaceId}/connectors/bench`, {
  ...{ method: 'PUT', body: JSON.stringify(connector), headers: { 'x-api-key': millrace.apiKey } },
})
if (!put.ok) throw new Error(await put.text())

const workflowOf = (name: string, type: string, params: object) => ({
  name,
  blocks: {
    start: { id: 'start', type: 'api_trigger', name: 'Start', params: {} },
    call: { id: 'call', type, name: 'Call', params },
  },
  edges: [{ source: 'start', target: 'call', sourceHandle: 'source' }],
})
const body = { n: 5, name: '<start.input.name>' }
const api = { url: `${origin}/execute`, method: 'POST', body }
const operation = { connector: 'bench', operation: 'send', params: body }
const headers = [`X-API-Key: ${millrace.apiKey}`]
const targets = {
  api: { url: await deploy(millrace, workflowOf('API', 'api', api)), headers },
  operation: { url: await deploy(millrace, workflowOf('Operation', 'operation', operation)), headers },
}
const sent = { connections: 16, ms, body: '{"name":"millrace"}' }
for (const target of Object.values(targets)) await load({ ...target, ...sent, ms: 5_000 })
const rates: Record<keyof typeof targets, number[]> = { api: [], operation: [] }
for (let round = 0; round < rounds; round += 1) {
  for (const name of ['api', 'operation'] as const) {
    rates[name].push((await load({ ...targets[name], ...sent })).perSecond)
  }
}
const [plain, called] = [median(rates.api), median(rates.operation)]
console.log(
  JSON.stringify({ api: Math.round(plain), operation: Math.round(called), ratio: +(plain / called).toFixed(3) }),
)
await millrace.stop()
await upstream.stop()
