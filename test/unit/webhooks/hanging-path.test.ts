import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { OutboundPost, OutboundPosted } from '../../../src/domain/outbound-request.ts'
import { accepted, OutboxWorld } from '../../support/webhooks/outbox-world.ts'

let world: OutboxWorld
let hanging: ((posted: OutboundPosted) => void)[]
beforeEach(async () => {
  world = await OutboxWorld.open()
  hanging = []
})
afterEach(async () => {
  world.post = () => accepted
  endAll()
  await world.quiet()
  expect(world.bugs).toEqual([])
  await world.close()
})

describe('a subscription whose path hangs', () => {
  test('delays no other subscription of the same receiver', async () => {
    const bad = await world.subscribe('bad', 'https://one.example/bad')
    const good = await world.subscribe('good', 'https://one.example/good')
    // Both respond at first, so that both count as fast when one of them begins to hang.
    await record(bad, good)
    world.post = hangsAt('/bad')
    for (let n = 0; n < 30; n += 1) await record(bad)
    expect(hanging).toHaveLength(5)
    for (let second = 0; second < 25; second += 1) {
      await record(bad, good)
      expect(sentTo('/good')).toBe(second + 2)
      world.clock.advance(1_000)
      await turns()
    }
    expect(hanging).toHaveLength(5)
  })

  test('delays no other subscription even when several begin to hang together', async () => {
    const bad = await Promise.all(['a', 'b', 'c'].map((id) => world.subscribe(id, `https://one.example/bad/${id}`)))
    const good = await world.subscribe('good', 'https://one.example/good')
    await record(...bad, good)
    world.post = hangsAt('/bad')
    for (let n = 0; n < 30; n += 1) await record(...bad)
    expect(hanging.length).toBeGreaterThan(5)
    for (let second = 0; second < 25; second += 1) {
      await record(...bad, good)
      expect(sentTo('/good')).toBe(second + 2)
      world.clock.advance(1_000)
      await turns()
    }
  })

  test('gets its whole backlog when the path responds again', async () => {
    const bad = await world.subscribe('bad', 'https://one.example/bad')
    world.post = hangsAt('/bad')
    for (let n = 0; n < 200; n += 1) await record(bad)
    world.clock.advance(2_000)
    await turns()
    expect(sentTo('/bad')).toBe(5)
    world.post = () => accepted
    endAll()
    await turns()
    await world.quiet()
    expect(sentTo('/bad')).toBe(200)
  })
})

/** One run with deliveries for these subscriptions, and everything that follows without time passing. */
async function record(...subscriptions: readonly number[]): Promise<void> {
  await world.record([world.row(subscriptions)])
  await turns()
}

async function turns(): Promise<void> {
  for (let n = 0; n < 20; n += 1) await world.turn()
}

function hangsAt(path: string) {
  return ({ url }: OutboundPost) =>
    url.includes(path) ? new Promise<OutboundPosted>((resolve) => hanging.push(resolve)) : accepted
}

function endAll(): void {
  for (const resolve of hanging.splice(0)) resolve(accepted)
}

function sentTo(path: string): number {
  return world.attempts.filter(({ url }) => url.includes(path)).length
}
