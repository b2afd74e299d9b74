import { expect, test } from 'bun:test'
import { include } from '../../src/domain/webhook.ts'
import type { DeliveryNeed } from '../../src/store/store.ts'
import { OutboxWorld } from './outbox-world.ts'

const deliveries = 100

/** How many runs are read from the log together, read by read, when deliveries of such outputs wait there. */
async function readsOf(outputChars: number): Promise<number[]> {
  const world = await OutboxWorld.open()
  const subscription = await world.subscribe('a')
  const webhooks = { deliveries: [{ subscription, include: include.finalOutput }], skipped: [], facts: null }
  const finalOutput = JSON.stringify('x'.repeat(outputChars))
  const rows = Array.from({ length: deliveries }, () => world.row([subscription], { finalOutput, webhooks }))
  await world.record(rows, false)
  const reads: number[] = []
  const readDeliveries = (needs: readonly DeliveryNeed[]) => {
    reads.push(needs.length)
    return world.store.readDeliveries(needs)
  }
  await world.start({ store: { ...world.store, readDeliveries } })
  await world.pass(1_000)
  expect(new Set(world.attempts.map(({ key }) => key)).size).toBe(deliveries)
  expect(world.attempts).toHaveLength(deliveries)
  expect(world.bugs).toEqual([])
  await world.close()
  return reads
}

test('of runs with short outputs many are read together, of those with very long ones as few as fit', async () => {
  expect(Math.max(...(await readsOf(100)))).toBe(32)
  expect(Math.max(...(await readsOf(4_000_000)))).toBeLessThanOrEqual(4)
})
