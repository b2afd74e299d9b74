import { expect, test } from 'bun:test'
import { crashIncrements } from './store-crash.ts'

test('after repeated kill -9, the sum of all increments is exact', async () => {
  const { runs, failed, sum, expected, wrong } = await crashIncrements({ rounds: 6, random: Math.random })
  expect(runs).toBeGreaterThan(0)
  expect({ failed, wrong, sum }).toEqual({ failed: 0, wrong: 0, sum: expected })
}, 120_000)
