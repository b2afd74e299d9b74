// Long because everything that a store promises about pauses is one contract.

import { describe, expect, test } from 'bun:test'
import { newExecutionId } from '../../../../src/domain/ids.ts'
import type { JobState, NewJob, OpenRunPage } from '../../../../src/domain/run/job.ts'
import { type NewPause, type PauseWrite, pauseKinds } from '../../../../src/domain/run/pause.ts'
import { logWrite } from '../../../../src/domain/run/write.ts'
import type { Store } from '../../../../src/store/store.ts'
import { type Installed, logRow } from '../installed.ts'

/** The contract of every store for runs that pause. */
export function pauseContract(here: () => { store: Store; home: Installed }): void {
  let count = 0
  const pauseOf = (more: Partial<NewPause> = {}): NewPause => {
    count += 1
    return {
      ...{ contextId: `context-${count}`, place: `run/b${count}/`, blockId: 'b1', blockName: 'Ask ✓', kind: 'wait' },
      ...{ since: 6_000, until: 9_000, content: Uint8Array.of(1, 255), ...more },
    }
  }

  const jobOf = (more: Partial<NewJob> = {}): NewJob => {
    const { workflowId, workspaceId } = here().home
    return {
      ...{ executionId: newExecutionId(), workflowId, workspaceId, version: 3, trigger: 'api' },
      ...{ createdAt: 5_000, startedAt: 5_000, input: Uint8Array.of(1), ...more },
    }
  }

  const pausing = (executionId: string, pauses: readonly NewPause[], at = 6_000): PauseWrite => ({
    ...{ kind: 'job-pause', executionId, at, pauses },
  })

  async function paused(...pauses: NewPause[]): Promise<string> {
    const row = jobOf()
    await here().store.append([{ kind: 'job', row }])
    expect(await here().store.append([pausing(row.executionId, pauses)])).toBeUndefined()
    return row.executionId
  }

  const stateOf = async (executionId: string) => (await here().store.findJob(executionId))?.state
  const idsOf = (jobs: readonly { executionId: string }[]) => jobs.map(({ executionId }) => executionId)

  describe('a pause', () => {
    test('is read as it was written, and counts neither against the timeout nor as a crash', async () => {
      const { store, home } = here()
      const pause = pauseOf()
      const executionId = await paused(pause)
      const { workflowId, workspaceId } = home
      const stored = {
        ...pause,
        executionId,
        workflowId,
        workspaceId,
        state: 'open',
        endedAt: null,
        answer: null,
        isAnnounced: false,
        reminders: 0,
      }
      expect(await store.listRunPauses(executionId)).toEqual([stored] as never)
      expect(await store.getPause(pause.contextId)).toEqual(stored as never)
      expect(await store.getPause('unknown')).toBeUndefined()
      expect(await store.parkJobs(true)).toEqual({ queued: 0, interrupted: 0 })
      expect(await store.findJob(executionId)).toMatchObject({ state: 'paused', interruptions: 0, waitingSince: 6_000 })
      expect(await store.claimInterruptedJobs(10)).toEqual([])
      expect(await store.endDuePauses(9_000, 10)).toMatchObject({ jobs: [{ executionId }], nextAt: null })
      await store.append([{ kind: 'job-start', executionId, at: 9_500 }])
      const running = { state: 'running', waitedMs: 3_500, waitingSince: null, hasPauses: true }
      expect(await store.findJob(executionId)).toMatchObject(running)
    })

    test('counts while it is open, and is found after its workflow was deleted', async () => {
      const { store, home } = here()
      const { workspaceId, workflowId } = home
      await paused(pauseOf(), pauseOf({ kind: 'call' }))
      await paused(pauseOf())
      expect(await store.countPauses(workspaceId, 10)).toBe(3)
      expect(await store.countPauses(workspaceId, 2)).toBe(2)
      expect(await store.countPauses('unknown', 10)).toBe(0)
      expect(await store.listDeletedWithPauses(10)).toEqual([])
      await store.deleteWorkflow(workflowId, 8_000)
      expect(await store.listDeletedWithPauses(10)).toEqual([{ workspaceId, workflowId }])
      await store.endDuePauses(9_000, 10)
      expect(await store.listDeletedWithPauses(10)).toEqual([])
      expect(await store.countPauses(workspaceId, 10)).toBe(0)
    })

    test('shows that its run did not cause the crashes before', async () => {
      const { store } = here()
      const row = jobOf()
      const { executionId } = row
      await store.append([{ kind: 'job', row }])
      for (const at of [6_000, 7_000]) {
        await store.parkJobs(true)
        await store.append([{ kind: 'job-start', executionId, at }])
      }
      expect(await store.findJob(executionId)).toMatchObject({ interruptions: 2 })
      await store.append([pausing(executionId, [pauseOf()], 8_000)])
      expect(await store.findJob(executionId)).toMatchObject({ state: 'paused', interruptions: 0 })
    })

    test('goes with a job that is discarded because its key is lost', async () => {
      const { store } = here()
      const pause = pauseOf({ kind: 'approval' })
      await paused(pause)
      expect(await store.discardSealed([Uint8Array.of(1)])).toMatchObject({ jobs: 1 })
      expect(await store.getPause(pause.contextId)).toBeUndefined()
    })

    test('resets the count of crashes of its run when it ends', async () => {
      const { store } = here()
      for (const isDue of [true, false]) {
        const row = jobOf()
        const { executionId } = row
        const pause = pauseOf({ kind: 'approval' })
        await store.append([{ kind: 'job', row }])
        await store.append([{ ...pausing(executionId, [pause]), goesOn: true }])
        for (const at of [6_000, 7_000]) {
          await store.append([{ kind: 'job-start', executionId, at }])
          await store.parkJobs(true)
          await store.claimInterruptedJobs(10)
        }
        expect(await store.findJob(executionId)).toMatchObject({ state: 'interrupted', interruptions: 2 })
        if (isDue) expect((await store.endDuePauses(9_000, 10)).jobs).toEqual([])
        else await store.endPause({ contextId: pause.contextId, state: 'answered', at: 8_000, answer: null })
        expect(await store.findJob(executionId)).toMatchObject({ state: 'interrupted', interruptions: 0 })
      }
    })

    test('is known for 30 days after its end', async () => {
      const { store } = here()
      const [old, recent, open] = [
        pauseOf({ kind: 'approval' }),
        pauseOf({ kind: 'approval' }),
        pauseOf({ until: null }),
      ]
      for (const pause of [old, recent, open]) await paused(pause)
      await store.endPause({ contextId: old.contextId, state: 'answered', at: 7_000, answer: null })
      await store.endPause({ contextId: recent.contextId, state: 'answered', at: 7_001, answer: null })
      await paused(pauseOf({ since: 7_000 + 30 * 86_400_000 }))
      expect(await store.getPause(old.contextId)).toBeUndefined()
      expect(await store.getPause(recent.contextId)).toMatchObject({ state: 'answered' })
      expect(await store.getPause(open.contextId)).toMatchObject({ state: 'open' })
    })

    test('ends when its time comes, in the order of the times', async () => {
      const { store } = here()
      const late = await paused(pauseOf({ until: 9_500 }))
      const early = await paused(pauseOf({ until: 9_000 }))
      const never = await paused(pauseOf({ kind: 'approval', until: null }))
      expect(await store.endDuePauses(8_999, 10)).toEqual({ jobs: [], nextAt: 9_000 })
      const first = await store.endDuePauses(9_600, 1)
      expect([idsOf(first.jobs), first.nextAt]).toEqual([[early], 9_500])
      expect(await stateOf(late)).toBe('paused')
      const second = await store.endDuePauses(9_600, 10)
      expect([idsOf(second.jobs), second.nextAt]).toEqual([[late], null])
      expect(await store.listRunPauses(late)).toMatchObject([{ state: 'expired', endedAt: 9_600 }])
      expect(await Promise.all([early, late, never].map(stateOf))).toEqual(['interrupted', 'interrupted', 'paused'])
    })

    test('reminds at each interval, once after a long stop, and not after it has ended', async () => {
      const { store } = here()
      const pause = pauseOf({ kind: 'approval', since: 6_000, until: 100_000, remindEveryMs: 1_000 })
      const executionId = await paused(pause)
      const remindersOf = async () => (await store.getPause(pause.contextId))?.reminders
      expect(await store.endDuePauses(6_999, 10)).toEqual({ jobs: [], nextAt: 7_000 })
      const first = await store.endDuePauses(7_000, 10)
      expect([idsOf(first.jobs), first.nextAt, await remindersOf()]).toEqual([[executionId], 8_000, 1])
      expect(await store.endDuePauses(7_999, 10)).toEqual({ jobs: [], nextAt: 8_000 })
      await store.append([{ kind: 'job-start', executionId, at: 7_100 }])
      await store.append([pausing(executionId, [{ ...pause, reminders: 1 }], 7_200)])
      expect(await stateOf(executionId)).toBe('paused')
      const late = await store.endDuePauses(20_500, 10)
      expect([idsOf(late.jobs), late.nextAt, await remindersOf()]).toEqual([[executionId], 21_000, 2])
      await store.append([{ kind: 'job-start', executionId, at: 20_600 }])
      // The next reminder becomes due before the run pauses again.
      expect(await store.endDuePauses(21_000, 10)).toEqual({ jobs: [], nextAt: 22_000 })
      await store.append([pausing(executionId, [{ ...pause, reminders: 2 }], 21_100)])
      expect(await stateOf(executionId)).toBe('interrupted')
      await store.endPause({ contextId: pause.contextId, state: 'answered', at: 21_500, answer: null })
      expect(await store.endDuePauses(99_000, 10)).toEqual({ jobs: [], nextAt: null })
      expect(await remindersOf()).toBe(3)
    })

    test('does not remind when it expires, and stops after a hundred reminders', async () => {
      const { store } = here()
      const [short, long] = [
        pauseOf({ kind: 'approval', until: 7_000, remindEveryMs: 1_000 }),
        pauseOf({ kind: 'approval', until: null, remindEveryMs: 1_000 }),
      ]
      await paused(short)
      await paused(long)
      let at: number | null = 7_000
      for (; at !== null; at = (await store.endDuePauses(at, 10)).nextAt);
      expect(await store.getPause(short.contextId)).toMatchObject({ state: 'expired', reminders: 0 })
      expect(await store.getPause(long.contextId)).toMatchObject({ state: 'open', reminders: 100 })
    })

    test('has one end, and later ones learn about it', async () => {
      const { store } = here()
      const pause = pauseOf({ kind: 'approval', until: null })
      const executionId = await paused(pause)
      const end = { contextId: pause.contextId, state: 'answered', at: 7_000, answer: Uint8Array.of(7) } as const
      const [one, two] = await Promise.all([
        store.endPause(end),
        store.endPause({ ...end, state: 'expired', answer: null }),
      ])
      const [taken, refused] = one!.isEndedNow ? [one!, two!] : [two!, one!]
      expect([taken.isEndedNow, refused.isEndedNow]).toEqual([true, false])
      expect(taken.job).toMatchObject({ executionId })
      expect(refused.job).toBeNull()
      expect(refused.pause).toEqual(taken.pause)
      expect(await stateOf(executionId)).toBe('interrupted')
      expect(await store.extendPause(pause.contextId, 99_000)).toBeUndefined()
      expect(await store.endPause({ ...end, contextId: 'unknown' })).toBeUndefined()
    })

    test('that ends while its run is still busy lets the run continue at once', async () => {
      const { store } = here()
      const row = jobOf()
      const { executionId } = row
      const [first, second] = [pauseOf({ kind: 'approval', until: null }), pauseOf({ kind: 'call', until: null })]
      await store.append([{ kind: 'job', row }, pausing(executionId, [first])])
      await store.append([{ kind: 'job-start', executionId, at: 6_500 }])
      const ended = await store.endPause({ contextId: first.contextId, state: 'answered', at: 7_000, answer: null })
      expect(ended).toMatchObject({ isEndedNow: true, job: null })
      await store.append([pausing(executionId, [first, second], 7_500)])
      expect(await stateOf(executionId)).toBe('interrupted')
      // The run has read that answer now, and waits for the other one.
      await store.append([{ kind: 'job-start', executionId, at: 8_000 }, pausing(executionId, [second], 8_500)])
      expect(await stateOf(executionId)).toBe('paused')
      expect(await store.listRunPauses(executionId)).toMatchObject([{ state: 'answered' }, { state: 'open' }])
    })

    test('can get several answers before it ends, each in the knowledge of the ones before', async () => {
      const { store } = here()
      const { contextId } = pauseOf({ kind: 'approval', until: null })
      const executionId = await paused({ ...pauseOf({ kind: 'approval', until: null }), contextId })
      const [one, two] = [Uint8Array.of(1), Uint8Array.of(1, 2)]
      const first = { contextId, state: 'open', at: 7_000, after: null, answer: one } as const
      expect(await store.endPause(first)).toMatchObject({ isEndedNow: true, job: null, pause: { state: 'open' } })
      expect(await store.endPause(first)).toMatchObject({ isEndedNow: false, pause: { answer: one, endedAt: null } })
      expect(await stateOf(executionId)).toBe('paused')
      const last = { contextId, state: 'answered', at: 8_000, after: one, answer: two } as const
      expect(await store.endPause(last)).toMatchObject({ isEndedNow: true, job: { executionId } })
      expect(await store.getPause(contextId)).toMatchObject({ state: 'answered', answer: two, endedAt: 8_000 })
    })

    test('opens while its run goes on', async () => {
      const { store } = here()
      const row = jobOf()
      const { executionId } = row
      const pause = pauseOf({ kind: 'approval', until: null })
      const opening = { ...pausing(executionId, [pause]), goesOn: true as const, accepts: { row, steps: [] } }
      expect(await store.append([opening])).toBeUndefined()
      expect(await store.findJob(executionId)).toMatchObject({ state: 'running', waitingSince: null, hasPauses: true })
      expect(await store.listRunPauses(executionId)).toMatchObject([{ state: 'open' }])
      await store.append([pausing(executionId, [pause], 7_000)])
      expect(await store.findJob(executionId)).toMatchObject({ state: 'paused', waitingSince: 7_000 })
    })

    test('makes a job of a run with a waiting caller, with its steps', async () => {
      const { store } = here()
      const row = jobOf()
      const { executionId } = row
      const steps = [Uint8Array.of(1), Uint8Array.of(2, 3)]
      await store.append([{ ...pausing(executionId, [pauseOf()]), accepts: { row, steps } }])
      expect(await store.getJob(executionId)).toMatchObject({ state: 'paused', input: row.input, startedAt: 5_000 })
      expect(await store.getJobSteps(executionId)).toEqual(steps)
    })

    test('goes with its run, except when an answer may come late', async () => {
      const { store, home } = here()
      const [wait, skipped, ask] = [
        pauseOf({ until: 90_000 }),
        pauseOf({ until: 90_000 }),
        pauseOf({ kind: 'approval', until: null }),
      ]
      const executionId = await paused(wait, skipped, ask)
      await store.endPause({ contextId: skipped.contextId, state: 'answered', at: 7_000, answer: null })
      const log = logRow(home, (await store.lastSequence()) + 1, { executionId, createdAt: 5_000, endedAt: 12_000 })
      await store.append([logWrite(log)])
      const kept = await store.listRunPauses(executionId)
      expect(kept.map(({ contextId, state, endedAt }) => [contextId, state, endedAt]).toSorted()).toEqual(
        [
          [skipped.contextId, 'answered', 7_000],
          [ask.contextId, 'cancelled', 12_000],
        ].toSorted(),
      )
      expect(await store.endDuePauses(99_000, 10)).toEqual({ jobs: [], nextAt: null })
    })

    test('is listed by workflow and kind, oldest first, and only in its own workspace', async () => {
      const { store, home } = here()
      const kinds = ['call', 'wait', 'approval', 'wait', 'call'] as const
      const pauses = kinds.map((kind) => pauseOf({ kind, until: null }))
      for (const pause of pauses) await paused(pause)
      const { workspaceId, workflowId } = home
      for (const kind of [undefined, ...pauseKinds]) {
        const wanted = pauses.filter((pause) => kind === undefined || pause.kind === kind)
        for (const ofWorkflow of [undefined, workflowId]) {
          const listed: string[] = []
          for (let after = 0; ; ) {
            const page = await store.listPauses({ workspaceId, workflowId: ofWorkflow, kind, after, limit: 2 })
            listed.push(...page.map(({ contextId }) => contextId))
            if (page.length < 2) break
            after = page.at(-1)!.number
          }
          expect(listed).toEqual(wanted.map(({ contextId }) => contextId))
        }
        expect(await store.listPauses({ workspaceId: 'other', workflowId, kind, after: 0, limit: 9 })).toEqual([])
      }
    })

    test('of a run is listed among the other runs of its workspace', async () => {
      const { store, home } = here()
      const first = await paused(pauseOf())
      const queued = jobOf({ startedAt: null })
      await store.append([{ kind: 'job', row: queued }])
      const last = await paused(pauseOf())
      const { workspaceId, workflowId } = home
      const listed = async (states: readonly JobState[], more: Partial<OpenRunPage> = {}) => {
        const page = { workspaceId, workflowId: undefined, states, before: Number.MAX_SAFE_INTEGER, limit: 10, ...more }
        return await store.listOpenRuns(page)
      }
      for (const ofWorkflow of [undefined, workflowId]) {
        const more = { workflowId: ofWorkflow }
        const all = await listed(['queued', 'paused'], more)
        expect(idsOf(all)).toEqual([last, queued.executionId, first])
        expect(all.map(({ state }) => state)).toEqual(['paused', 'queued', 'paused'])
        expect(idsOf(await listed(['queued', 'paused'], { ...more, before: all[1]!.number }))).toEqual([first])
        expect(idsOf(await listed(['queued', 'paused'], { ...more, limit: 2 }))).toEqual([last, queued.executionId])
        expect(idsOf(await listed(['paused'], more))).toEqual([last, first])
        expect(idsOf(await listed(['queued', 'running'], more))).toEqual([queued.executionId])
        expect(await listed(['queued', 'paused'], { ...more, workspaceId: 'other' })).toEqual([])
      }
    })

    test('is listed while it is open, and can be extended', async () => {
      const { store, home } = here()
      const pauses = (['approval', 'call', 'approval'] as const).map((kind) => pauseOf({ kind, until: 50_000 }))
      for (const pause of pauses) await paused(pause)
      const { workspaceId, workflowId } = home
      const page = { workspaceId, workflowId, after: 0, limit: 2 }
      const first = await store.listPauses(page)
      const rest = await store.listPauses({ ...page, after: first.at(-1)!.number })
      expect([...first, ...rest].map(({ contextId }) => contextId)).toEqual(pauses.map(({ contextId }) => contextId))
      expect(first[0]).toMatchObject({ state: 'open', workflowId, workflowName: expect.any(String) })
      expect(await store.listPauses({ ...page, workflowId: 'other' })).toEqual([])
      expect(await store.listPauses({ ...page, workspaceId: 'other' })).toEqual([])
      const ofKind = async (kind: (typeof pauseKinds)[number]) =>
        (await store.listPauses({ ...page, kind, limit: 10 })).map(({ contextId }) => contextId)
      for (const kind of pauseKinds) {
        const wanted = pauses.filter((pause) => pause.kind === kind)
        expect(await ofKind(kind)).toEqual(wanted.map(({ contextId }) => contextId))
      }
      const [changed] = pauses
      expect(await store.extendPause(changed!.contextId, 80_000)).toMatchObject({ until: 80_000 })
      expect(await store.endDuePauses(60_000, 10)).toMatchObject({ nextAt: 80_000 })
      expect((await store.listPauses({ ...page, workflowId: undefined, limit: 10 })).length).toBe(1)
    })
  })
}
