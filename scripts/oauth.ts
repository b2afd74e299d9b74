import { countRefreshes, killRefreshes } from '../test/faults/oauth.ts'
import { clusterTarget, singleTarget } from '../test/faults/oauth-targets.ts'

/**
 * `bun scripts/oauth.ts [expiries] [rounds] [single|cluster]`: refreshes tokens of a test authorization server under
 * load, and kills the service with -9 in the middle of refreshes. `cluster`: three processes on PostgreSQL.
 */
const [expiries = '500', rounds = '200', kind = 'single'] = process.argv.slice(2)
await using target = kind === 'cluster' ? await clusterTarget() : await singleTarget()
const counted = await countRefreshes(target, { expiries: Number(expiries), calls: 50 * Number(expiries), atOnce: 50 })
console.log(JSON.stringify({ ...counted, failed: counted.failed.length, examples: counted.failed.slice(0, 3) }))
await using other = kind === 'cluster' ? await clusterTarget() : await singleTarget()
const killed = await killRefreshes(other, {
  rounds: Number(rounds),
  random: Math.random,
  progress: (round, lost) => round % 20 === 0 && console.error(`round ${round}: ${lost} tokens were lost in rotation`),
})
console.log(JSON.stringify(killed))
const isRight = counted.failed.length === 0 && counted.refreshes === counted.expiries && counted.reuses === 0
process.exitCode = isRight && killed.wrong.length === 0 ? 0 : 1
