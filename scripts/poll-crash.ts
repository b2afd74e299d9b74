import { crashPolls } from '../test/faults/polls/poll-crash.ts'

/**
 * `bun scripts/poll-crash.ts [rounds] [--cluster]`: kills the service with -9 repeatedly while it polls lists and a
 * feed that grow. With `--cluster`, three processes serve one PostgreSQL database, and a random one is killed.
 */
const isCluster = process.argv.includes('--cluster')
const [rounds = 100] = process.argv
  .slice(2)
  .filter((each) => !each.startsWith('-'))
  .map(Number)
const { lost, twice, ...rest } = await crashPolls({
  rounds,
  isCluster,
  random: Math.random,
  progress: (round, items) => console.error(`round ${round}: ${items} items so far`),
})
console.log(JSON.stringify({ ...rest, lost: lost.length, twice: twice.length }))
process.exit(lost.length + twice.length + rest.failed === 0 ? 0 : 1)
