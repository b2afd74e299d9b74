import { expect, test } from 'bun:test'
import { crash } from './crash.ts'

test('after kill -9 under load no acknowledged run is missing, and the service is back soon', async () => {
  const report = await crash({ rounds: 5, connections: 16, random: Math.random })
  expect(report.missing).toEqual([])
  expect(report.integrity).toEqual(['ok'])
  expect(report.acknowledged).toBeGreaterThanOrEqual(50)
  // Within a second on a machine that has nothing else to do: `bun scripts/crash.ts` holds it to that.
  expect(Math.min(...report.startedInMs)).toBeLessThan(5_000)
}, 240_000)
