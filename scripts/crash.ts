import { crash } from '../test/faults/crash.ts'

/** `bun scripts/crash.ts [rounds]`: the long version of the crash test. */
const [rounds = 50] = process.argv.slice(2).map(Number)
const report = await crash({
  rounds,
  connections: 32,
  random: Math.random,
  progress: (round, acknowledged) => console.error(`round ${round}: ${acknowledged} runs acknowledged so far`),
})
const { missing, startedInMs, ...rest } = report
const slowest = Math.round(Math.max(...startedInMs))
console.log(JSON.stringify({ ...rest, missing: missing.length, slowestStartMs: slowest }))
process.exit(missing.length === 0 && report.integrity.join() === 'ok' && slowest < 1000 ? 0 : 1)
