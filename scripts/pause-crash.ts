import { clusterTarget, singleTarget } from '../test/faults/oauth-targets.ts'
import { crashPauses } from '../test/faults/pause-crash.ts'

/**
 * `bun scripts/pause-crash.ts [rounds] [single|cluster]`: kills a process with -9 while runs pause, resume and expire.
 * `cluster`: three processes on PostgreSQL.
 */
const [rounds = '1000', kind = 'single'] = process.argv.slice(2)
await using target = kind === 'cluster' ? await clusterTarget() : await singleTarget()
const report = await crashPauses(target, {
  rounds: Number(rounds),
  random: Math.random,
  progress: (round, continued) => round % 20 === 0 && console.error(`round ${round}: ${continued} runs have continued`),
})
console.log(JSON.stringify({ ...report, wrong: report.wrong.length, examples: report.wrong.slice(0, 5) }))
process.exitCode = report.wrong.length === 0 ? 0 : 1
