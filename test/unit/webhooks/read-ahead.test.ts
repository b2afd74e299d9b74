import { expect, test } from 'bun:test'
import { include } from '../../../src/domain/webhook/subscription.ts'
import type { DeliveryNeed } from '../../../src/store/delivery-store.ts'
import { accepted, OutboxWorld } from '../../support/webhooks/outbox-world.ts'

const deliveries = 200

/**
 * Counts how many runs of waiting deliveries are read from the log at once at most, and how many before their
 * attempts.
 */
async function readAheadOf(outputChars: number): Promise<{ together: number; ahead: number }> {
  const world = await OutboxWorld.open()
  const subscription = await world.subscribe('a')
  const webhooks = { deliveries: [{ subscription, include: include.finalOutput }], skipped: [], facts: null }
  const finalOutput = JSON.stringify('x'.repeat(outputChars))
  const rows = Array.from({ length: deliveries }, () => world.row([subscription], { finalOutput, webhooks }))
  await world.record(rows, false)
  const most = { together: 0, ahead: 0 }
  let read = 0
  const readDeliveries = async (needs: readonly DeliveryNeed[]) => {
    read += needs.length
    most.together = Math.max(most.together, needs.length)
    most.ahead = Math.max(most.ahead, read - world.attempts.length)
    for (let turns = 0; turns < 20; turns += 1) await world.turn()
    return await world.store.readDeliveries(needs)
  }
  world.post = async () => {
    for (let turns = 0; turns < 20; turns += 1) await world.turn()
    return accepted
  }
  await world.start({ store: { ...world.store, readDeliveries } })
  await world.pass(1_000)
  expect(new Set(world.attempts.map(({ key }) => key)).size).toBe(deliveries)
  expect(world.attempts).toHaveLength(deliveries)
  expect(world.bugs).toEqual([])
  await world.close()
  return most
}

test('many runs with short outputs are read ahead, and only as many long ones as fit', async () => {
  expect((await readAheadOf(100)).together).toBe(32)
  const { together, ahead } = await readAheadOf(2_500_000)
  expect(together).toBeLessThanOrEqual(4)
  // Ten are being attempted.
  expect(ahead).toBeLessThanOrEqual(12)
})
