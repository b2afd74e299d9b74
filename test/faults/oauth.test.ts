import { expect, test } from 'bun:test'
import { countRefreshes, killRefreshes } from './oauth.ts'
import { singleTarget } from './oauth-targets.ts'

test('a token that expires is refreshed once, however many runs need it', async () => {
  await using target = await singleTarget()
  const report = await countRefreshes(target, { expiries: 10, calls: 250, atOnce: 25 })
  expect(report).toEqual({ expiries: 10, calls: 250, failed: [], refreshes: 10, reuses: 0 })
}, 60_000)

test('a kill in the middle of a refresh loses a token only where nobody could have kept it', async () => {
  await using target = await singleTarget()
  let seed = 7
  const random = () => {
    seed = (seed * 16_807) % 2_147_483_647
    return seed / 2_147_483_647
  }
  const report = await killRefreshes(target, { rounds: 8, random })
  expect(report.wrong).toEqual([])
}, 120_000)
