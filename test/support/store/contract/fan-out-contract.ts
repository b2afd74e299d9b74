import { describe, expect, test } from 'bun:test'
import type { RunWebhooks } from '../../../../src/domain/run/log.ts'
import { logWrite } from '../../../../src/domain/run/write.ts'
import type { AttemptOutcome, DeliveryKey, DeliveryState } from '../../../../src/domain/webhook/delivery.ts'
import type { Store } from '../../../../src/store/store.ts'
import { appendLogs } from '../append-logs.ts'
import { endedAttempt } from '../ended-attempt.ts'
import { type Installed, logRow } from '../installed.ts'
import { rejectionOf } from '../rejection.ts'
import { newSubscription } from './subscription-contract.ts'

const endedAt = 1_700_000_000_012
const delivered: AttemptOutcome = { state: 'delivered', dueAt: null }
const failed: AttemptOutcome = { state: 'failed', dueAt: null }

/**
 * The contract of every store for runs with several recipients: each delivery has its own state, and none is
 * lost.
 */
export function fanOutContract(world: () => { store: Store; home: Installed }): void {
  const subscribe = async (id: string) =>
    (await world().store.createSubscription(world().home.workflowId, newSubscription(id), 1)).number
  const pendingTo = (...subscriptions: number[]): RunWebhooks => ({
    deliveries: subscriptions.map((subscription) => ({ subscription, include: 0 })),
    skipped: [],
    facts: null,
  })
  const row = (sequence: number, subscriptions: readonly number[], at = endedAt) =>
    logRow(world().home, sequence, { endedAt: at, webhooks: pendingTo(...subscriptions) })
  const record = (sequence: number, subscriptions: readonly number[], at = endedAt) =>
    appendLogs(world().store, [row(sequence, subscriptions, at)])
  const stateOf = async (sequence: number, subscription: number) =>
    (await world().store.getDelivery({ sequence, subscription }))?.state
  const pending = async () => (await world().store.measure()).deliveries.pending

  describe('the deliveries of one run', () => {
    test('stay pending if they were not attempted', async () => {
      const { store } = world()
      const [one, two, three] = [await subscribe('a'), await subscribe('b'), await subscribe('c')]
      await record(5, [one, two, three])
      await record(6, [one, two, three], endedAt + 1)
      await store.endAttempts([endedAttempt({ sequence: 5, subscription: two }, delivered)])
      expect([await stateOf(5, one), await stateOf(5, two), await stateOf(5, three)]).toEqual([
        'pending',
        'delivered',
        'pending',
      ])
      const due = { include: 0, attempts: 0, attemptsBefore: 0 }
      expect(await store.nextDeliveries(one, null, 9)).toEqual([
        { ...due, sequence: 5, subscription: one, dueAt: endedAt },
        { ...due, sequence: 6, subscription: one, dueAt: endedAt + 1 },
      ])
      expect(await store.nextDeliveries(two, null, 9)).toMatchObject([{ sequence: 6 }])
      expect((await store.measure()).deliveries).toEqual({ pending: 5, oldestDueAt: endedAt })
      expect(await store.pendingSubscriptions()).toEqual([one, two, three])
    })

    test('all have their attempts, however many of them one group records', async () => {
      const { store } = world()
      const [one, two] = [await subscribe('a'), await subscribe('b')]
      for (const sequence of [5, 6, 7]) await record(sequence, [one, two])
      const again: AttemptOutcome = { state: 'pending', dueAt: endedAt + 5_000 }
      await store.endAttempts([
        endedAttempt({ sequence: 5, subscription: one }, delivered),
        endedAttempt({ sequence: 6, subscription: one }, again),
        endedAttempt({ sequence: 5, subscription: two }, failed),
        endedAttempt({ sequence: 6, subscription: one }, delivered, { number: 2 }),
        endedAttempt({ sequence: 7, subscription: one + 100 }, delivered),
      ])
      expect(await stateOf(5, one)).toBe('delivered')
      expect(await stateOf(5, two)).toBe('failed')
      expect(await store.getDelivery({ sequence: 6, subscription: one })).toMatchObject({
        ...{ state: 'delivered', attempts: 2, dueAt: null },
        lastAttempt: { number: 2, status: 200 },
      })
      expect(await store.listAttempts({ sequence: 6, subscription: one })).toHaveLength(2)
      expect(await store.listAttempts({ sequence: 7, subscription: one + 100 })).toEqual([])
      expect(await pending()).toBe(3)
    })

    test('are cancelled and sent again one by one, while the others stay as they are', async () => {
      const { store } = world()
      const [one, two, three] = [await subscribe('a'), await subscribe('b'), await subscribe('c')]
      await record(5, [one, two, three])
      await record(6, [one, two, three])
      expect(await store.cancelDelivery({ sequence: 5, subscription: two })).toBe(true)
      expect(await store.cancelDelivery({ sequence: 5, subscription: two })).toBe(false)
      expect(await store.sendAgain({ sequence: 6, subscription: three }, 77)).toBe(true)
      expect(await store.cancelDelivery({ sequence: 6, subscription: three + 100 })).toBe(false)
      expect(await stateOf(5, two)).toBe('cancelled')
      expect(await store.nextDeliveries(three, null, 9)).toMatchObject([
        { sequence: 6, dueAt: 77, attempts: 0 },
        { sequence: 5, dueAt: endedAt },
      ])
      expect(await store.nextDeliveries(two, null, 9)).toMatchObject([{ sequence: 6, dueAt: endedAt }])
      expect((await store.measure()).deliveries).toEqual({ pending: 5, oldestDueAt: 77 })
    })

    test('keep the entry from retention while one is pending, and are deleted with it', async () => {
      const { store } = world()
      const [one, two] = [await subscribe('a'), await subscribe('b')]
      const sweep = async () => {
        let after = 0
        for (;;) {
          const step = await store.retain({ before: 9, bytesMax: Number.MAX_SAFE_INTEGER, workMs: 0, after })
          if (step.done) return
          after = step.heldTo
        }
      }
      await record(5, [one, two])
      await record(9, [])
      await sweep()
      expect(await store.getLog(5)).toBeDefined()
      await store.endAttempts([endedAttempt({ sequence: 5, subscription: one }, delivered)])
      await sweep()
      expect(await stateOf(5, two)).toBe('pending')
      await store.endAttempts([endedAttempt({ sequence: 5, subscription: two }, delivered)])
      await sweep()
      expect(await store.getLog(5)).toBeUndefined()
      expect(await stateOf(5, one)).toBeUndefined()
      expect(await pending()).toBe(0)
    })
  })

  test('deliveries come in order of due time, whatever other recipients their runs have', async () => {
    const { store } = world()
    const [one, two] = [await subscribe('a'), await subscribe('b')]
    await record(1, [one], 40)
    await record(2, [one, two], 10)
    await record(3, [one], 30)
    await record(4, [one, two], 20)
    const again: AttemptOutcome = { state: 'pending', dueAt: 25 }
    await store.endAttempts([endedAttempt({ sequence: 2, subscription: one }, again)])
    const order: number[] = []
    for (let after: { dueAt: number; sequence: number } | null = null; ; ) {
      const [next] = await store.nextDeliveries(one, after, 1)
      if (!next) break
      order.push(next.sequence)
      after = next
    }
    expect(order).toEqual([4, 2, 3, 1])
    expect(await store.nextDeliveries(one, null, 9)).toMatchObject(order.map((sequence) => ({ sequence })))
    expect(await store.nextDeliveries(two, null, 9)).toMatchObject([{ sequence: 2 }, { sequence: 4 }])
  })

  test('the list has every delivery once, page by page, whatever the state of the other deliveries of its run', async () => {
    const { store, home } = world()
    const [one, two] = [await subscribe('a'), await subscribe('b')]
    for (let sequence = 1; sequence <= 6; sequence += 1) await record(sequence, [one, two])
    await store.endAttempts([
      endedAttempt({ sequence: 2, subscription: one }, delivered),
      endedAttempt({ sequence: 5, subscription: two }, failed),
    ])
    const list = async (state: DeliveryState | undefined, limit: number) => {
      const found: string[] = []
      for (let after: DeliveryKey | undefined; ; ) {
        const page = await store.listDeliveries({ workflowId: home.workflowId, state, after, limit })
        found.push(
          ...page.deliveries.map(({ sequence, subscription }) => `${sequence}${subscription === one ? 'a' : 'b'}`),
        )
        if (page.position === null) return found
        after = page.position
      }
    }
    const all = [6, 5, 4, 3, 2, 1].flatMap((sequence) => [`${sequence}b`, `${sequence}a`])
    for (const limit of [1, 3, 100]) {
      expect(await list(undefined, limit)).toEqual(all)
      expect(await list('pending', limit)).toEqual(all.filter((key) => key !== '2a' && key !== '5b'))
    }
    expect(await list('failed', 1)).toEqual(['5b'])
    const only = { workflowId: home.workflowId, state: undefined, after: undefined, limit: 100, webhookId: 'b' }
    expect((await store.listDeliveries(only)).deliveries).toHaveLength(6)
    expect(await store.listRunWebhooks(6)).toMatchObject([
      { subscription: { id: 'a' }, delivery: { state: 'pending', dueAt: endedAt } },
      { subscription: { id: 'b' }, delivery: { state: 'pending', dueAt: endedAt } },
    ])
  })

  test('a run has its deliveries, also when an earlier run with the same recipients could not be recorded', async () => {
    const { store } = world()
    const [one, two] = [await subscribe('a'), await subscribe('b')]
    const good = row(5, [one, two])
    expect(await rejectionOf(store.append([logWrite(good), logWrite({ ...good, sequence: 6 })]))).toBeDefined()
    await record(7, [one, two])
    expect(await store.nextDeliveries(two, null, 9)).toMatchObject([{ sequence: 7, subscription: two }])
    expect(await pending()).toBe(2)
  })
}
