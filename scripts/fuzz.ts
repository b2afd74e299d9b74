import { fuzz } from '../test/faults/fuzz.ts'

/** `bun scripts/fuzz.ts [requests] [seed]`: the long version of the test with malformed and mutated requests. */
const [requests = 1_000_000, seed = Math.floor(Math.random() * 2 ** 31)] = process.argv.slice(2).map(Number)
const report = await fuzz({
  requests,
  seed,
  progress: (done, memoryMb) => console.error(`${done} requests sent, ${memoryMb} MB resident`),
})
console.log(JSON.stringify(report, null, 1))
const { serverErrors, accepted, crashed, memoryGrows } = report
process.exit(serverErrors.length + accepted.length === 0 && !crashed && !memoryGrows ? 0 : 1)
