import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { conditionWorkflow } from './support/condition-workflow.ts'
import { deploy, firstLine, load, median, startMillrace } from './support/service.ts'

/**
 * The cost of exporting runs as traces. `bun bench/traces.ts [rounds] [ms] [other executable]` alternates:
 * without export, with one of a hundred runs exported, with all of them, and the other executable, for example one from
 * before this feature. Each ratio compares a service with the one without export in the same round; the output has the
 * medians. When other programs run, the CPU time per run varies less from round to round than the speed.
 */
const [rounds = 7, ms = 2_000] = process.argv.slice(2, 4).map(Number)
const [other] = process.argv.slice(4)

const sink = Bun.spawn([process.execPath, join(import.meta.dir, 'support/trace-sink.ts')], { stdout: 'pipe' })
const collector = { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(await firstLine(sink.stdout)).trim()}` }
const one = { ...collector, OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.01' }

const services = {
  off: await startMillrace(),
  'one of 100': await startMillrace(one),
  all: await startMillrace(collector),
  ...(other === undefined ? {} : { other: await startMillrace({}, other) }),
}
const targets = await Promise.all(
  Object.entries(services).map(async ([name, service]) => ({
    ...{ name, pid: service.pid },
    url: await deploy(service, conditionWorkflow),
    headers: [`X-API-Key: ${service.apiKey}`],
    body: '{"n":5}',
  })),
)

for (const connections of [32, 1]) {
  for (const target of targets) await load({ ...target, connections, ms: 6_000 })
  const ratios = new Map<string, { perSecond: number[]; cpu: number[]; p50: number[]; p99: number[] }>()
  const speeds: number[] = []
  const costs: number[] = []
  for (let round = 0; round < rounds; round += 1) {
    const results = new Map<string, Awaited<ReturnType<typeof measure>>>()
    // Backwards in every second round, so that no place in the order has an advantage.
    for (const target of round % 2 === 0 ? targets : targets.toReversed())
      results.set(target.name, await measure(target, connections))
    const base = results.get('off')!
    speeds.push(base.perSecond)
    costs.push(base.cpu * 1_000)
    for (const [name, { perSecond, cpu, p50, p99 }] of results) {
      const row = ratios.get(name) ?? { perSecond: [], cpu: [], p50: [], p99: [] }
      ratios.set(name, row)
      row.perSecond.push(perSecond / base.perSecond)
      row.cpu.push(cpu / base.cpu)
      row.p50.push(p50 / base.p50)
      row.p99.push(p99 / base.p99)
    }
  }
  console.log(`\n${connections} connection${connections === 1 ? '' : 's'}, ${rounds} rounds of ${ms} ms`)
  console.log(
    `off: ${median(speeds).toFixed(0)} runs a second, ${median(costs).toFixed(0)} µs of the processor for each`,
  )
  console.log('              runs/s (lowest to highest)    processor (lowest to highest)    p50     p99')
  for (const { name } of targets) {
    const { perSecond, cpu, p50, p99 } = ratios.get(name)!
    const cells = [shown(perSecond), shown(cpu)]
    console.log(`${name.padEnd(12)} ${cells.join(' ')} ${median(p50).toFixed(3)}   ${median(p99).toFixed(3)}`)
  }
}

async function measure(target: (typeof targets)[number], connections: number) {
  const before = cpuMs(target.pid)
  const result = await load({ ...target, connections, ms })
  return { ...result, cpu: (cpuMs(target.pid) - before) / result.requests }
}

/** The CPU time that all threads of a process have used. */
function cpuMs(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

function shown(values: readonly number[]): string {
  return `${median(values).toFixed(3).padStart(10)} (${Math.min(...values).toFixed(3)} to ${Math.max(...values).toFixed(3)})`
}

for (const service of Object.values(services)) await service.stop()
sink.kill()
