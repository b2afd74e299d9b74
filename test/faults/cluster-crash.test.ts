import { expect, test } from 'bun:test'
import { crashCluster } from './cluster-crash.ts'

test('of three processes, any may be killed: no acknowledged run is missing, none appears twice', async () => {
  const report = await crashCluster({ rounds: 6, faults: ['kill', 'kill', 'postgres'], random: Math.random })
  expect(report).toMatchObject({ missing: [], twice: [], failed: [], undelivered: [], dueTwice: [], errors: [] })
  expect(report.acknowledged).toBeGreaterThan(100)
  expect(report.accepted).toBeGreaterThan(20)
  expect(report.dueTimes).toBeGreaterThan(3)
  expect(report.slowestMs).toBeLessThan(40_000)
}, 240_000)
