import { readFileSync } from 'node:fs'
import { conditionWorkflow } from './support/condition-workflow.ts'
import { deploy, load, type Millrace, median, startMillrace } from './support/service.ts'

/**
 * The cost of alerts for runs. `bun bench/alerts.ts [rounds] [ms]` alternates between a service without alerts
 * and one with ten alerts for all workflows, half of them with rules. It prints the medians of both, and the ratio of
 * the processor time for each run. The evaluation is part of that time.
 */
const [rounds = 7, ms = 2_000] = process.argv.slice(2, 4).map(Number)

const hour = 3_600_000
const watched = [
  ...Array.from({ length: 5 }, () => ({ events: ['run.failed'] })),
  { rule: { type: 'consecutive_failures', count: 3 } },
  { rule: { type: 'failure_rate', percent: 50, windowMs: hour, minRuns: 5 } },
  { rule: { type: 'latency', percentile: 95, aboveMs: 60_000, windowMs: hour } },
  { rule: { type: 'cost', usd: 10, windowMs: hour } },
  { rule: { type: 'no_activity', windowMs: hour } },
]

async function addAlerts({ url, apiKey, workspaceId }: Millrace): Promise<void> {
  for (const watch of watched) {
    const body = { name: 'Alert', workflows: 'all', channel: { type: 'webhook', url: 'https://example.com' }, ...watch }
    const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' }
    const request = { method: 'POST', headers, body: JSON.stringify(body) }
    const response = await fetch(`${url}/api/workspaces/${workspaceId}/alerts`, request)
    if (response.status !== 201) throw new Error(await response.text())
  }
}

const services = { none: await startMillrace(), ten: await startMillrace() }
await addAlerts(services.ten)
const targets = await Promise.all(
  Object.entries(services).map(async ([name, service]) => ({
    ...{ name, pid: service.pid, url: await deploy(service, conditionWorkflow) },
    ...{ headers: [`X-API-Key: ${service.apiKey}`], body: '{"n":5}', perSecond: [] as number[], cpu: [] as number[] },
  })),
)
for (const target of targets) await load({ ...target, connections: 32, ms: 3_000 })
for (let round = 0; round < rounds; round += 1) {
  for (const target of round % 2 === 0 ? targets : targets.toReversed()) {
    const before = cpuMs(target.pid)
    const result = await load({ ...target, connections: 32, ms })
    target.perSecond.push(result.perSecond)
    target.cpu.push((cpuMs(target.pid) - before) / result.requests)
  }
}
for (const { name, perSecond, cpu } of targets) {
  const each = (median(cpu) * 1_000).toFixed(0)
  console.log(`${name}: ${median(perSecond).toFixed(0)} runs a second, ${each} µs for each`)
}
const [none, ten] = targets
const ratio = (name: 'perSecond' | 'cpu') => (median(ten![name]) / median(none![name])).toFixed(3)
console.log(`ratio: ${ratio('perSecond')} runs, ${ratio('cpu')} processor`)
for (const service of Object.values(services)) await service.stop()

/** The CPU time that all threads of a process have used. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}
