import { expect, test } from 'bun:test'
import { crashPolls } from './poll-crash.ts'

test('after repeated kill -9, no item of a list or feed is lost or started twice', async () => {
  const report = await crashPolls({ rounds: 6, random: Math.random })
  expect(report).toMatchObject({ lost: [], twice: [], failed: 0 })
  expect(report.items).toBeGreaterThan(0)
}, 120_000)

test('three processes on PostgreSQL, of which one is killed again and again, start each item once', async () => {
  const report = await crashPolls({ rounds: 3, random: Math.random, isCluster: true })
  expect(report).toMatchObject({ lost: [], twice: [], failed: 0 })
  expect(report.items).toBeGreaterThan(0)
}, 240_000)
