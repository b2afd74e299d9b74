import { expect, test } from 'bun:test'
import { StaleGrants } from '../../../src/accounts/oauth/stale-grants.ts'
import type { KeptClients } from '../../../src/store/oauth-store.ts'
import { ManualClock } from '../../support/clock.ts'

const day = 86_400_000
const start = 1_000 * day

test('stale grants and clients are deleted once an hour, in steps, and after a failure too', async () => {
  const clock = new ManualClock(start)
  const calls: { at: number; kept: KeptClients }[] = []
  const failures: unknown[] = []
  const results = [500, 3, 0, 'fails', 0] as const
  const stale = new StaleGrants({
    clock,
    store: {
      async deleteStaleOAuth(at, kept) {
        const result = results[calls.length]
        calls.push({ at, kept })
        if (result === 'fails') throw new Error('The disk is full.')
        return result ?? 0
      },
    },
    onFailure: (error) => failures.push(error),
  })
  const round = async (ms: number, count: number) => {
    clock.advance(ms)
    while (calls.length < count || clock.pending === 0) await new Promise(setImmediate)
  }
  await round(60_000, 3)
  const at = start + 60_000
  expect(calls).toEqual(Array(3).fill({ at, kept: { unusedSince: at - day, usedSince: at - 400 * day } }))
  await round(3_600_000, 4)
  expect(failures).toEqual([new Error('The disk is full.')])
  await round(3_600_000, 5)
  expect(calls).toHaveLength(5)
  await stale.stop()
  expect(clock.pending).toBe(0)
})
