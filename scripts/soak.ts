import { temporaryFolder } from '../test/support/executable.ts'
import { init, serve } from '../test/support/running-service.ts'
import { SoakLoad } from './soak/load.ts'
import { SoakReceivers } from './soak/receivers.ts'
import { median, readSample, type Sample } from './soak/samples.ts'

/**
 * `bun scripts/soak.ts [minutes]`: a mixed load for an hour by default. It starts with a full log, so that retention
 * runs all the time. Exits with 1 when resident memory or descriptors at the end are more than 10 % above their values
 * after a sixth of the time, when a delivery to a receiver that responds was late or is missing, or when a request
 * failed.
 */
const minutes = Number(process.argv[2] ?? 60)
const everyMs = Math.min(10_000, (minutes * 60_000) / 60)
const settings = {
  MILLRACE_LOG_RETENTION_BYTES: '64MB',
  MILLRACE_OUTBOUND_ALLOW: 'loopback',
  MILLRACE_LOG_LEVEL: 'error',
}

using folder = temporaryFolder()
using receivers = new SoakReceivers()
const { apiKey, workspaceId } = await init(folder.path)
const service = await serve(folder.path, settings)
const load = await SoakLoad.open({ service, data: folder.path, apiKey, workspaceId, receivers })
console.error('filling the log')
await load.fill()

const startedAt = performance.now()
const samples: Sample[] = []
const sampling = setInterval(async () => {
  const sample = await readSample(service, folder.path, performance.now() - startedAt)
  samples.push(sample)
  const { atS, memoryMb, descriptors, pending, databaseMb } = sample
  const state = `${memoryMb.toFixed(0)} MB resident, ${descriptors} descriptors, ${pending} deliveries pending`
  console.error(`${atS.toFixed(0)} s: ${state}, database ${databaseMb.toFixed(0)} MB`)
}, everyMs)
await load.run(minutes * 60_000)
clearInterval(sampling)
const endedAt = performance.now()
const missing = await receivers.missingAfter(1_000)
const deliveries = receivers.latencies()
const errors = service.errors()
await service.kill('SIGTERM')

const share = (from: number, to: number) =>
  samples.filter(({ atS }) => atS >= minutes * 60 * from && atS <= minutes * 60 * to)
const [early, late] = [share(1 / 6, 1 / 3), share(5 / 6, 1)]
const rows: [string, string, string, string, boolean][] = (
  [
    ['resident memory, MB', 'memoryMb'],
    ['descriptors', 'descriptors'],
  ] as const
).map(([what, member]) => {
  const [first, last] = [early, late].map((some) => median(some.map((sample) => sample[member]))) as [number, number]
  const change = last / first - 1
  const isGood = change <= 0.1
  return [what, first.toFixed(0), last.toFixed(0), `${(change * 100).toFixed(1)} %`, isGood]
})
const last = samples.at(-1)!
const counts = load.counts()
rows.push(
  ['deliveries to good receivers', '', `${deliveries.count}`, `p99 ${deliveries.p99} ms`, deliveries.count > 0],
  ['the latest of them, ms', '', `${deliveries.max}`, 'at most 1000', deliveries.max <= 1_000],
  ['missing a second after the end', '', `${missing}`, 'none', missing === 0],
  ['requests', '', `${counts.sent}`, `${Math.round((counts.sent * 1000) / (endedAt - startedAt))} a second`, true],
  ['requests that failed', '', `${counts.failed}`, counts.firstFailure ?? 'none', counts.failed === 0],
  ['pending to other receivers', '', `${last.pending}`, '', true],
  ['database, MB', '', last.databaseMb.toFixed(0), 'limit 64 and 5 free', true],
  ['log entries deleted', '', `${last.deleted}`, 'retention ran', last.deleted > 0],
)

console.log(`${minutes} minutes; the first value is after a sixth of the time`)
console.log(`${'what'.padEnd(32)}${'first'.padStart(8)}${'end'.padStart(10)}  ${'change or limit'.padEnd(24)}`)
for (const [what, first, end, limit, isGood] of rows) {
  console.log(
    `${what.padEnd(32)}${first.padStart(8)}${end.padStart(10)}  ${limit.padEnd(24)}${isGood ? 'ok' : 'FAILED'}`,
  )
}
for (const [kind, { count, p50, p99 }] of Object.entries(counts.kinds)) {
  console.log(`${kind.padEnd(32)}${''.padStart(8)}${`${count}`.padStart(10)}  p50 ${p50} ms, p99 ${p99} ms`)
}
if (errors.trim() !== '') console.log(`the service logged:\n${errors.slice(0, 4_000)}`)
process.exit(rows.every(([, , , , isGood]) => isGood) ? 0 : 1)
