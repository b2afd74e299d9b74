import { expect, test } from 'bun:test'
import { crash } from './crash.ts'

test('after kill -9 under load, no acknowledged run is missing', async () => {
  const report = await crash({ rounds: 5, connections: 16, random: Math.random })
  expect(report.missing).toEqual([])
  expect(report.integrity).toEqual(['ok'])
  expect(report.acknowledged).toBeGreaterThanOrEqual(50)
}, 240_000)
