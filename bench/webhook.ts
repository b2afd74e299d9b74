import { readFileSync } from 'node:fs'
import { deploy, load, median, startMillrace } from './support/service.ts'

/**
 * How much of the execute endpoint's rate remains when another service starts the runs and gets its response as
 * soon as each is on disk? `bun bench/webhook.ts [rounds] [ms]`. In turns: execute, and webhooks without and with a
 * signature and a name of their own, the workflow being the same. After each round everything that was accepted is run
 * before the next one begins; how long that takes is told, too.
 */
const [rounds = 5, ms = 3000] = process.argv.slice(2).map(Number)

const body = '{"n":5,"name":"millrace"}'
const secret = 'a secret'
const digest = new Bun.CryptoHasher('sha256', secret).update(body).digest('hex')

const block = (id: string, type: string, params: object) => ({ id, type, name: id, params })
const documentOf = (name: string, trigger: { id: string }, reads: string) => {
  const blocks = [
    trigger,
    block('if', 'condition', { conditions: [{ id: 'big', expression: `${reads} > 3` }] }),
    block('big', 'response', { data: { big: true, n: reads } }),
    block('small', 'response', { data: { big: false } }),
  ]
  const edge = (source: string, target: string, sourceHandle = 'source') => ({ source, target, sourceHandle })
  return {
    name,
    blocks: Object.fromEntries(blocks.map((each) => [each.id, each])),
    edges: [edge(trigger.id, 'if'), edge('if', 'big', 'condition-big'), edge('if', 'small', 'condition-else')],
  }
}
const hook = (params: object) => block('hook', 'webhook_trigger', params)

const millrace = await startMillrace({ MILLRACE_WEBHOOK_VISITOR_PER_MINUTE: '1000000000' })
const api = block('start', 'api_trigger', { inputFormat: [{ name: 'n', type: 'number' }] })
const executeUrl = await deploy(millrace, documentOf('Execute', api, '<api.n>'))
const signature = { type: 'signature', scheme: 'github', secret }
const hooks = {
  plain: hook({ path: 'plain' }),
  signed: hook({ path: 'signed', authentication: signature }),
  answered: hook({ path: 'answered', respond: 'workflow' }),
}
for (const [name, trigger] of Object.entries(hooks)) {
  await deploy(millrace, documentOf(name, trigger, '<webhook.body.n>'))
}
const urlOf = (path: string) => `${millrace.url}/api/webhooks/trigger/${path}`
const targets = {
  execute: { url: executeUrl, headers: [`X-API-Key: ${millrace.apiKey}`] },
  plain: { url: urlOf('plain'), headers: [] as string[] },
  signed: { url: urlOf('signed'), headers: [`X-Hub-Signature-256: sha256=${digest}`] },
  answered: { url: urlOf('answered'), headers: [] as string[] },
}

for (const connections of [32, 1]) {
  const results: Record<string, { perSecond: number[]; p50: number[]; p99: number[]; left: number[]; cpu: number[] }> =
    {}
  for (const target of Object.values(targets)) await load({ ...target, connections, ms: 500, body })
  for (let round = 0; round < rounds; round += 1) {
    for (const [name, target] of Object.entries(targets)) {
      await idle()
      const before = cpuMs()
      const { perSecond, p50, p99, requests } = await load({ ...target, connections, ms, body })
      const row = results[name] ?? { perSecond: [], p50: [], p99: [], left: [], cpu: [] }
      results[name] = row
      row.perSecond.push(perSecond)
      row.p50.push(p50)
      row.p99.push(p99)
      row.left.push(await idle())
      row.cpu.push(((cpuMs() - before) * 1000) / requests)
    }
  }
  console.log(`\n${connections} connection${connections === 1 ? '' : 's'}, ${rounds} rounds of ${ms} ms, medians`)
  console.log('              requests/s of execute   p50 ms   p99 ms   ms until all had run   processor µs a request')
  const base = median(results['execute']?.perSecond ?? [])
  for (const [name, { perSecond, p50, p99, left, cpu }] of Object.entries(results)) {
    const cells = [
      median(perSecond).toFixed(0).padStart(10),
      (median(perSecond) / base).toFixed(2).padStart(10),
      median(p50).toFixed(3).padStart(8),
      median(p99).toFixed(3).padStart(8),
      median(left).toFixed(0).padStart(10),
      median(cpu).toFixed(0).padStart(10),
    ]
    console.log(`${name.padEnd(12)}  ${cells.join(' ')}`)
  }
}
await millrace.stop()

/**
 * The CPU time of the service so far, by its own account, which other load on the machine hardly changes.
 */
function cpuMs(): number {
  const fields = readFileSync(`/proc/${millrace.pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

/** Waits until no asynchronous run is left; answers how long that took. */
async function idle(): Promise<number> {
  const startedAt = performance.now()
  for (;;) {
    const text = await (await fetch(`${millrace.url}/metrics`)).text()
    const left = [...text.matchAll(/^millrace_jobs\{[^}]*\} (\d+)/gm)].reduce(
      (sum, [, value]) => sum + Number(value),
      0,
    )
    if (left === 0) return performance.now() - startedAt
    await Bun.sleep(20)
  }
}
