import { type ClusterFault, crashCluster } from '../test/faults/cluster-crash.ts'

/**
 * `bun scripts/cluster-crash.ts [rounds] [fault]…`: three processes on one PostgreSQL under load, with a fault in each
 * round: kill (by default), suspend, postgres, connections. See test/faults/cluster-crash.ts.
 */
const [rounds = '100', ...faults] = process.argv.slice(2)
const report = await crashCluster({
  rounds: Number(rounds),
  faults: faults.length > 0 ? (faults as ClusterFault[]) : ['kill'],
  random: Math.random,
  progress: (round, fault, acknowledged) => console.error(`round ${round}: ${fault}, ${acknowledged} runs so far`),
})
console.log(JSON.stringify({ ...report, errors: report.errors.slice(0, 20) }, null, 2))
const { missing, twice, failed, undelivered, dueTwice, slowestMs } = report
const isMet = [missing, twice, failed, undelivered, dueTwice].every(({ length }) => length === 0) && slowestMs < 40_000
process.exit(isMet ? 0 : 1)
