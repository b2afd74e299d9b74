import { crashIncrements } from '../test/faults/entries/store-crash.ts'

/** `bun scripts/store-crash.ts [rounds]`: kills the service with -9 repeatedly while runs increment an entry. */
const [rounds = 20] = process.argv.slice(2).map(Number)
const report = await crashIncrements({
  rounds,
  random: Math.random,
  progress: (round) => console.error(`round ${round}`),
})
console.log(JSON.stringify(report))
process.exit(report.failed + report.wrong === 0 && report.sum === report.expected ? 0 : 1)
