import { crashWebhooks } from '../test/faults/webhook-crash.ts'

/** `bun scripts/webhook-crash.ts [rounds]`: kills the service with -9 repeatedly while webhooks are delivered. */
const [rounds = 50] = process.argv.slice(2).map(Number)
const { missing, renamed, ...rest } = await crashWebhooks({
  rounds,
  random: Math.random,
  progress: (round, acknowledged, arrived) =>
    console.error(`round ${round}: ${acknowledged} runs acknowledged, ${arrived} webhooks arrived so far`),
})
console.log(JSON.stringify({ ...rest, missing: missing.length, renamed: renamed.length }))
process.exit(missing.length === 0 && renamed.length === 0 && rest.lost === 0 ? 0 : 1)
