import { expect, test } from 'bun:test'
import { newExecutionId } from '../../../../src/domain/ids.ts'
import { outerBlockOf, type PauseKind } from '../../../../src/domain/run/pause.ts'
import type { Store } from '../../../../src/store/store.ts'
import type { Installed } from '../installed.ts'

/** The contract of every store for the numbers of open pauses. */
export function pauseCountContract(here: () => { store: Store; home: Installed }): void {
  /** A run that waits at a place. */
  async function paused(kind: PauseKind, place: string) {
    const { store, home } = here()
    const { workspaceId, workflowId } = home
    const executionId = newExecutionId()
    const row = {
      ...{ executionId, workflowId, workspaceId, version: 1, trigger: 'api' as const },
      ...{ createdAt: 5_000, startedAt: 5_000, input: Uint8Array.of(1) },
    }
    const facts = { blockId: 'b', blockName: 'B', since: 6_000, until: null, content: null }
    const pause = { ...facts, contextId: `of ${executionId}`, kind, place: `${executionId}/${place}` }
    const pausing = { kind: 'job-pause' as const, executionId, at: 6_000, pauses: [pause] }
    expect(await store.append([{ kind: 'job', row }, pausing])).toBeUndefined()
    return pause
  }

  test('open pauses are counted by kind and by the block of the workflow that was started', async () => {
    const { store, home } = here()
    const pauses = [
      await paused('approval', 'ask/'),
      await paused('approval', 'ask/2.0'),
      await paused('wait', 'call//inner/1'),
      await paused('approval', 'call//ask/'),
    ]
    expect(pauses.map(outerBlockOf)).toEqual(['ask', 'ask', 'call', 'call'])
    const { workspaceId, workflowId } = home
    const byBlock = { workspaceId, workflowId, max: 10 }
    const byKind = { workspaceId, workflowId: undefined, max: 10 }
    expect(await store.countPausesByBlock(byBlock)).toEqual([
      { blockId: 'call', kind: 'wait', count: 1 },
      { blockId: 'ask', kind: 'approval', count: 2 },
      { blockId: 'call', kind: 'approval', count: 1 },
    ])
    const approvals = async (max: number) => (await store.countPausesByBlock({ ...byKind, max })).at(-1)
    expect(await store.countPausesByBlock(byKind)).toEqual([
      { blockId: null, kind: 'wait', count: 1 },
      { blockId: null, kind: 'approval', count: 3 },
    ])
    // With `max`, the store counts only the oldest pauses of each kind.
    expect(await approvals(2)).toEqual({ blockId: null, kind: 'approval', count: 2 })
    expect(await store.countPausesByBlock({ ...byBlock, max: 1 })).toEqual([
      { blockId: 'call', kind: 'wait', count: 1 },
      { blockId: 'ask', kind: 'approval', count: 1 },
    ])
    await store.endPause({ contextId: pauses[0]!.contextId, state: 'answered', at: 7_000, answer: null })
    expect(await approvals(10)).toEqual({ blockId: null, kind: 'approval', count: 2 })
    for (const other of [{ workspaceId: 'other' }, { workflowId: 'other' }]) {
      expect(await store.countPausesByBlock({ ...byBlock, ...other })).toEqual([])
    }
  })
  test('the open pauses of a run are listed, oldest first', async () => {
    const { store } = here()
    const first = await paused('approval', 'ask/')
    const executionId = first.place.split('/')[0]!
    const more = [1, 2].map((n) => ({ ...first, contextId: `${n} ${executionId}`, place: `${first.place}${n}` }))
    await store.append([{ kind: 'job-start', executionId, at: 6_500 }])
    for (const pause of more) {
      await store.append([{ kind: 'job-pause', executionId, at: 7_000, pauses: [pause], goesOn: true }])
    }
    const [second, third] = more.map(({ contextId }) => contextId)
    const idsOf = async (limit: number) =>
      (await store.listOpenPauses(executionId, limit)).map(({ contextId }) => contextId)
    expect(await idsOf(9)).toEqual([first.contextId, second!, third!])
    expect(await idsOf(2)).toEqual([first.contextId, second!])
    await store.endPause({ contextId: second!, state: 'answered', at: 8_000, answer: null })
    expect(await idsOf(9)).toEqual([first.contextId, third!])
    expect(await store.listOpenPauses(newExecutionId(), 9)).toEqual([])
  })
}
