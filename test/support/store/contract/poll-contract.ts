import { describe, expect, test } from 'bun:test'
import { newExecutionId } from '../../../../src/domain/ids.ts'
import { hashOfItem } from '../../../../src/domain/poll/item-hash.ts'
import { type NewPoll, type PollCommit, type PollRow, seenMax } from '../../../../src/domain/poll/poll.ts'
import type { NewJob } from '../../../../src/domain/run/job.ts'
import type { ScheduleRule } from '../../../../src/domain/schedule/schedule.ts'
import type { Store } from '../../../../src/store/store.ts'
import { document } from '../../make.ts'
import type { Installed } from '../installed.ts'

const everyMinute: ScheduleRule = {
  ...{ cron: null, intervalMs: 60_000, timezone: 'UTC', startAt: null, endAt: null },
  ...{ overlap: 'allow', missed: 'once', missedMax: 1, jitterMs: 0 },
}

/** The contract of every store for polls. */
export function pollContract(here: () => { store: Store; home: Installed }): void {
  const pollOf = (more: Partial<NewPoll> = {}): NewPoll => ({
    ...{ blockId: 'b', kind: 'poll', identity: 'one', rule: everyMinute, dueAt: 60_000, firstAt: 10 },
    ...more,
  })
  const deploy = (polls: readonly NewPoll[], workflowId = here().home.workflowId) => {
    const { store, home } = here()
    const registrations = { addresses: [], schedule: null, polls }
    return store.deploy(workflowId, document({ blocks: [] }), 10, home.userId, registrations)
  }
  const another = async (name: string): Promise<string> => {
    const { store, home } = here()
    const draft = document({ name, blocks: [] })
    return (await store.createWorkflow({ id: null, workspaceId: home.workspaceId, document: draft, at: 1 })).id
  }
  const only = async (workflowId = here().home.workflowId): Promise<PollRow> => {
    const rows = await here().store.listPolls(workflowId)
    expect(rows).toHaveLength(1)
    return rows[0]!
  }
  const jobOf = (more: Partial<NewJob> = {}): NewJob => {
    const { workflowId, workspaceId } = here().home
    return {
      ...{ executionId: newExecutionId(), workflowId, workspaceId, version: 1, trigger: 'poll', createdAt: 5_000 },
      ...{ startedAt: null, input: Uint8Array.of(1) },
      ...more,
    }
  }
  const commitOf = ({ number, revision }: PollRow, more: Partial<PollCommit> = {}): PollCommit => ({
    ...{ number, revision, dueAt: 120_000, state: '{"cursor":1}', seen: [] },
    ...{ polledAt: 60_000, succeededAt: 60_000, failures: 0, error: null },
    ...more,
  })
  const commit = (poll: PollCommit, jobs: readonly NewJob[] = []) => here().store.append([{ kind: 'poll', poll, jobs }])
  const hashes = (from: number, to: number) =>
    Array.from({ length: to - from }, (_, index) => hashOfItem(`item ${from + index}`))

  describe('a poll', () => {
    test('is listed in order of due time while its version is active', async () => {
      const { store, home } = here()
      const second = await another('Second')
      await deploy([pollOf({ firstAt: 30 })])
      await deploy(
        [pollOf({ firstAt: 20 }), pollOf({ blockId: 'mail', kind: 'email', rule: null, firstAt: null })],
        second,
      )
      const { workflowId, workspaceId, userId: ownerId } = home
      const { number, ...row } = await only()
      expect(row).toEqual({
        ...{ workflowId, workspaceId, ownerId, blockId: 'b', kind: 'poll', version: 1, rule: everyMinute, dueAt: 30 },
        ...{ revision: 0, state: null, polledAt: null, succeededAt: null, failures: 0, error: null },
        ...{ startedAt: null, started: 0 },
      })
      const listed = async (limit: number) => (await store.listDuePolls(limit)).map((one) => one.workflowId)
      expect(await listed(10)).toEqual([second, workflowId])
      expect(await listed(1)).toEqual([second])
      const [first] = await store.listDuePolls(1)
      expect((await store.listDuePolls(10, first)).map((one) => one.number)).toEqual([number])
      const [mail] = await store.listPollsOfKind('email', 10)
      expect(mail).toMatchObject({ workflowId: second, blockId: 'mail', rule: null, dueAt: null })
      expect(await store.listPollsOfKind('email', 10, mail?.number)).toEqual([])
      await store.undeploy(second)
      expect(await listed(10)).toEqual([workflowId])
      await store.deleteWorkflow(workflowId, 40)
      expect(await listed(10)).toEqual([])
      expect(await store.listPolls(workflowId)).toEqual([])
    })

    test('commits what it has seen together with the runs of the new items', async () => {
      const { store } = here()
      await deploy([pollOf()])
      const row = await only()
      const jobs = [jobOf(), jobOf()]
      const seen = hashes(0, 3)
      expect(await store.findSeen(row, seen)).toEqual([])
      expect(await commit(commitOf(row, { seen }), jobs)).toBeUndefined()
      const later = await only()
      expect(later).toMatchObject({ revision: 1, state: '{"cursor":1}', dueAt: 120_000, polledAt: 60_000 })
      expect(later).toMatchObject({ started: 2, startedAt: 60_000, failures: 0, error: null })
      expect((await store.findSeen(later, [...seen, hashOfItem('new')]))?.sort()).toEqual(seen.toSorted())
      for (const { executionId } of jobs) {
        expect(await store.getJob(executionId)).toMatchObject({ trigger: 'poll', state: 'queued' })
      }
      // The commit that starts nothing keeps when the last run started.
      expect(await commit(commitOf(later, { polledAt: 70_000, succeededAt: 70_000 }))).toBeUndefined()
      expect(await only()).toMatchObject({ started: 2, startedAt: 60_000, polledAt: 70_000 })
    })

    test('commits only one of several results that begin from the same memory', async () => {
      const { store } = here()
      await deploy([pollOf()])
      const row = await only()
      const jobs = [jobOf(), jobOf(), jobOf()]
      const write = (job: NewJob) =>
        ({ kind: 'poll', poll: commitOf(row, { seen: hashes(0, 1) }), jobs: [job] }) as const
      expect(await store.append([write(jobs[0]!), write(jobs[1]!)])).toEqual([{ index: 1, executionId: null }])
      expect(await store.append([write(jobs[2]!)])).toEqual([{ index: 0, executionId: null }])
      const found = await Promise.all(jobs.map(({ executionId }) => store.findJob(executionId)))
      expect(found.map((job) => job !== undefined)).toEqual([true, false, false])
      expect(await store.findSeen(row, hashes(0, 1))).toBeUndefined()
    })

    test('in flight starts nothing after its workflow was deployed, undeployed, deployed again or deleted', async () => {
      const { store, home } = here()
      const refused = [{ index: 0, executionId: null }]
      const seen = hashes(0, 1)
      await deploy([pollOf()])
      const first = await only()
      await deploy([pollOf()])
      expect(await commit(commitOf(first, { seen }), [jobOf()])).toEqual(refused)
      const second = await only()
      await store.undeploy(home.workflowId)
      expect(await commit(commitOf(second, { seen }), [jobOf()])).toEqual(refused)
      await store.activate(home.workflowId, 2, 20, { addresses: [], schedule: null, polls: [pollOf()] })
      expect(await commit(commitOf(second, { seen }), [jobOf()])).toEqual(refused)
      const third = await only()
      await store.deleteWorkflow(home.workflowId, 30)
      expect(await commit(commitOf(third, { seen }), [jobOf()])).toEqual(refused)
      expect(await store.claimQueuedJobs({ perWorkflow: 10, workflowsMax: 10, after: undefined })).toEqual([])
    })

    test('keeps its memory in a new version that polls the same thing', async () => {
      const { store } = here()
      await deploy([pollOf()])
      const seen = hashes(0, 2)
      await commit(commitOf(await only(), { seen }))
      const before = await only()
      await deploy([pollOf({ firstAt: 99, dueAt: 61_000 })])
      const same = await only()
      expect(same).toEqual({ ...before, version: 2, revision: 2 })
      expect(await store.findSeen(same, seen)).toHaveLength(2)
      // Another rule has another due time, and the memory stays.
      await deploy([pollOf({ rule: { ...everyMinute, intervalMs: 5_000 }, firstAt: 99, dueAt: 65_000 })])
      const rare = await only()
      expect(rare).toMatchObject({ number: before.number, version: 3, revision: 3, dueAt: 65_000, polledAt: 60_000 })
      expect(await store.findSeen(rare, seen)).toHaveLength(2)
    })

    test('forgets everything when it polls something else, in another block or as another kind', async () => {
      const { store, home } = here()
      const seen = hashes(0, 2)
      const changes = [{ identity: 'two' }, { blockId: 'c' }, { kind: 'rss' as const }]
      for (const change of changes) {
        await deploy([pollOf()])
        await commit(commitOf(await only(), { seen }))
        const before = await only()
        await deploy([pollOf(change)])
        const after = await only()
        expect(after).toMatchObject({
          state: null,
          polledAt: null,
          revision: 0,
          started: 0,
          dueAt: 10,
          ...pick(change),
        })
        expect(after.number).not.toBe(before.number)
        expect(await store.findSeen(after, seen)).toEqual([])
        await store.undeploy(home.workflowId)
      }
      await deploy([pollOf()])
      expect(await store.findSeen(await only(), seen)).toEqual([])
    })

    test('notes results without new items, unless it has changed since', async () => {
      const { store } = here()
      await deploy([pollOf()])
      const row = await only()
      const failed = { polledAt: 60_000, succeededAt: null, failures: 3, error: 'The server said "no"' }
      const { seen: _, ...note } = commitOf(row, { ...failed, state: null, dueAt: 90_000 })
      await store.notePolls([note])
      expect(await only()).toEqual({ ...row, ...failed, dueAt: 90_000 })
      await commit(commitOf(row))
      await store.notePolls([{ ...note, dueAt: 1 }])
      expect(await only()).toMatchObject({ dueAt: 120_000, failures: 0, error: null })
      await store.notePolls([])
    })

    test('can be made due, which ends one in flight, unless it is not due by the clock', async () => {
      const { store, home } = here()
      await deploy([pollOf(), pollOf({ blockId: 'mail', kind: 'email', rule: null, firstAt: null })])
      const before = (await store.listDuePolls(10))[0]!
      expect(await store.makePollDue(home.workflowId, 'b', 5)).toBe(true)
      expect(await store.listDuePolls(10)).toEqual([{ ...before, dueAt: 5, revision: 1 }])
      expect(await commit(commitOf(before), [jobOf()])).toEqual([{ index: 0, executionId: null }])
      expect(await store.makePollDue(home.workflowId, 'mail', 5)).toBe(false)
      expect(await store.makePollDue(home.workflowId, 'none', 5)).toBe(false)
      expect(await store.makePollDue('none', 'b', 5)).toBe(false)
    })

    test('remembers the items of its last commit, and the latest of all others', async () => {
      const { store } = here()
      await deploy([pollOf()])
      const old = hashes(0, 2)
      await commit(commitOf(await only(), { seen: [...old, ...hashes(2, 1_000)] }))
      for (let from = 1_000; from <= seenMax; from += 1_000) {
        // The first item is listed each time, so it stays; the second one is forgotten.
        await commit(commitOf(await only(), { seen: [old[0]!, ...hashes(from, from + 1_000)] }))
      }
      const row = await only()
      expect(await store.findSeen(row, old)).toEqual([old[0]!])
      const known = (await store.findSeen(row, hashes(0, seenMax + 1_000)))!
      expect(known).toHaveLength(seenMax)
      expect(known).toContain(hashOfItem(`item ${seenMax + 999}`))
      // A commit with more items than that keeps all of them.
      const many = hashes(20_000, 20_000 + seenMax + 5)
      await commit(commitOf(row, { seen: many }))
      expect(await store.findSeen(await only(), many)).toHaveLength(many.length)
    })

    test('of one workflow leaves those of others alone', async () => {
      const { store, home } = here()
      const second = await another('Second')
      await deploy([pollOf(), pollOf({ blockId: 'feed', kind: 'rss', identity: 'feed' })])
      await deploy([pollOf()], second)
      const [poll, feed] = await store.listPolls(home.workflowId)
      await commit(commitOf(poll!, { seen: hashes(0, 2) }))
      for (const row of [feed!, await only(second)]) {
        expect(row).toMatchObject({ revision: 0, state: null })
        expect(await store.findSeen(row, hashes(0, 2))).toEqual([])
      }
      await store.undeploy(second)
      expect(await store.listPolls(home.workflowId)).toHaveLength(2)
    })
  })
}

function pick({ blockId, kind }: Partial<NewPoll>): Partial<PollRow> {
  return { ...(blockId === undefined ? {} : { blockId }), ...(kind === undefined ? {} : { kind }) }
}
