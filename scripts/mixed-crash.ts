import { crashMixed } from '../test/faults/mixed-crash.ts'

/** `bun scripts/mixed-crash.ts [rounds]`: the long version of the kill -9 test with a mixed load. */
const [rounds = 50] = process.argv.slice(2).map(Number)
const { startedInMs, ...report } = await crashMixed({
  rounds,
  random: Math.random,
  progress: (round, acknowledged) => console.error(`round ${round}: ${acknowledged} runs acknowledged so far`),
})
const slowestStartMs = Math.round(Math.max(...startedInMs))
console.log(JSON.stringify({ ...report, slowestStartMs }, null, 1))
