import { expect, test } from 'bun:test'
import '../support/built.ts'
import { clusterTarget, singleTarget } from './oauth-targets.ts'
import { crashPauses } from './pause-crash.ts'

// The long versions: `bun scripts/pause-crash.ts 1000`, `bun scripts/pause-crash.ts 200 cluster`.

test('each pause has one continuation when the service is killed while runs pause, resume and expire', async () => {
  await using target = await singleTarget()
  const report = await crashPauses(target, { rounds: 8, random: Math.random })
  expect(report.wrong).toEqual([])
  expect(report.runs).toBeGreaterThan(30)
  expect(report.answered).toBeGreaterThan(0)
}, 120_000)

test('the same holds for three processes on PostgreSQL', async () => {
  await using target = await clusterTarget()
  const report = await crashPauses(target, { rounds: 4, random: Math.random })
  expect(report.wrong).toEqual([])
  expect(report.runs).toBeGreaterThan(15)
}, 240_000)
