import { describe, expect, test } from 'bun:test'
import type { LogRow, RunWebhooks } from '../../../../src/domain/run/log.ts'
import { logWrite } from '../../../../src/domain/run/write.ts'
import type { AttemptOutcome, DeliveryKey, DeliveryState } from '../../../../src/domain/webhook/delivery.ts'
import { include } from '../../../../src/domain/webhook/subscription.ts'
import type { Store } from '../../../../src/store/store.ts'
import { document } from '../../make.ts'
import { appendLogs } from '../append-logs.ts'
import { endedAttempt } from '../ended-attempt.ts'
import { type Installed, logRow } from '../installed.ts'
import { rejectionOf } from '../rejection.ts'
import { newSubscription } from './subscription-contract.ts'

const endedAt = 1_700_000_000_012

const delivered: AttemptOutcome = { state: 'delivered', dueAt: null }
const failed: AttemptOutcome = { state: 'failed', dueAt: null }
const pendingAt = (dueAt: number): AttemptOutcome => ({ state: 'pending', dueAt })

/** The contract of every store for the outbox. */
export function deliveryContract(world: () => { store: Store; home: Installed }): void {
  const subscribe = async (id: string, workflowId = world().home.workflowId) =>
    (await world().store.createSubscription(workflowId, newSubscription(id), 1)).number

  /** Records a run that has pending deliveries. */
  const record = async (sequence: number, webhooks: Partial<RunWebhooks>, more: Partial<LogRow> = {}) => {
    const row = logRow(world().home, sequence, {
      ...more,
      webhooks: { deliveries: [], skipped: [], facts: null, ...webhooks },
    })
    await appendLogs(world().store, [row])
    return row
  }
  const pendingTo = (...subscriptions: number[]) => ({
    deliveries: subscriptions.map((subscription) => ({ subscription, include: 0 })),
  })
  const list = (state?: DeliveryState, after?: DeliveryKey, limit = 100) =>
    world().store.listDeliveries({ workflowId: world().home.workflowId, state, after, limit })
  const sequences = async (...args: Parameters<typeof list>) =>
    (await list(...args)).deliveries.map(({ sequence }) => sequence)

  describe('a delivery', () => {
    test('is recorded with its run, and due immediately', async () => {
      const { store, home } = world()
      const [one, two] = [await subscribe('a'), await subscribe('b')]
      const { executionId } = await record(5, pendingTo(one, two))
      const due = { sequence: 5, include: 0, attempts: 0, attemptsBefore: 0, dueAt: endedAt }
      expect(await store.nextDeliveries(one, null, 10)).toEqual([{ ...due, subscription: one }])
      expect(await store.pendingSubscriptions()).toEqual([one, two])
      expect((await store.measure()).deliveries).toEqual({ pending: 2, oldestDueAt: endedAt })
      expect(await store.getDelivery({ sequence: 5, subscription: two })).toEqual({
        ...due,
        subscription: two,
        state: 'pending',
        event: 'completed',
        workflowId: home.workflowId,
        executionId,
        version: 1,
        versionName: null,
        endedAt,
        subscriptionId: 'b',
        url: 'https://example.org/hook',
        lastAttempt: null,
      })
      expect(await store.getDelivery({ sequence: 6, subscription: two })).toBeUndefined()
    })

    test('does not exist when its run could not be recorded', async () => {
      const { store, home } = world()
      const subscription = await subscribe('a')
      const good = logRow(home, 5, { webhooks: { ...pendingTo(subscription), skipped: [], facts: '{}' } })
      const twice = { ...good, sequence: 6 }
      expect(await rejectionOf(appendLogs(store, [good, twice]))).toBeDefined()
      expect(await store.pendingSubscriptions()).toEqual([])
      expect(await store.listRunWebhooks(5)).toEqual([])
    })

    test('is listed in order of due time, from any position on', async () => {
      const { store } = world()
      const subscription = await subscribe('a')
      const other = await subscribe('b')
      for (const [sequence, at] of [30, 10, 20, 20].entries()) {
        await record(sequence + 1, pendingTo(subscription, other), { endedAt: at })
      }
      const next = async (after: { dueAt: number; sequence: number } | null, limit: number) =>
        (await store.nextDeliveries(subscription, after, limit)).map(({ sequence }) => sequence)
      expect(await next(null, 10)).toEqual([2, 3, 4, 1])
      expect(await next(null, 2)).toEqual([2, 3])
      expect(await next({ dueAt: 20, sequence: 3 }, 10)).toEqual([4, 1])
      expect(await next({ dueAt: 30, sequence: 1 }, 10)).toEqual([])
    })

    test('contains the requested parts of its recorded run', async () => {
      const { store } = world()
      const subscription = await subscribe('a')
      const facts = '{"rateLimits":{},"usage":{}}'
      const more = { cost: '{"total":1}', costTotal: 1, files: { text: '[]', folder: null } }
      const { webhooks: _, ...row } = await record(7, { ...pendingTo(subscription), facts }, more)
      await record(9, pendingTo(subscription))
      const [source, plain, ...rest] = await store.readDeliveries([
        { sequence: 9, include: 0 },
        { sequence: 8, include: 15 },
        { sequence: 7, include: include.finalOutput | include.traceSpans | include.usage },
      ])
      const { workflowId, executionId, level, trigger, startedAt, durationMs, cost, finalOutput, traceSpans } = row
      expect(source).toEqual({
        ...{ sequence: 7, workflowId, executionId, level, trigger, startedAt, endedAt, durationMs, pausedMs: null },
        ...{ cost, finalOutput, traceSpans, files: '[]', facts },
      })
      expect(plain).toMatchObject({ sequence: 9, cost: null, files: null, facts: null })
      expect(plain).not.toHaveProperty('finalOutput')
      expect(plain).not.toHaveProperty('traceSpans')
      expect(rest).toEqual([])
    })

    test('keeps every attempt, and has the state that follows from the last one', async () => {
      const { store } = world()
      const subscription = await subscribe('a')
      await record(5, pendingTo(subscription))
      const key = { sequence: 5, subscription }
      const response = 'Café – "no"\n'
      const first = endedAttempt(key, pendingAt(endedAt + 5_000), { answer: response })
      await store.endAttempts([first])
      expect(await store.getDelivery(key)).toMatchObject({
        state: 'pending',
        attempts: 1,
        dueAt: endedAt + 5_000,
        lastAttempt: first.attempt,
      })
      expect(await store.nextDeliveries(subscription, null, 9)).toMatchObject([{ attempts: 1, dueAt: endedAt + 5_000 }])
      const failure = { code: 'TIMEOUT' as const, message: 'After 30000 ms it still waited' }
      const second = endedAttempt(key, pendingAt(endedAt + 9_000), { number: 2, status: null, failure })
      const third = endedAttempt(key, delivered, { number: 3, answer: '' })
      await store.endAttempts([second])
      await store.endAttempts([third])
      expect(await store.getDelivery(key)).toMatchObject({ state: 'delivered', attempts: 3, dueAt: null })
      expect(await store.listAttempts(key)).toEqual([first, second, third].map(({ attempt }) => attempt))
      expect(await store.pendingSubscriptions()).toEqual([])
    })

    test('keeps an attempt that is recorded immediately after the run', async () => {
      const { store, home } = world()
      const subscription = await subscribe('a')
      const webhooks = { ...pendingTo(subscription), skipped: [], facts: null }
      const rowWithDelivery = (sequence: number) => logWrite(logRow(home, sequence, { webhooks }))
      for (let sequence = 5; sequence < 30; sequence += 1) {
        await store.append([rowWithDelivery(sequence)])
        await store.endAttempts([endedAttempt({ sequence, subscription }, delivered)])
      }
      expect((await list('delivered')).deliveries).toHaveLength(25)
      expect(await store.nextDeliveries(subscription, null, 9)).toEqual([])
    })

    test('exists for each recipient of a run, however many there are', async () => {
      const numbers = Array.from({ length: 45 }, (_, index) => 100 + index)
      await record(5, pendingTo(...numbers))
      expect(await world().store.pendingSubscriptions()).toEqual(numbers)
      const due = { sequence: 5, subscription: 144, include: 0, attempts: 0, attemptsBefore: 0 }
      expect(await world().store.nextDeliveries(144, null, 9)).toMatchObject([due])
    })

    test('accepts no attempts after it was deleted', async () => {
      const { store } = world()
      await store.endAttempts([endedAttempt({ sequence: 5, subscription: 1 }, delivered)])
      expect(await store.listAttempts({ sequence: 5, subscription: 1 })).toEqual([])
    })

    test('is sent again with all its attempts if it failed, and with the remaining ones if it is pending', async () => {
      const { store } = world()
      const subscription = await subscribe('a')
      await record(5, pendingTo(subscription))
      const key = { sequence: 5, subscription }
      await store.endAttempts([endedAttempt(key, pendingAt(endedAt + 5_000))])
      expect(await store.sendAgain(key, 77)).toBe(true)
      const due = { ...key, include: 0, dueAt: 77 }
      expect(await store.nextDeliveries(subscription, null, 9)).toEqual([{ ...due, attempts: 1, attemptsBefore: 0 }])
      await store.endAttempts([endedAttempt(key, failed, { number: 2 })])
      expect(await store.nextDeliveries(subscription, null, 9)).toEqual([])
      expect(await store.sendAgain(key, 78)).toBe(true)
      const again = { ...due, attempts: 2, attemptsBefore: 2, dueAt: 78 }
      expect(await store.nextDeliveries(subscription, null, 9)).toEqual([again])
      expect(await store.sendAgain({ ...key, sequence: 6 }, 79)).toBe(false)
    })

    test('stays cancelled, unless the attempt in progress succeeds', async () => {
      const { store } = world()
      const subscription = await subscribe('a')
      await record(5, pendingTo(subscription))
      const key = { sequence: 5, subscription }
      expect(await store.cancelDelivery(key)).toBe(true)
      expect(await store.cancelDelivery(key)).toBe(false)
      await store.endAttempts([endedAttempt(key, pendingAt(99))])
      expect(await store.getDelivery(key)).toMatchObject({ state: 'cancelled', attempts: 1, dueAt: null })
      await store.endAttempts([endedAttempt(key, failed, { number: 2 })])
      expect(await store.getDelivery(key)).toMatchObject({ state: 'cancelled' })
      await store.endAttempts([endedAttempt(key, delivered, { number: 3 })])
      expect(await store.getDelivery(key)).toMatchObject({ state: 'delivered', attempts: 3, dueAt: null })
      expect(await store.cancelDelivery(key)).toBe(false)
    })
  })

  describe('the deliveries of a workflow', () => {
    test('are listed newest first, page by page, also by state', async () => {
      const { store, home } = world()
      const subscription = await subscribe('a')
      const others = document({ name: 'Other', blocks: [] })
      const other = await store.createWorkflow({ id: null, workspaceId: home.workspaceId, document: others, at: 1 })
      const foreign = await subscribe('a', other.id)
      for (let sequence = 1; sequence <= 9; sequence += 1) await record(sequence, pendingTo(subscription))
      await record(10, pendingTo(foreign), { workflowId: other.id })
      const end = (sequence: number, outcome: AttemptOutcome) => endedAttempt({ sequence, subscription }, outcome)
      await store.endAttempts([end(2, failed), end(4, failed), end(5, delivered), end(6, failed)])
      expect(await sequences()).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1])
      expect(await sequences('failed')).toEqual([6, 4, 2])
      expect(await sequences('delivered')).toEqual([5])
      expect(await sequences('pending')).toEqual([9, 8, 7, 3, 1])
      expect(await sequences('cancelled')).toEqual([])
      const first = await list('failed', undefined, 2)
      expect(first.position).toEqual({ sequence: 4, subscription })
      expect(await sequences('failed', first.position!)).toEqual([2])
      expect(await list('failed', { sequence: 2, subscription })).toEqual({ deliveries: [], position: null })
    })

    test('are due again together when they failed since a given time', async () => {
      const { store, home } = world()
      const subscription = await subscribe('a')
      for (let sequence = 1; sequence <= 5; sequence += 1) await record(sequence, pendingTo(subscription))
      await store.endAttempts(
        [1, 2, 3, 5].map((sequence) =>
          endedAttempt({ sequence, subscription }, sequence === 3 ? delivered : failed, { number: 4 }),
        ),
      )
      const resend = (after: DeliveryKey | undefined) =>
        store.resendFailed({ workflowId: home.workflowId, since: 2, after, at: 50, limit: 1 })
      expect(await resend(undefined)).toEqual({
        keys: [{ sequence: 2, subscription }],
        position: { sequence: 2, subscription },
      })
      expect(await resend({ sequence: 2, subscription })).toMatchObject({ keys: [{ sequence: 5, subscription }] })
      expect(await resend({ sequence: 5, subscription })).toEqual({ keys: [], position: null })
      expect(await sequences('failed')).toEqual([1])
      const due = await store.nextDeliveries(subscription, null, 2)
      expect(due).toMatchObject([{ sequence: 2, dueAt: 50, attempts: 4, attemptsBefore: 4 }, { sequence: 5 }])
    })
  })

  test('a run has the decision about every subscription, and its outcome', async () => {
    const { store } = world()
    const [one, two, three] = [await subscribe('a'), await subscribe('b'), await subscribe('c')]
    const skipped = [
      { subscription: one, reason: 'inactive' as const },
      { subscription: three, reason: 'level' as const },
    ]
    await record(5, { ...pendingTo(two), skipped })
    await store.endAttempts([endedAttempt({ sequence: 5, subscription: two }, delivered)])
    const about = (number: number, id: string) => ({ number, id, url: 'https://example.org/hook' })
    expect(await store.listRunWebhooks(5)).toMatchObject([
      { subscription: about(one, 'a'), skipped: 'inactive', delivery: null },
      { subscription: about(two, 'b'), skipped: null, delivery: { state: 'delivered', lastAttempt: { status: 200 } } },
      { subscription: about(three, 'c'), skipped: 'level', delivery: null },
    ])
    await record(6, {})
    expect(await store.listRunWebhooks(6)).toEqual([])
  })

  test('a pending delivery keeps its entry from retention; after its end both are deleted', async () => {
    const { store } = world()
    const subscription = await subscribe('a')
    const long = { traceSpans: JSON.stringify(['x'.repeat(40_000)]) }
    for (let sequence = 1; sequence <= 4; sequence += 1) {
      await record(sequence, sequence === 2 ? { ...pendingTo(subscription), facts: '{}' } : {}, long)
    }
    const sweep = async () => {
      let after = 0
      for (;;) {
        const step = await store.retain({ before: 4, bytesMax: Number.MAX_SAFE_INTEGER, workMs: 0, after })
        if (step.done) return
        after = step.heldTo
      }
    }
    const left = async () => {
      const found: number[] = []
      for (let sequence = 1; sequence <= 4; sequence += 1) if (await store.getLog(sequence)) found.push(sequence)
      return found
    }
    await sweep()
    expect(await left()).toEqual([2, 4])
    await store.endAttempts([endedAttempt({ sequence: 2, subscription }, delivered)])
    await sweep()
    expect(await left()).toEqual([4])
    expect(await store.getDelivery({ sequence: 2, subscription })).toBeUndefined()
    expect(await store.listAttempts({ sequence: 2, subscription })).toEqual([])
    expect(await store.listRunWebhooks(2)).toEqual([])
    expect(await store.lastSequence()).toBe(4)
  })
}
