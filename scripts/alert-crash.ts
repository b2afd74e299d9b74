import { crashAlerts } from '../test/faults/alerts/alert-crash.ts'
import { clusterTarget, singleTarget } from '../test/faults/oauth-targets.ts'

/**
 * `bun scripts/alert-crash.ts [rounds] [single|cluster]`: kills a process with -9 while alerts and event triggers fire.
 * `cluster`: three processes on PostgreSQL.
 */
const [rounds = '200', kind = 'single'] = process.argv.slice(2)
await using target = kind === 'cluster' ? await clusterTarget() : await singleTarget()
const report = await crashAlerts(target, {
  rounds: Number(rounds),
  random: Math.random,
  progress: (round) => round % 20 === 0 && console.error(`round ${round}`),
})
console.log(JSON.stringify({ ...report, wrong: report.wrong.length, examples: report.wrong.slice(0, 5) }))
process.exitCode = report.wrong.length === 0 ? 0 : 1
