import { expect, test } from 'bun:test'
import { crashMixed } from './mixed-crash.ts'

test('after kill -9 under a mixed load, no run, log entry or backup is lost', async () => {
  const { acknowledged, backups, retained, startedInMs, ...report } = await crashMixed({
    rounds: 5,
    random: Math.random,
  })
  expect(acknowledged).toBeGreaterThan(0)
  expect(report).toEqual({
    ...{ rounds: 5, missing: [], unfinished: [], notFollowed: [], outOfOrder: [], missingInBackups: [], errors: [] },
    integrity: ['{"integrity_check":"ok"}'],
  })
}, 120_000)
