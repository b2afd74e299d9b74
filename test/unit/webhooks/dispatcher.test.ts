import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { AppError } from '../../../src/domain/errors.ts'
import type { OutboundPosted } from '../../../src/domain/outbound-request.ts'
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

const refused: OutboundPosted = { ok: false, code: 'CONNECTION_FAILED', message: 'refused' }
const timedOut: OutboundPosted = { ok: false, code: 'TIMEOUT', message: 'After 30000 ms it still waited' }

describe('a webhook delivery', () => {
  test('is attempted at once, and then by the schedule until the receiver accepts it', async () => {
    const subscription = await world.subscribe('a')
    const row = world.row([subscription])
    world.post = () => (world.attempts.length < 3 ? responded(500) : accepted)
    await world.record([row])
    await world.quiet()
    expect(world.attempts).toHaveLength(1)
    await world.pass(4_999)
    expect(world.attempts).toHaveLength(1)
    await world.pass(501)
    expect(world.attempts).toHaveLength(2)
    await world.pass(16_500)
    const key = { sequence: row.sequence, subscription }
    expect(await world.store.getDelivery(key)).toMatchObject({ state: 'delivered', attempts: 3 })
    expect(new Set(world.attempts.map(({ key: id, body }) => id + body)).size).toBe(1)
  })

  test.each([
    ['400', responded(400), 1, 'HTTP_ERROR'],
    ['301', responded(301), 1, 'REDIRECTED'],
    ['500', responded(500), 5, 'HTTP_ERROR'],
    ['429', responded(429), 5, 'HTTP_ERROR'],
    ['a refused connection', refused, 1, 'CONNECTION_FAILED'],
    ['a timeout', timedOut, 1, 'TIMEOUT'],
  ])('with the response %s fails in the end, after as many attempts as may help', async (_, posted, count, code) => {
    const subscription = await world.subscribe('a')
    const row = world.row([subscription])
    world.post = () => posted
    await world.record([row])
    await world.quiet()
    await world.pass(400_000, 5_000)
    const found = await world.store.getDelivery({ sequence: row.sequence, subscription })
    expect(found).toMatchObject({ state: 'failed', attempts: count, dueAt: null, lastAttempt: { failure: { code } } })
    expect(world.attempts).toHaveLength(count)
  })

  test('is retried after network errors if its subscription says so', async () => {
    const subscription = await world.subscribe('a', 'https://a.example/', true)
    world.post = () => (world.attempts.length === 1 ? refused : world.attempts.length === 2 ? timedOut : accepted)
    await world.record([world.row([subscription])])
    await world.quiet()
    await world.pass(30_000, 1_000)
    expect(world.attempts).toHaveLength(3)
  })

  test('waits as long as Retry-After asks, up to ten minutes', async () => {
    const subscription = await world.subscribe('a')
    const at = world.clock.now()
    const inAnHour = new Date(at + 3_600_000).toUTCString()
    world.post = () => (world.attempts.length === 1 ? responded(429, '40') : responded(503, inAnHour))
    const row = world.row([subscription])
    await world.record([row])
    await world.quiet()
    const dueAt = async () => (await world.store.getDelivery({ sequence: row.sequence, subscription }))?.dueAt
    expect(await dueAt()).toBe(at + 40_000)
    await world.pass(40_000)
    expect(await dueAt()).toBe(at + 640_000)
  })

  test('fails with the name of the variable that its URL lacks', async () => {
    const subscription = await world.subscribe('a', 'https://{{NOWHERE}}/')
    const row = world.row([subscription])
    await world.record([row])
    await world.quiet()
    const found = await world.store.getDelivery({ sequence: row.sequence, subscription })
    expect(found?.lastAttempt?.failure).toEqual({
      code: 'NOT_SENDABLE',
      message: 'The environment variable NOWHERE is not set',
    })
    expect(world.attempts).toEqual([])
  })

  test('goes to the current URL of a changed subscription, and continues after its subscription is deleted', async () => {
    const workflow = { id: world.home.workflowId, workspaceId: world.home.workspaceId }
    const subscription = await world.subscribe('a')
    world.post = () => (world.attempts.length < 3 ? responded(500) : accepted)
    await world.record([world.row([subscription])])
    await world.quiet()
    await world.subscriptions.change(workflow, 'a', { url: 'https://moved.example/hook' })
    await world.pass(5_500)
    await world.subscriptions.delete(workflow.id, 'a')
    await world.pass(16_500)
    expect(world.attempts.map(({ url }) => new URL(url).host)).toEqual(['a.example', 'moved.example', 'moved.example'])
    expect(await world.store.pendingSubscriptions()).toEqual([])
  })
})

