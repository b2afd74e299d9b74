import { expect, test } from 'bun:test'
import { accepted, OutboxWorld, responded } from '../../support/webhooks/outbox-world.ts'

test('pending deliveries on disk continue at once when the system clock is set back', async () => {
  const world = await OutboxWorld.open()
  const subscription = await world.subscribe('a')
  const rows = Array.from({ length: 3_000 }, () => world.row([subscription]))
  world.post = () => responded(500)
  await world.record(rows)
  await world.quiet()
  world.clock.setNow(world.clock.now() - 86_400_000)
  world.post = () => accepted
  world.attempts.length = 0
  await world.pass(1_500_000, 60_000)
  expect(world.attempts).toHaveLength(3_000)
  expect(await world.store.pendingSubscriptions()).toEqual([])
  expect(world.bugs).toEqual([])
  await world.close()
})
