import { expect, test } from 'bun:test'
import { crashWebhooks } from './webhook-crash.ts'

test('after kill -9 under load, every acknowledged run is delivered to every receiver, with one delivery ID each', async () => {
  const report = await crashWebhooks({ rounds: 4, random: Math.random })
  expect(report.missing).toEqual([])
  expect(report.renamed).toEqual([])
  expect(report.lost).toBe(0)
  expect(report.acknowledged).toBeGreaterThan(50)
}, 400_000)