describe('a delivery command', () => {
  test('resends a failed delivery at once, with all its attempts and the same delivery ID', async () => {
    const subscription = await world.subscribe('a')
    const row = world.row([subscription])
    const key = { sequence: row.sequence, subscription }
    world.post = () => responded(404)
    await world.record([row])
    await world.quiet()
    expect(await world.stateOf(key)).toBe('failed')
    world.post = () => responded(500)
    expect(await world.dispatcher.commands.resend(key)).toBe(true)
    await world.quiet()
    await world.pass(400_000, 5_000)
    expect(await world.store.getDelivery(key)).toMatchObject({ state: 'failed', attempts: 6, attemptsBefore: 1 })
    expect(new Set(world.attempts.map(({ key: id }) => id)).size).toBe(1)
    expect(await world.dispatcher.commands.resend({ sequence: 1, subscription })).toBe(false)
  })

  test('replaces a pending retry', async () => {
    const subscription = await world.subscribe('a')
    const row = world.row([subscription])
    const key = { sequence: row.sequence, subscription }
    world.post = () => (world.attempts.length === 1 ? responded(500) : accepted)
    await world.record([row])
    await world.quiet()
    await world.pass(1_000)
    await world.dispatcher.commands.resend(key)
    await world.quiet()
    expect(await world.stateOf(key)).toBe('delivered')
    await world.pass(60_000, 5_000)
    expect(world.attempts).toHaveLength(2)
  })

  test('cancels a pending delivery, and no further attempt follows', async () => {
    const subscription = await world.subscribe('a')
    const row = world.row([subscription])
    const key = { sequence: row.sequence, subscription }
    world.post = () => responded(500)
    await world.record([row])
    await world.quiet()
    expect(await world.dispatcher.commands.cancel(key)).toBe(true)
    await world.pass(60_000, 5_000)
    expect(world.attempts).toHaveLength(1)
    expect(await world.stateOf(key)).toBe('cancelled')
    expect(await world.dispatcher.commands.cancel(key)).toBe(false)
    await world.dispatcher.commands.resend(key)
    await world.quiet()
    expect(world.attempts).toHaveLength(2)
  })

  test('cannot resend a delivery in flight; cancelling makes its attempt the last one', async () => {
    const subscription = await world.subscribe('a')
    const row = world.row([subscription])
    const key = { sequence: row.sequence, subscription }
    const held = Promise.withResolvers<OutboundPosted>()
    world.post = () => held.promise
    await world.record([row])
    while (world.attempts.length === 0) await world.turn()
    expect(await rejectionOf(world.dispatcher.commands.resend(key))).toMatchObject({ code: 'CONFLICT' })
    expect(await world.dispatcher.commands.cancel(key)).toBe(true)
    held.resolve(responded(500))
    await world.quiet()
    await world.pass(60_000, 5_000)
    expect(world.attempts).toHaveLength(1)
    expect(await world.store.getDelivery(key)).toMatchObject({ state: 'cancelled', attempts: 1 })
  })

  test('resends all deliveries that failed since a given time', async () => {
    const subscription = await world.subscribe('a')
    world.post = () => responded(404)
    const rows = Array.from({ length: 1_200 }, () => world.row([subscription]))
    await world.record(rows)
    await world.quiet()
    world.post = () => accepted
    world.attempts.length = 0
    const since = rows[100]!.sequence
    expect(await world.dispatcher.commands.resendFailed(world.home.workflowId, since)).toBe(1_100)
    await world.quiet()
    expect(world.attempts).toHaveLength(1_100)
    expect(await world.dispatcher.commands.resendFailed(world.home.workflowId, since)).toBe(0)
  })
})

