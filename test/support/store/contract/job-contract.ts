import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { newExecutionId } from '../../../../src/domain/ids.ts'
import type { NewJob } from '../../../../src/domain/run/job.ts'
import { logWrite } from '../../../../src/domain/run/write.ts'
import { startKinds } from '../../../../src/domain/workflow/workflow.ts'
import type { Store } from '../../../../src/store/store.ts'
import { block, document } from '../../make.ts'
import { type Installed, logRow } from '../installed.ts'
import { rejectionOf } from '../rejection.ts'

/** The contract of every store for asynchronous runs. */
export function jobContract(here: () => { store: Store; home: Installed }): void {
  const jobOf = ({ workflowId, workspaceId }: Installed, more: Partial<NewJob> = {}): NewJob => ({
    executionId: newExecutionId(),
    workflowId,
    workspaceId,
    version: 3,
    trigger: 'api',
    createdAt: 5_000,
    startedAt: null,
    input: Uint8Array.of(1, 2, 255),
    ...more,
  })

  describe('a job', () => {
    test('gets another input and version until it begins', async () => {
      const { store, home } = here()
      const row = jobOf(home)
      const { executionId } = row
      const inputOf = (byte: number) => {
        return { kind: 'job-input' as const, executionId, version: byte, input: Uint8Array.of(byte) }
      }
      await store.append([{ kind: 'job', row }, ...[7, 8].map(inputOf)])
      expect(await store.getJob(executionId)).toMatchObject({ version: 8, input: Uint8Array.of(8) })
      await store.append([{ kind: 'job-start', executionId, at: 6_000 }])
      expect(await store.append([inputOf(9)])).toEqual([{ index: 0, executionId: null }])
      expect(await store.getJob(executionId)).toMatchObject({ version: 8, input: Uint8Array.of(8), state: 'running' })
    })

    test('can be joined by later starts until it is due, or until the longest delay is over', async () => {
      const { store } = here()
      const executionIds = [newExecutionId(), newExecutionId(), newExecutionId()] as const
      const join = (executionId: string, { now = 0, key = 'k', quietMs = 60_000, maxMs = 90_000 } = {}) =>
        store.joinDebounce({ workflowId: 'w', key, executionId, quietMs, maxMs, now })
      const [first, second, third] = executionIds
      expect(await join(first)).toMatchObject({ executionId: first, dueInMs: expect.closeTo(60_000, -3) })
      expect(await join(second)).toMatchObject({ executionId: first, dueInMs: expect.closeTo(60_000, -3) })
      expect(await join(second, { key: 'other' })).toMatchObject({ executionId: second })
      expect(await store.endDebounce(first, 0)).toBeWithin(1, 60_001)
      expect(await store.endDebounce(first, 0, true)).toBe(0)
      expect(await join(third)).toMatchObject({ executionId: third })
      expect(await store.endDebounce(newExecutionId(), 0)).toBe(0)
      // There is not enough time left to replace the input.
      expect(await join(first, { key: 'short', maxMs: 10 })).toMatchObject({ executionId: first })
      expect(await join(second, { key: 'short', maxMs: 10 })).toMatchObject({ executionId: second })
    })

    test('is read as it was written, and ends with the log entry of its run', async () => {
      const { store, home } = here()
      await fc.assert(
        fc.asyncProperty(
          fc.uint8Array({ maxLength: 2_000 }),
          fc.array(fc.uint8Array({ minLength: 1, maxLength: 200 }), { maxLength: 5 }),
          fc.option(fc.uint8Array({ minLength: 1, maxLength: 200 }), { nil: null }),
          async (input, steps, output) => {
            const row = jobOf(home, { input })
            const { executionId } = row
            await store.append([{ kind: 'job', row }])
            const stored = { ...row, interruptions: 0, waitedMs: 0, waitingSince: null, hasPauses: false }
            expect(await store.getJob(executionId)).toEqual({ ...stored, state: 'queued' })
            const { input: _, ...facts } = stored
            expect(await store.findJob(executionId)).toEqual({ ...facts, state: 'queued' })
            await store.append([{ kind: 'job-start', executionId, at: 6_000 }])
            expect(await store.getJob(executionId)).toEqual({ ...stored, startedAt: 6_000, state: 'running' })
            await store.append(
              steps.map((content, index) => ({ kind: 'job-step', executionId, number: index + 1, content })),
            )
            expect(await store.getJobSteps(executionId)).toEqual(steps)
            const log = logRow(home, (await store.lastSequence()) + 1, { executionId, createdAt: row.createdAt })
            await store.append([logWrite(log, output)])
            expect(await store.getJob(executionId)).toBeUndefined()
            expect(await store.findJob(executionId)).toBeUndefined()
            expect(await store.getJobSteps(executionId)).toEqual([])
            expect(await store.getJobOutput(executionId)).toEqual(output ?? undefined)
            expect(await store.getExecution(executionId)).toMatchObject({ executionId, createdAt: 5_000 })
          },
        ),
        { numRuns: 20 },
      )
    })

    test('keeps the kind of its trigger, for every kind', async () => {
      const { store, home } = here()
      for (const trigger of startKinds) {
        const row = jobOf(home, { trigger })
        await store.append([{ kind: 'job', row }])
        expect(await store.getJob(row.executionId)).toMatchObject({ trigger })
        expect(await store.findJob(row.executionId)).toMatchObject({ trigger })
        const page = { ...{ workspaceId: home.workspaceId, workflowId: undefined }, before: Number.MAX_SAFE_INTEGER }
        const [newest] = await store.listOpenRuns({ ...page, states: ['queued'], limit: 1 })
        expect(newest).toMatchObject({ executionId: row.executionId, trigger })
      }
    })

    test('leaves only its log entry when its run ends in the same group', async () => {
      const { store, home } = here()
      const row = jobOf(home, { startedAt: 5_000 })
      const { executionId, createdAt } = row
      const log = logRow(home, (await store.lastSequence()) + 1, { executionId, createdAt })
      const output = Uint8Array.of(1, 2)
      await store.append([{ kind: 'job', row }, logWrite(log, output)])
      expect(await store.getJob(executionId)).toBeUndefined()
      expect(await store.parkJobs(true)).toEqual({ queued: 0, interrupted: 0 })
      expect(await store.getExecution(executionId)).toMatchObject({ executionId, createdAt })
      expect(await store.getJobOutput(executionId)).toEqual(output)
    })

    test('is interrupted when its process ends, and counts the interruption only after a crash', async () => {
      const { store, home } = here()
      const queued = jobOf(home)
      const running = jobOf(home, { startedAt: 5_500 })
      await store.append([
        { kind: 'job', row: queued },
        { kind: 'job', row: running },
      ])
      expect(await store.parkJobs(true)).toEqual({ queued: 1, interrupted: 1 })
      expect(await store.getJob(running.executionId)).toMatchObject({ state: 'interrupted', interruptions: 1 })
      expect((await store.claimInterruptedJobs(100)).map(({ executionId }) => executionId)).toEqual([
        running.executionId,
      ])
      // A second crash does not count for a job that has not resumed.
      await store.parkJobs(true)
      expect(await store.getJob(running.executionId)).toMatchObject({ state: 'interrupted', interruptions: 1 })
      await store.append([{ kind: 'job-start', executionId: running.executionId, at: 9_000 }])
      expect(await store.getJob(running.executionId)).toMatchObject({ state: 'running', startedAt: 5_500 })
      await store.parkJobs(false)
      expect(await store.getJob(running.executionId)).toMatchObject({ state: 'interrupted', interruptions: 1 })
      expect(await store.getJob(queued.executionId)).toMatchObject({ state: 'queued', interruptions: 0 })
    })

    test('is listed among the runs of its workspace, newest first', async () => {
      const { store, home } = here()
      const [queued, running, other] = [jobOf(home), jobOf(home, { startedAt: 6_000 }), jobOf(home)]
      await store.append([queued, running, other].map((row) => ({ kind: 'job', row })))
      const { workspaceId, workflowId } = home
      const page = { workspaceId, workflowId: undefined, before: Number.MAX_SAFE_INTEGER, limit: 2 }
      const states = ['queued', 'running', 'interrupted', 'paused'] as const
      const first = await store.listOpenRuns({ ...page, states })
      expect(first.map(({ executionId }) => executionId)).toEqual([other.executionId, running.executionId])
      expect(first[1]).toMatchObject({ state: 'running', trigger: 'api', startedAt: 6_000, workflowId })
      const rest = await store.listOpenRuns({ ...page, states, before: first[1]!.number })
      expect(rest.map(({ executionId }) => executionId)).toEqual([queued.executionId])
      const started = await store.listOpenRuns({ ...page, states: ['running'] })
      expect(started.map(({ executionId }) => executionId)).toEqual([running.executionId])
      expect(await store.listOpenRuns({ ...page, states, workspaceId: 'other' })).toEqual([])
      expect(await store.listOpenRuns({ ...page, states, workflowId: 'other' })).toEqual([])
      expect((await store.listOpenRuns({ ...page, states, workflowId })).length).toBe(2)
    })

    test('that waits for memory counts its waits, and no crash', async () => {
      const { store, home } = here()
      const row = jobOf(home, { startedAt: 5_500 })
      const { executionId } = row
      await store.append([
        { kind: 'job', row },
        { kind: 'job-wait', executionId, at: 6_000 },
      ])
      const waiting = { state: 'interrupted', interruptions: 0, startedAt: 5_500, waitedMs: 0, waitingSince: 6_000 }
      expect(await store.getJob(executionId)).toMatchObject(waiting)
      await store.parkJobs(true)
      expect(await store.getJob(executionId)).toMatchObject(waiting)
      await store.append([{ kind: 'job-start', executionId, at: 9_000 }])
      const resumed = { state: 'running', waitedMs: 3_000, waitingSince: null }
      expect(await store.getJob(executionId)).toMatchObject(resumed)
      await store.append([{ kind: 'job-start', executionId, at: 9_500 }])
      expect(await store.getJob(executionId)).toMatchObject(resumed)
      // The clock was set back during the second wait.
      await store.append([
        { kind: 'job-wait', executionId, at: 10_000 },
        { kind: 'job-start', executionId, at: 8_000 },
      ])
      expect(await store.getJob(executionId)).toMatchObject(resumed)
    })

    test('in the queue is listed with the oldest jobs of its workflow', async () => {
      const { store, home } = here()
      const draft = document({ name: 'Second', blocks: [block('start', 'api_trigger')] })
      const { id } = await store.createWorkflow({ id: null, workspaceId: home.workspaceId, document: draft, at: 1 })
      const first = Array.from({ length: 5 }, () => jobOf(home))
      const second = Array.from({ length: 2 }, () => jobOf(home, { workflowId: id }))
      await store.append([...first, ...second].map((row) => ({ kind: 'job', row })))
      // Jobs of a workflow that was deleted in the meantime are not lost.
      await store.deleteWorkflow(id, 2)
      const listed = async (perWorkflow: number, workflowsMax = 10, after?: string) => {
        const jobs = await store.claimQueuedJobs({ perWorkflow, workflowsMax, after })
        return new Set(jobs.map(({ executionId }) => executionId))
      }
      const page = { perWorkflow: 1, workflowsMax: 1, after: undefined }
      expect(await store.claimQueuedJobs(page)).toMatchObject([{ inputBytes: 3, startedAt: null }])
      const idsOf = (rows: readonly NewJob[]) => rows.map(({ executionId }) => executionId)
      expect(await listed(3)).toEqual(new Set([...idsOf(first.slice(0, 3)), ...idsOf(second)]))
      expect(await listed(1)).toEqual(new Set([first[0]!.executionId, second[0]!.executionId]))
      const one = await listed(9, 1)
      const [front, behind] = one.has(first[0]!.executionId) ? [first, second] : [second, first]
      expect(one).toEqual(new Set(idsOf(front)))
      expect(await listed(9, 1, front[0]!.workflowId)).toEqual(new Set(idsOf(behind)))
      expect(await listed(9, 1, behind[0]!.workflowId)).toEqual(new Set())
    })

    test('is refused without a workflow, and when it exists already', async () => {
      const { store, home } = here()
      const row = jobOf(home)
      await store.append([{ kind: 'job', row }])
      expect(await rejectionOf(store.append([{ kind: 'job', row }]))).toBeInstanceOf(Error)
      const unknown = jobOf(home, { workflowId: 'nowhere' })
      expect(await rejectionOf(store.append([{ kind: 'job', row: unknown }]))).toMatchObject({ code: 'NOT_FOUND' })
      expect(await store.getJob(unknown.executionId)).toBeUndefined()
    })

    test('returns the latest steps that fit', async () => {
      const { store, home } = here()
      const row = jobOf(home)
      const { executionId } = row
      const steps = [3, 1, 5, 2].map((bytes, index) => new Uint8Array(bytes).fill(index))
      const writes = steps.map((content, at) => ({ kind: 'job-step' as const, executionId, number: at + 1, content }))
      await store.append([{ kind: 'job', row }])
      const latest = (countMax: number, bytesMax: number) => store.listRecentSteps(executionId, { countMax, bytesMax })
      expect(await latest(9, 9)).toEqual({ contents: [], isComplete: true })
      await store.append(writes)
      expect(await latest(4, 11)).toEqual({ contents: steps, isComplete: true })
      expect(await latest(3, 11)).toEqual({ contents: steps.slice(1), isComplete: false })
      // The step with five bytes does not fit, but earlier ones do.
      expect(await latest(4, 6)).toEqual({ contents: [steps[0], steps[1], steps[3]] as never, isComplete: false })
      expect(await latest(4, 1)).toEqual({ contents: [steps[1]] as never, isComplete: false })
      expect(await store.listRecentSteps(newExecutionId(), { countMax: 9, bytesMax: 9 })).toEqual({
        ...{ contents: [], isComplete: true },
      })
    })

    test('is found with the facts that lists show', async () => {
      const { store, home } = here()
      const row = jobOf(home, { trigger: 'schedule' })
      await store.append([{ kind: 'job', row }])
      const { executionId, workflowId, workspaceId } = row
      const facts = { executionId, workflowId, workspaceId, trigger: 'schedule', createdAt: 5_000 } as const
      const page = { workspaceId, workflowId, states: ['queued'] as const, before: Number.MAX_SAFE_INTEGER, limit: 1 }
      const [listed] = await store.listOpenRuns(page)
      expect(listed).toMatchObject({ ...facts, state: 'queued', startedAt: null })
      expect(await store.getOpenRun(executionId)).toEqual(listed!)
      await store.append([{ kind: 'job-start', executionId, at: 6_000 }])
      expect(await store.getOpenRun(executionId)).toEqual({ ...listed!, state: 'running', startedAt: 6_000 })
      await store.append([logWrite(logRow(home, (await store.lastSequence()) + 1, { executionId, createdAt: 5_000 }))])
      expect(await store.getOpenRun(executionId)).toBeUndefined()
    })

    test('accepts no steps after its end', async () => {
      const { store } = here()
      const executionId = newExecutionId()
      await store.append([{ kind: 'job-step', executionId, number: 1, content: Uint8Array.of(1) }])
      expect(await store.getJobSteps(executionId)).toEqual([])
    })
  })
}
