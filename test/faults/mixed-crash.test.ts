import { expect, test } from 'bun:test'
import { crashMixed } from './mixed-crash.ts'

test('kill -9 under everything at once costs no run, no poll and no backup', async () => {
  const { acknowledged, backups, retained, startedInMs, ...report } = await crashMixed({
    rounds: 5,
    random: Math.random,
  })
  expect(acknowledged).toBeGreaterThan(0)
  expect(report).toEqual({
    ...{ rounds: 5, missing: [], unfinished: [], unmet: [], disordered: [], missingInBackups: [], errors: [] },
    integrity: ['{"integrity_check":"ok"}'],
  })
}, 120_000)