describe('the dispatcher', () => {
  test('continues with the deliveries of an earlier process, whenever that ended', async () => {
    const [one, two] = [await world.subscribe('a'), await world.subscribe('b')]
    const rows = Array.from({ length: 700 }, () => world.row([one, two]))
    await world.record(rows, false)
    await world.start()
    await world.pass(5_000, 500)
    expect(new Set(world.attempts.map(({ key }) => key)).size).toBe(1_400)
    expect(world.attempts).toHaveLength(1_400)
    expect(await world.store.pendingSubscriptions()).toEqual([])
  })

  test('continues with the deliveries of an earlier process, even if the disk cannot be read at start', async () => {
    const subscription = await world.subscribe('a')
    const row = world.row([subscription])
    await world.record([row], false)
    let isDown = true
    const pendingSubscriptions = async () => {
      if (isDown) throw new AppError('STORAGE_UNAVAILABLE', 'full')
      return await world.store.pendingSubscriptions()
    }
    await world.start({ store: { ...world.store, pendingSubscriptions } })
    await world.pass(5_000, 500)
    expect(world.attempts).toHaveLength(0)
    isDown = false
    await world.pass(5_000, 500)
    expect(await world.stateOf({ sequence: row.sequence, subscription })).toBe('delivered')
    expect(world.attempts).toHaveLength(1)
  })

  test('delays no receiver because another one hangs, and delivers to that one in the end', async () => {
    const [bad, good] = [await world.subscribe('bad'), await world.subscribe('good')]
    const held = Promise.withResolvers<OutboundPosted>()
    world.post = ({ url }) => (url.includes('bad') ? held.promise : accepted)
    for (let n = 0; n < 8; n += 1) {
      await world.record(Array.from({ length: 500 }, () => world.row([bad, good])))
      while (world.attempts.filter(({ url }) => url.includes('good')).length < (n + 1) * 500) {
        await world.turn()
        await world.writer.flush()
      }
    }
    expect(world.attempts.filter(({ url }) => url.includes('bad')).length).toBeLessThanOrEqual(10)
    world.post = () => accepted
    held.resolve(accepted)
    await world.quiet()
    await world.pass(5_000, 500)
    expect(new Set(world.attempts.map(({ key }) => key)).size).toBe(8_000)
    expect(world.attempts).toHaveLength(8_000)
  })

  test('writes an outcome when the disk accepts it again, and does not repeat the attempt', async () => {
    let isDown = true
    await world.start({
      write: async (write) => {
        if (isDown) throw new AppError('STORAGE_UNAVAILABLE', 'full')
        await world.writer.write(write)
      },
    })
    const subscription = await world.subscribe('a')
    const row = world.row([subscription])
    await world.record([row])
    while (world.clock.pending < 2) await world.turn()
    await world.turn()
    world.clock.advance(3_000)
    await world.turn()
    isDown = false
    await world.clock.whenPending()
    world.clock.advance(3_000)
    await world.quiet()
    expect(world.attempts).toHaveLength(1)
    expect(await world.stateOf({ sequence: row.sequence, subscription })).toBe('delivered')
  })

  test('lets attempts end at a stop, aborts those that take too long, and leaves them for the next start', async () => {
    const [slow, quick] = [await world.subscribe('slow'), await world.subscribe('quick')]
    const ending = Promise.withResolvers<OutboundPosted>()
    world.post = ({ url, signal }) => {
      if (url.includes('quick')) return ending.promise
      return new Promise((resolve) => {
        signal.addEventListener('abort', () => resolve({ ok: false, code: 'CANCELLED', message: '' }))
      })
    }
    const row = world.row([slow, quick])
    await world.record([row])
    while (world.attempts.length < 2) await world.turn()
    const stopped = world.dispatcher.stop(1_000)
    ending.resolve(accepted)
    await world.turn()
    await world.writer.flush()
    await world.clock.whenPending()
    world.clock.advance(1_000)
    await stopped
    expect(await world.stateOf({ sequence: row.sequence, subscription: quick })).toBe('delivered')
    const cut = await world.store.getDelivery({ sequence: row.sequence, subscription: slow })
    expect(cut).toMatchObject({ state: 'pending', attempts: 0 })
    world.post = () => accepted
    await world.start()
    await world.pass(5_000, 500)
    expect(await world.stateOf({ sequence: row.sequence, subscription: slow })).toBe('delivered')
  })
})
