import { describe, expect, test } from 'bun:test'
import { newExecutionId } from '../../../../src/domain/ids.ts'
import type { NewPause } from '../../../../src/domain/run/pause.ts'
import { logWrite } from '../../../../src/domain/run/write.ts'
import type { PauseEvent, PauseEventKind } from '../../../../src/domain/webhook/run-event.ts'
import type { Store } from '../../../../src/store/store.ts'
import { endedAttempt } from '../ended-attempt.ts'
import { type Installed, logRow } from '../installed.ts'
import { newSubscription } from './subscription-contract.ts'

/** The contract of every store for webhook events about pauses. */
export function pauseEventContract(here: () => { store: Store; home: Installed }): void {
  const pauseOf = (contextId: string): NewPause => ({
    ...{ contextId, place: `run/${contextId}/`, blockId: 'b1', blockName: 'Ask', kind: 'approval' },
    ...{ since: 6_000, until: null, content: null },
  })

  const eventOf = (kind: PauseEventKind, sequence: number, to: number[], contextIds: string[] = []): PauseEvent => ({
    ...{ sequence, kind, at: 6_000, paused: '[{"blockName":"Ask ✓"}]', contextIds },
    deliveries: to.map((subscription) => ({ subscription, include: 0 })),
  })

  const subscribe = async (id: string) =>
    (await here().store.createSubscription(here().home.workflowId, newSubscription(id), 1)).number

  const accept = async () => {
    const { workflowId, workspaceId } = here().home
    const executionId = newExecutionId()
    const facts = { executionId, workflowId, workspaceId, version: 3, trigger: 'chat' as const }
    await here().store.append([
      { kind: 'job', row: { ...facts, createdAt: 4_000, startedAt: 5_000, input: Uint8Array.of(1) } },
    ])
    return executionId
  }

  const pause = (executionId: string, contextId: string, event: PauseEvent) =>
    here().store.append([{ kind: 'job-pause', executionId, at: 6_000, pauses: [pauseOf(contextId)], event }])

  describe('a pause event', () => {
    test('is on disk with the pause, and due immediately to each recipient', async () => {
      const { store, home } = here()
      const [one, two] = [await subscribe('a'), await subscribe('b')]
      const executionId = await accept()
      expect(await pause(executionId, 'c1', eventOf('paused', 7, [one, two]))).toBeUndefined()
      const due = { sequence: 7, include: 0, attempts: 0, attemptsBefore: 0, dueAt: 6_000 }
      expect(await store.nextDeliveries(one, null, 10)).toEqual([{ ...due, subscription: one }])
      expect(await store.pendingSubscriptions()).toEqual([one, two])
      const source = { sequence: 7, kind: 'paused', at: 6_000, paused: '[{"blockName":"Ask ✓"}]' } as const
      const run = { workflowId: home.workflowId, executionId, trigger: 'chat', startedAt: 5_000 } as const
      expect(await store.readDeliveries([{ sequence: 7, include: 0 }])).toEqual([{ ...source, ...run }])
      expect(await store.getDelivery({ sequence: 7, subscription: two })).toMatchObject({
        ...{ state: 'pending', event: 'paused', executionId, version: 3, endedAt: 6_000, subscriptionId: 'b' },
      })
    })

    test('is refused together with the pause of a run that another process has', async () => {
      const { store } = here()
      const one = await subscribe('a')
      const refused = await pause(newExecutionId(), 'c1', eventOf('paused', 7, [one]))
      expect(refused).toMatchObject([{ index: 0 }])
      expect(await store.readDeliveries([{ sequence: 7, include: 0 }])).toEqual([])
      expect(await store.nextDeliveries(one, null, 10)).toEqual([])
    })

    test('announces the end of a pause in the commit that lets the run continue', async () => {
      const { store } = here()
      const one = await subscribe('a')
      const executionId = await accept()
      await pause(executionId, 'c1', eventOf('paused', 7, [one]))
      const end = { state: 'answered', at: 8_000, answer: null } as const
      await store.endPause({ contextId: 'c1', ...end })
      expect(await store.listRunPauses(executionId)).toMatchObject([{ state: 'answered', isAnnounced: false }])
      await store.append([{ kind: 'job-start', executionId, at: 8_500, event: eventOf('resumed', 9, [one], ['c1']) }])
      expect(await store.listRunPauses(executionId)).toMatchObject([{ isAnnounced: true }])
      const listed = await store.listDeliveries({ ...page(), state: undefined })
      expect(listed.deliveries.map(({ event, sequence }) => [event, sequence])).toEqual([
        ['resumed', 9],
        ['paused', 7],
      ])
    })

    test('announces the end of a pause whose run is still in memory', async () => {
      const { store } = here()
      const one = await subscribe('a')
      const executionId = await accept()
      const opening = { kind: 'job-pause', executionId, at: 6_000, pauses: [pauseOf('c1')], goesOn: true } as const
      await store.append([{ ...opening, event: eventOf('paused', 7, [one]) }])
      await store.endPause({ contextId: 'c1', state: 'answered', at: 8_000, answer: null })
      await store.append([{ kind: 'job-event', executionId, event: eventOf('resumed', 9, [one], ['c1']) }])
      expect(await store.listRunPauses(executionId)).toMatchObject([{ isAnnounced: true }])
      expect(await store.nextDeliveries(one, null, 10)).toMatchObject([{ sequence: 7 }, { sequence: 9 }])
    })

    test('shares one sequence of numbers with ended runs, and is read in this order', async () => {
      const { store, home } = here()
      const one = await subscribe('a')
      const executionId = await accept()
      await pause(executionId, 'c1', eventOf('paused', 700, [one]))
      const webhooks = { deliveries: [{ subscription: one, include: 0 }], skipped: [], facts: null }
      for (const sequence of [600, 800]) await store.append([logWrite({ ...logRow(home, sequence), webhooks })])
      const needs = [800, 700, 600, 500].map((sequence) => ({ sequence, include: 0 }))
      const sources = await store.readDeliveries(needs)
      expect(sources.map((source) => [source.sequence, 'paused' in source])).toEqual([
        [600, false],
        [700, true],
        [800, false],
      ])
      await pause(await accept(), 'c2', eventOf('paused', 900, [one]))
      expect(await store.lastSequence()).toBe(900)
    })

    test('is deleted with the log entries of its time when its deliveries have ended', async () => {
      const { store, home } = here()
      const one = await subscribe('a')
      for (const sequence of [600, 800]) await store.append([logWrite(logRow(home, sequence))])
      await pause(await accept(), 'c1', eventOf('paused', 700, [one]))
      const retain = async () => {
        while (!(await store.retain({ before: 801, bytesMax: Number.MAX_SAFE_INTEGER, workMs: 0 })).done);
      }
      const key = { sequence: 700, subscription: one }
      await retain()
      expect(await store.getDelivery(key)).toMatchObject({ state: 'pending', event: 'paused' })
      await store.endAttempts([endedAttempt(key, { state: 'delivered', dueAt: null })])
      await store.append([logWrite(logRow(home, 1_000))])
      await store.append([logWrite(logRow(home, 1_001))])
      while (!(await store.retain({ before: 1_001, bytesMax: Number.MAX_SAFE_INTEGER, workMs: 0 })).done);
      expect(await store.getDelivery(key)).toBeUndefined()
      expect(await store.listAttempts(key)).toEqual([])
      expect(await store.readDeliveries([{ sequence: 700, include: 0 }])).toEqual([])
    })

    test('can be sent again after it has failed', async () => {
      const { store, home } = here()
      const one = await subscribe('a')
      await pause(await accept(), 'c1', eventOf('paused', 7, [one]))
      const key = { sequence: 7, subscription: one }
      const fail = () => store.endAttempts([endedAttempt(key, { state: 'failed', dueAt: null })])
      await fail()
      expect((await store.listDeliveries({ ...page(), state: 'failed' })).deliveries).toMatchObject([key])
      const { keys } = await store.resendFailed({
        ...{ workflowId: home.workflowId, since: 0, after: undefined, at: 9_000, limit: 10 },
      })
      expect(keys).toEqual([key])
      expect(await store.cancelDelivery(key)).toBe(true)
      expect(await store.sendAgain(key, 9_500)).toBe(true)
      expect(await store.getDelivery(key)).toMatchObject({ state: 'pending', dueAt: 9_500 })
    })
  })

  const page = () => ({ workflowId: here().home.workflowId, after: undefined, limit: 10 })
}
