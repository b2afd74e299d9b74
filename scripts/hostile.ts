import { type AttackReport, hostile } from '../test/faults/hostile/hostile.ts'
import { temporaryFolder } from '../test/support/executable.ts'

/**
 * `bun scripts/hostile.ts [pattern]`: sends hostile requests to the executable while 32 ordinary callers run a
 * workflow, and prints the effect on everyone else. `pattern` selects attacks by name. Exits with 1 if a limit is
 * exceeded.
 */
const [pattern = '.'] = process.argv.slice(2)
const limits = { healthMs: 250, p99Ratio: 2, memoryMb: 300, responseBytes: 64_000 }

using folder = temporaryFolder()
const failures: string[] = []
console.log(
  '     health (bare)    p99 (bare)        memory MB      disk       sent    largest response  statuses  attack',
)
await hostile({
  ...{ data: `${folder.path}/data`, isShort: false, callers: 32, attackMs: 1_000, only: new RegExp(pattern) },
  report(report) {
    const exceeded = exceededBy(report)
    if (exceeded.length > 0) failures.push(`${report.name}: ${exceeded.join(', ')}`)
    console.log(lineOf(report, exceeded.length === 0))
  },
})
if (failures.length > 0) console.log(`\n${failures.length} attacks exceeded a limit:\n${failures.join('\n')}`)
process.exit(failures.length > 0 ? 1 : 0)

function exceededBy({ healthMs, noiseMs, p99Ms, bareP99Ms, memoryMb, largestResponse, statuses }: AttackReport) {
  const isRefused = !Object.keys(statuses).some((status) => status.startsWith('2'))
  return [
    ...(healthMs - noiseMs > limits.healthMs ? ['health'] : []),
    ...(p99Ms > limits.p99Ratio * bareP99Ms ? ['p99'] : []),
    ...(memoryMb.peak - memoryMb.before > limits.memoryMb ? ['memory'] : []),
    ...(isRefused && largestResponse > limits.responseBytes ? ['response'] : []),
  ]
}

function lineOf(report: AttackReport, isFine: boolean): string {
  const { name, sentBytes, statuses, largestResponse, healthMs, noiseMs, memoryMb, diskBytes } = report
  const mb = (bytes: number) => `${(bytes / 1_048_576).toFixed(1)} MB`
  const columns = [
    `${healthMs} (${noiseMs})`.padStart(13),
    `${report.p99Ms.toFixed(1)} (${report.bareP99Ms.toFixed(1)})`.padStart(16),
    `${memoryMb.before} > ${memoryMb.peak} > ${memoryMb.after}`.padStart(18),
    mb(diskBytes).padStart(10),
    mb(sentBytes).padStart(11),
    `${largestResponse} B`.padStart(13),
    JSON.stringify(statuses).replaceAll('"', '').padStart(16),
  ]
  return `${isFine ? 'ok  ' : 'FAIL'} ${columns.join('')}  ${name}`
}
