import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { AppError } from '../../../src/domain/errors.ts'
import type { OutboundPosted } from '../../../src/domain/outbound-request.ts'
import type { DeliveryKey } from '../../../src/domain/webhook/delivery.ts'
import { rejectionOf } from '../../support/store/rejection.ts'
import { accepted, OutboxWorld, responded } from '../../support/webhooks/outbox-world.ts'

let world: OutboxWorld
beforeEach(async () => {
  world = await OutboxWorld.open()
})
afterEach(async () => {
  expect(world.bugs).toEqual([])
  await world.close()
})

/** Two deliveries of one subscription that failed once and wait for the next attempt. */
async function waitingPair(): Promise<[DeliveryKey, DeliveryKey]> {
  const subscription = await world.subscribe('a')
  const rows = [world.row([subscription]), world.row([subscription])]
  world.post = () => responded(500)
  await world.record(rows)
  await world.quiet()
  world.post = () => accepted
  world.attempts.length = 0
  return rows.map(({ sequence }) => ({ sequence, subscription })) as [DeliveryKey, DeliveryKey]
}

describe('a command for one delivery, while others of its subscription are being read from disk,', () => {
  test('cancels it', async () => {
    const held = Promise.withResolvers<void>()
    const cancelDelivery = (key: DeliveryKey) => held.promise.then(() => world.store.cancelDelivery(key))
    await world.start({ store: { ...world.store, cancelDelivery } })
    const [one, other] = await waitingPair()
    const cancelling = world.dispatcher.commands.cancel(one)
    await world.dispatcher.commands.resend(other)
    await world.quiet()
    held.resolve()
    expect(await cancelling).toBe(true)
    await world.pass(60_000, 5_000)
    expect(world.attempts).toHaveLength(1)
    expect(await world.stateOf(one)).toBe('cancelled')
  })

  test('resends it at once', async () => {
    const held = Promise.withResolvers<void>()
    let calls = 0
    const sendAgain = async (key: DeliveryKey, at: number) => {
      calls += 1
      if (calls === 1) await held.promise
      return await world.store.sendAgain(key, at)
    }
    await world.start({ store: { ...world.store, sendAgain } })
    const [one, other] = await waitingPair()
    const sending = world.dispatcher.commands.resend(one)
    await world.dispatcher.commands.resend(other)
    await world.quiet()
    held.resolve()
    await sending
    await world.quiet()
    expect(await world.stateOf(one)).toBe('delivered')
    await world.pass(60_000, 5_000)
    expect(world.attempts).toHaveLength(2)
  })
})

test('a delivery is retried when its cancellation failed on disk and its attempt fails', async () => {
  const cancelDelivery = () => Promise.reject(new AppError('STORAGE_UNAVAILABLE', 'full'))
  await world.start({ store: { ...world.store, cancelDelivery } })
  const subscription = await world.subscribe('a')
  const row = world.row([subscription])
  const key = { sequence: row.sequence, subscription }
  const held = Promise.withResolvers<OutboundPosted>()
  world.post = () => held.promise
  await world.record([row])
  while (world.attempts.length === 0) await world.turn()
  expect(await rejectionOf(world.dispatcher.commands.cancel(key))).toMatchObject({ code: 'STORAGE_UNAVAILABLE' })
  world.post = () => accepted
  held.resolve(responded(500))
  await world.quiet()
  await world.pass(10_000, 1_000)
  expect(await world.store.getDelivery(key)).toMatchObject({ state: 'delivered', attempts: 2 })
})
