import { describe, expect, test } from 'bun:test'
import type { NewSubscription, SubscriptionRow } from '../../../src/domain/webhook/subscription.ts'
import { Subscriptions } from '../../../src/webhooks/subscriptions.ts'
import { newSubscription } from '../../support/store/contract/subscription-contract.ts'

/** A store whose reads end when a test says so. */
class SlowStore {
  readonly rows = new Map<string, readonly SubscriptionRow[]>()
  readonly reads: { workflowId: string; end(): void; fail(): void }[] = []

  listSubscriptions(workflowId: string): Promise<SubscriptionRow[]> {
    const rows = [...(this.rows.get(workflowId) ?? [])]
    return new Promise((resolve, reject) => {
      this.reads.push({ workflowId, end: () => resolve(rows), fail: () => reject(new Error('No disk')) })
    })
  }
  createSubscription = async () => rowOf('made')
  changeSubscription = async () => rowOf('changed')
  deleteSubscription = async () => true
}

function rowOf(id: string, more: Partial<NewSubscription> = {}): SubscriptionRow {
  const times = { createdAt: 1, updatedAt: 1, deletedAt: null }
  const secrets = { secret: null, previousSecret: null, previousSecretUntil: null }
  const owner = { workflowId: 'w', workspaceId: 'ws' }
  return { ...newSubscription(id), ...times, ...secrets, ...owner, number: 1, ...more } as SubscriptionRow
}

function world({ workflowsMax = 10 } = {}) {
  const store = new SlowStore()
  const subscriptions = new Subscriptions({
    store,
    seal: (secret) => new TextEncoder().encode(secret),
    urlProblem: () => undefined,
    clock: { now: () => 1, monotonic: () => 1, setTimer: () => ({ cancel: () => {} }) },
    workflowsMax,
  })
  const read = async (workflowId: string) => {
    const found = subscriptions.of(workflowId)
    store.reads.at(-1)?.end()
    return await found
  }
  return { store, subscriptions, read }
}

describe('subscriptions in memory', () => {
  test('are read once for concurrent callers, and are synchronous afterwards', async () => {
    const { store, subscriptions } = world()
    store.rows.set('w', [rowOf('a')])
    const both = Promise.all([subscriptions.of('w'), subscriptions.of('w')])
    expect(store.reads).toHaveLength(1)
    store.reads[0]!.end()
    const [one, other] = await both
    expect(one).toBe(other)
    expect(subscriptions.of('w')).toBe(one)
    expect(one.map(({ id }) => id)).toEqual(['a'])
  })

  test('are read again after a change, and a read during the change is not kept', async () => {
    const { store, subscriptions } = world()
    store.rows.set('w', [rowOf('old')])
    const before = subscriptions.of('w')
    await subscriptions.changing('w', async () => {
      store.rows.set('w', [rowOf('new')])
    })
    store.reads[0]!.end()
    expect((await before).map(({ id }) => id)).toEqual(['old'])
    const after = subscriptions.of('w')
    store.reads[1]!.end()
    expect((await after).map(({ id }) => id)).toEqual(['new'])
  })

  test('are read again after a change with an unknown outcome', async () => {
    const { store, subscriptions, read } = world()
    store.rows.set('w', [rowOf('old')])
    await read('w')
    await subscriptions
      .changing('w', async () => {
        store.rows.set('w', [rowOf('new')])
        throw new Error('The disk said nothing')
      })
      .catch(() => {})
    expect((await read('w')).map(({ id }) => id)).toEqual(['new'])
  })

  test('are read again after a failed read', async () => {
    const { store, subscriptions, read } = world()
    const failing = subscriptions.of('w') as Promise<unknown>
    store.reads[0]!.fail()
    expect(await failing.then(String, String)).toBe('Error: No disk')
    expect(await read('w')).toEqual([])
  })

  test('are kept for a limited number of workflows', async () => {
    const { subscriptions, read, store } = world({ workflowsMax: 2 })
    for (const id of ['a', 'b', 'c']) await read(id)
    expect(subscriptions.of('b')).not.toBeInstanceOf(Promise)
    expect(subscriptions.of('c')).not.toBeInstanceOf(Promise)
    expect(subscriptions.of('a')).toBeInstanceOf(Promise)
    expect(store.reads).toHaveLength(4)
  })
})
