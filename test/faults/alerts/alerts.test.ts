import { expect, test } from 'bun:test'
import '../../support/built.ts'
import { clusterTarget, singleTarget } from '../oauth-targets.ts'
import { crashAlerts } from './alert-crash.ts'

// The long versions: `bun scripts/alert-crash.ts 200`, `bun scripts/alert-crash.ts 200 cluster`.

test('each alert and event trigger fires once when the service is killed while they are evaluated', async () => {
  await using target = await singleTarget()
  expect(await crashAlerts(target, { rounds: 5, random: Math.random })).toMatchObject({
    ...{ wrong: [], messages: 10, starts: 5 },
  })
}, 120_000)

test('the same holds for three processes on PostgreSQL', async () => {
  await using target = await clusterTarget()
  expect(await crashAlerts(target, { rounds: 3, random: Math.random })).toMatchObject({
    wrong: [],
    messages: 6,
    starts: 3,
  })
}, 240_000)
