import { expect, test } from 'bun:test'
import { AppError } from '../../../src/domain/errors.ts'
import { include } from '../../../src/domain/webhook/subscription.ts'
import type { DeliveryNeed } from '../../../src/store/delivery-store.ts'
import { OutboxWorld } from '../../support/webhooks/outbox-world.ts'

test('a body that could not be created is created later', async () => {
  const world = await OutboxWorld.open()
  let isDown = true
  const freshen = (text: string) => {
    return isDown ? Promise.reject(new AppError('STORAGE_UNAVAILABLE', 'no credentials')) : text
  }
  await world.start({ freshen })
  const subscription = await world.subscribe('a')
  const files = { folder: 'f', count: 1, bytes: 5, text: '[{"url":"x"}]' }
  await world.record([world.row([subscription], { files })])
  await world.quiet()
  expect(world.attempts).toHaveLength(0)
  isDown = false
  await world.pass(1_000)
  expect(world.attempts).toHaveLength(1)
  expect(world.bugs).toEqual([])
  await world.close()
})

test('the source of a delivery is released when it was read from disk before its commit was acknowledged', async () => {
  const world = await OutboxWorld.open()
  const subscription = await world.subscribe('a')
  const webhooks = { deliveries: [{ subscription, include: include.finalOutput }], skipped: [], facts: null }
  // There is memory for one of them only.
  const finalOutput = JSON.stringify('x'.repeat(10_000_000))
  const ended = () => world.row([subscription], { finalOutput, webhooks })
  const first = ended()
  await world.record([first], false)
  let reads = 0
  const gate = Promise.withResolvers<void>()
  const readDeliveries = async (needs: readonly DeliveryNeed[]) => {
    reads += 1
    await gate.promise
    return await world.store.readDeliveries(needs)
  }
  await world.start({ store: { ...world.store, readDeliveries } })
  while (reads === 0) {
    world.clock.advance(100)
    await world.turn()
  }
  world.dispatcher.take(first)
  gate.resolve()
  await world.quiet()
  expect([world.attempts.length, reads]).toEqual([1, 1])
  await world.record([ended()])
  await world.quiet()
  expect([world.attempts.length, reads]).toEqual([2, 1])
  expect(world.bugs).toEqual([])
  await world.close()
})
