import { describe, expect, test } from 'bun:test'
import { include, type NewSubscription, subscriptionsMax } from '../../../../src/domain/webhook/subscription.ts'
import type { Store } from '../../../../src/store/store.ts'
import { document } from '../../make.ts'
import type { Installed } from '../installed.ts'
import { rejectionOf } from '../rejection.ts'

export function newSubscription(id: string, more: Partial<NewSubscription> = {}): NewSubscription {
  return {
    id,
    url: 'https://example.org/hook',
    include: 0,
    events: ['completed'],
    levelFilter: null,
    triggerFilter: null,
    active: true,
    retryOnNetworkError: false,
    ...more,
  }
}

/** The contract of every store for webhook subscriptions. */
export function subscriptionContract(world: () => { store: Store; home: Installed }): void {
  describe('a subscription', () => {
    const one = Uint8Array.of(1, 2, 3)
    const two = Uint8Array.of(0, 255, 4)

    test('is read as it was written', async () => {
      const { store, home } = world()
      const options = {
        url: 'https://{{HOST}}/x',
        include: include.finalOutput | include.usage,
        events: ['completed', 'resumed'] as const,
        levelFilter: ['error'] as const,
        triggerFilter: ['webhook', 'chat'] as const,
        active: false,
        retryOnNetworkError: true,
      }
      const made = await store.createSubscription(home.workflowId, { id: 'a', ...options, secret: one }, 10)
      expect(made).toEqual({
        id: 'a',
        ...options,
        events: ['completed', 'resumed'],
        levelFilter: ['error'],
        triggerFilter: ['webhook', 'chat'],
        number: made.number,
        workflowId: home.workflowId,
        workspaceId: home.workspaceId,
        secret: one,
        previousSecret: null,
        previousSecretUntil: null,
        createdAt: 10,
        updatedAt: 10,
        deletedAt: null,
      })
      const plain = await store.createSubscription(home.workflowId, newSubscription('b'), 11)
      expect(plain).toMatchObject({
        secret: null,
        events: ['completed'],
        levelFilter: null,
        triggerFilter: null,
        active: true,
      })
      expect(await store.listSubscriptions(home.workflowId)).toEqual([made, plain])
      expect(await store.listSubscriptions('nowhere')).toEqual([])
    })

    test('has an ID that is unique in its workflow', async () => {
      const { store, home } = world()
      await store.createSubscription(home.workflowId, newSubscription('a'), 10)
      const again = store.createSubscription(home.workflowId, newSubscription('a', { url: 'https://other' }), 11)
      expect(await rejectionOf(again)).toMatchObject({ code: 'CONFLICT' })
      expect(await store.listSubscriptions(home.workflowId)).toMatchObject([{ url: 'https://example.org/hook' }])
      const other = await store.createWorkflow({
        id: null,
        workspaceId: home.workspaceId,
        document: document({ name: 'Other', blocks: [] }),
        at: 12,
      })
      expect(await store.createSubscription(other.id, newSubscription('a'), 13)).toMatchObject({ id: 'a' })
      const astray = store.createSubscription('nowhere', newSubscription('a'), 13)
      expect(await rejectionOf(astray)).toMatchObject({ code: 'NOT_FOUND' })
    })

    test('changes only the given members', async () => {
      const { store, home } = world()
      const made = await store.createSubscription(home.workflowId, newSubscription('a', { secret: one }), 10)
      expect(await store.changeSubscription(home.workflowId, 'a', { levelFilter: ['error'] }, 11)).toEqual({
        ...made,
        levelFilter: ['error'],
        updatedAt: 11,
      })
      expect(await store.changeSubscription(home.workflowId, 'a', { levelFilter: null, secret: null }, 12)).toEqual({
        ...made,
        secret: null,
        updatedAt: 12,
      })
      await store.changeSubscription(home.workflowId, 'a', { include: { set: 1 | 4, clear: 0 } }, 12)
      const change = { include: { set: 8, clear: 1 | 2 } }
      expect(await store.changeSubscription(home.workflowId, 'a', change, 12)).toMatchObject({ include: 4 | 8 })
      const astray = store.changeSubscription(home.workflowId, 'b', { active: false }, 13)
      expect(await rejectionOf(astray)).toMatchObject({ code: 'NOT_FOUND' })
    })

    test('keeps the previous secret for a time after a rotation, until another secret is set', async () => {
      const { store, home } = world()
      await store.createSubscription(home.workflowId, newSubscription('a', { secret: one }), 10)
      const change = { secret: two, keepSecretUntil: 500 }
      expect(await store.changeSubscription(home.workflowId, 'a', change, 11)).toMatchObject({
        secret: two,
        previousSecret: one,
        previousSecretUntil: 500,
      })
      expect(await store.changeSubscription(home.workflowId, 'a', { active: false }, 12)).toMatchObject({
        secret: two,
        previousSecret: one,
        previousSecretUntil: 500,
      })
      expect(await store.changeSubscription(home.workflowId, 'a', { secret: one }, 13)).toMatchObject({
        secret: one,
        previousSecret: null,
        previousSecretUntil: null,
      })
    })

    test('is deleted once, stays readable by number, and can be restored with its number and secret', async () => {
      const { store, home } = world()
      const made = await store.createSubscription(home.workflowId, newSubscription('a', { secret: one }), 10)
      expect(await store.deleteSubscription(home.workflowId, 'a', 20)).toBe(true)
      expect(await store.deleteSubscription(home.workflowId, 'a', 21)).toBe(false)
      expect(await store.listSubscriptions(home.workflowId)).toEqual([])
      expect(await store.getSubscriptions([made.number, 999])).toEqual([{ ...made, deletedAt: 20 }])
      const back = await store.createSubscription(home.workflowId, newSubscription('a'), 30)
      expect(back).toEqual({ ...made, createdAt: 30, updatedAt: 30 })
    })

    test('is saved with its workflow, or not at all', async () => {
      const { store, home } = world()
      const { workspaceId, workflowId } = home
      const draft = (name: string) => document({ name, blocks: [] })
      const both = [newSubscription('a', { secret: one }), newSubscription('b', { secret: two })]
      const made = await store.createWorkflow({ id: null, workspaceId, document: draft('A'), webhooks: both, at: 10 })
      const numbers = (await store.listSubscriptions(made.id)).map(({ number }) => number)
      expect(numbers).toHaveLength(2)

      await store.updateWorkflow(made.id, draft('B'), 11)
      expect(await store.listSubscriptions(made.id)).toMatchObject([{ secret: one }, { secret: two }])

      const next = [newSubscription('c'), newSubscription('b', { active: false })]
      await store.updateWorkflow(made.id, draft('B'), 12, next)
      expect(await store.listSubscriptions(made.id)).toMatchObject([
        { id: 'b', number: numbers[1], secret: two, active: false, createdAt: 10 },
        { id: 'c', secret: null, createdAt: 12 },
      ])

      const { document: before } = (await store.getWorkflow(workflowId))!
      const refused = store.updateWorkflow(made.id, before, 13, [])
      expect(await rejectionOf(refused)).toMatchObject({ code: 'CONFLICT' })
      expect(await store.listSubscriptions(made.id)).toHaveLength(2)
      await store.updateWorkflow(made.id, draft('B'), 14, [])
      expect(await store.listSubscriptions(made.id)).toEqual([])
    })

    test('is refused beyond the maximum number', async () => {
      const { store, home } = world()
      for (let number = 1; number <= subscriptionsMax; number += 1) {
        await store.createSubscription(home.workflowId, newSubscription(`s${number}`), 10)
      }
      const one = store.createSubscription(home.workflowId, newSubscription('more'), 11)
      expect(await rejectionOf(one)).toMatchObject({ code: 'INVALID_INPUT' })
      await store.deleteSubscription(home.workflowId, 's1', 12)
      await store.createSubscription(home.workflowId, newSubscription('more'), 13)
      const tooMany = Array.from({ length: subscriptionsMax + 1 }, (_, index) => newSubscription(`t${index}`))
      const { document } = (await store.getWorkflow(home.workflowId))!
      const replaced = store.updateWorkflow(home.workflowId, document, 14, tooMany)
      expect(await rejectionOf(replaced)).toMatchObject({ code: 'INVALID_INPUT' })
      expect(await store.listSubscriptions(home.workflowId)).toHaveLength(subscriptionsMax)
    })
  })
}
