import { expect, test } from 'bun:test'
import type { OutboundPosted } from '../../../src/domain/outbound-request.ts'
import { accepted, OutboxWorld, responded } from '../../support/webhooks/outbox-world.ts'

const delaysMs = [5_000, 15_000, 60_000, 180_000]
const stepMs = 25

/** The random responses of a receiver: an upper limit in percent, the outcome, and whether another attempt follows. */
const outcomes: [below: number, posted: OutboundPosted, retried: boolean][] = [
  [55, accepted, false],
  [80, responded(503), true],
  [90, responded(500), true],
  [94, responded(429, '30'), true],
  [96, responded(404), false],
  [98, responded(302), false],
  [100, { ok: false, code: 'CONNECTION_FAILED', message: 'refused' }, false],
]

/** Pseudo-random numbers from 0 to 1. */
function seeded(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9) | 0
    const mixed = Math.imul(state ^ (state >>> 12), 0x297a2d39)
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 4_294_967_296
  }
}

test('100,000 deliveries go through the whole schedule: every attempt is on time, and none is lost', async () => {
  const random = seeded(7)
  const world = await OutboxWorld.open({ random })
  const subscriptions: number[] = []
  for (let n = 0; n < 20; n += 1) subscriptions.push(await world.subscribe(`r${n}`))

  /** By delivery: the times of its attempts, whether it is retried, and the delays that Retry-After asked for. */
  const histories = new Map<string, { at: number[]; retried: boolean; asked: number[] }>()
  world.post = (_, key) => {
    const at = random() * 100
    const [, posted, retried] = outcomes.find(([below]) => at < below)!
    const history = histories.get(key) ?? { at: [], retried: true, asked: [] }
    expect(history.retried).toBe(true)
    history.at.push(world.clock.now())
    history.asked.push(posted.ok && posted.status === 429 ? 30_000 : 0)
    history.retried = retried && history.at.length < 5
    histories.set(key, history)
    world.attempts.length = 0
    return posted
  }

  for (let group = 0; group < 40; group += 1) {
    const rows = Array.from({ length: 500 }, (_, n) => {
      const first = (group * 500 + n) % 20
      return world.row([0, 4, 8, 12, 16].map((step) => subscriptions[(first + step) % 20]!))
    })
    await world.record(rows)
  }
  await world.quiet()
  expect(histories.size).toBe(100_000)
  for (let passed = 0; passed < 400_000; passed += stepMs) {
    // Nothing happens before the next timer.
    const idleMs = Math.floor((world.clock.nextInMs ?? 300_000) / stepMs) * stepMs
    const step = Math.max(stepMs, Math.min(idleMs, 60_000))
    await world.pass(step)
    passed += step - stepMs
  }

  expect(world.bugs).toEqual([])
  expect(await world.store.pendingSubscriptions()).toEqual([])
  const tenths = Array.from({ length: 10 }, () => 0)
  let attempts = 0
  for (const { at, asked, retried } of histories.values()) {
    expect(retried).toBe(false)
    attempts += at.length
    for (let n = 1; n < at.length; n += 1) {
      const delayMs = Math.max(delaysMs[n - 1]!, asked[n - 1]!)
      const over = (at[n]! - at[n - 1]! - delayMs) / delayMs
      const mostMs = Math.max(delaysMs[n - 1]! * 1.1, asked[n - 1]!)
      expect(at[n]! - at[n - 1]!).toBeGreaterThanOrEqual(delayMs)
      expect(at[n]! - at[n - 1]!).toBeLessThanOrEqual(mostMs + 2 * stepMs)
      if (asked[n - 1] === 0 && n > 2) tenths[Math.min(9, Math.floor(over * 100))]! += 1
    }
  }
  // The jitter is uniform: each tenth of its range has a tenth of the attempts, except for chance and for the step,
  // which is short compared with the longer delays.
  const jittered = tenths.reduce((sum, count) => sum + count)
  for (const count of tenths) expect(Math.abs(count / jittered - 0.1)).toBeLessThan(0.02)
  let listed = 0
  let position: { sequence: number; subscription: number } | undefined
  for (;;) {
    const query = { workflowId: world.home.workflowId, state: undefined, after: position, limit: 1_000 }
    const page = await world.store.listDeliveries(query)
    for (const delivery of page.deliveries) {
      listed += delivery.attempts
      expect(delivery.state).not.toBe('pending')
      expect(delivery.attempts).toBeLessThanOrEqual(5)
    }
    if (page.position === null) break
    position = page.position
  }
  expect(listed).toBe(attempts)
  await world.close()
}, 240_000)
