import { describe, expect, test } from 'bun:test'
import { newExecutionId } from '../../../../src/domain/ids.ts'
import type { ScheduleClaim } from '../../../../src/domain/run/claim.ts'
import type { NewJob } from '../../../../src/domain/run/job.ts'
import { logWrite } from '../../../../src/domain/run/write.ts'
import type { ScheduleRule } from '../../../../src/domain/schedule/schedule.ts'
import type { Address, Registrations } from '../../../../src/domain/workflow/trigger.ts'
import type { Store } from '../../../../src/store/store.ts'
import { document } from '../../make.ts'
import { type Installed, logRow } from '../installed.ts'
import { rejectionOf } from '../rejection.ts'

const day = 86_400_000

const everyMinute: ScheduleRule = {
  cron: '* * * * *',
  intervalMs: null,
  timezone: 'UTC',
  startAt: null,
  endAt: null,
  overlap: 'skip',
  missed: 'once',
  missedMax: 10,
  jitterMs: 0,
}

/** The contract of every store for the registrations of active versions. */
export function registrationContract(here: () => { store: Store; home: Installed }): void {
  const webhook = (name: string): Address => ({ kind: 'webhook', name })
  const addresses = (...names: string[]): Registrations => ({ addresses: names.map(webhook), schedule: null })
  const due = (dueAt: number | null): Registrations => ({ addresses: [], schedule: { rule: everyMinute, dueAt } })

  const jobOf = ({ workflowId, workspaceId }: Installed, more: Partial<NewJob> = {}): NewJob => ({
    executionId: newExecutionId(),
    workflowId,
    workspaceId,
    version: 1,
    trigger: 'webhook',
    createdAt: 5_000,
    startedAt: null,
    input: Uint8Array.of(1),
    ...more,
  })
  type State = readonly [dueAt: number | null, waitingAt: number | null]
  const scheduleClaim = ({ workflowId }: Installed, from: State, to: State): ScheduleClaim => {
    const state = ([dueAt, waitingAt]: State) => ({ dueAt, waitingAt })
    return { kind: 'schedule', step: { workflowId, version: 1, from: state(from), to: state(to) } }
  }
  const another = async (name: string): Promise<string> => {
    const { store, home } = here()
    const draft = document({ name, blocks: [] })
    return (await store.createWorkflow({ id: null, workspaceId: home.workspaceId, document: draft, at: 1 })).id
  }
  const deploy = (workflowId: string, registrations?: Registrations) => {
    const { store, home } = here()
    return store.deploy(workflowId, document({ blocks: [] }), 10, home.userId, registrations)
  }

  describe('an address', () => {
    test('leads to the workflow whose active version has it', async () => {
      const { store, home } = here()
      expect(await store.findAddress(webhook('a'))).toBeUndefined()
      await deploy(home.workflowId, addresses('a'))
      expect(await store.findAddress(webhook('a'))).toBe(home.workflowId)
      expect(await store.findAddress({ kind: 'chat', name: 'a' })).toBeUndefined()
      await deploy(home.workflowId, addresses('b'))
      expect(await store.findAddress(webhook('a'))).toBeUndefined()
      expect(await store.findAddress(webhook('b'))).toBe(home.workflowId)
      await store.activate(home.workflowId, 1, 20, addresses('a'))
      expect(await store.findAddress(webhook('a'))).toBe(home.workflowId)
      expect(await store.findAddress(webhook('b'))).toBeUndefined()
    })

    test('is free again when its workflow is undeployed or deleted', async () => {
      const { store, home } = here()
      await deploy(home.workflowId, addresses('a'))
      await store.undeploy(home.workflowId)
      expect(await store.findAddress(webhook('a'))).toBeUndefined()
      const second = await another('Second')
      await deploy(second, addresses('a'))
      await store.deleteWorkflow(second, 20)
      expect(await store.findAddress(webhook('a'))).toBeUndefined()
      await store.activate(home.workflowId, 1, 30, addresses('a'))
      expect(await store.findAddress(webhook('a'))).toBe(home.workflowId)
    })

    test('of another workflow causes a conflict, and nothing changes', async () => {
      const { store, home } = here()
      await deploy(home.workflowId, addresses('a'))
      const second = await another('Second')
      await deploy(second, addresses('b'))
      expect(await rejectionOf(deploy(second, addresses('c', 'a')))).toMatchObject({ code: 'CONFLICT' })
      expect(await store.listDeployments(second)).toMatchObject([{ version: 1, active: true }])
      expect(await store.findAddress(webhook('b'))).toBe(second)
      expect(await store.findAddress(webhook('c'))).toBeUndefined()
      // Each kind of address has names of its own.
      const others = [{ kind: 'chat', name: 'a' } as const, { kind: 'form', name: 'a' } as const]
      await deploy(second, { addresses: others, schedule: null })
      expect(await store.findAddress(webhook('a'))).toBe(home.workflowId)
      for (const address of others) expect(await store.findAddress(address)).toBe(second)
      const taken = deploy(home.workflowId, { addresses: [{ kind: 'form', name: 'a' }], schedule: null })
      expect(await rejectionOf(taken)).toMatchObject({
        code: 'CONFLICT',
        message: expect.stringContaining('form path'),
      })
    })
  })

  describe('a schedule', () => {
    test('is listed in order of due time while its version is active', async () => {
      const { store, home } = here()
      const second = await another('Second')
      const never = await another('Third')
      await deploy(home.workflowId, due(3_000))
      await deploy(second, due(2_000))
      await deploy(never, due(null))
      const { workflowId, workspaceId, userId: ownerId } = home
      const row = { workflowId, workspaceId, ownerId, version: 1, rule: everyMinute, dueAt: 3_000, waitingAt: null }
      expect(await store.getSchedule(workflowId)).toEqual(row)
      expect(await store.getSchedule(never)).toMatchObject({ dueAt: null })
      const listed = async (limit: number) => (await store.listDueSchedules(limit)).map((one) => one.workflowId)
      expect(await listed(10)).toEqual([second, workflowId])
      expect(await listed(1)).toEqual([second])
      await deploy(second, due(4_000))
      expect(await listed(10)).toEqual([workflowId, second])
      expect(await store.getSchedule(second)).toMatchObject({ version: 2, dueAt: 4_000 })
      await deploy(second)
      await store.undeploy(workflowId)
      expect(await listed(10)).toEqual([])
      expect(await store.getSchedule(workflowId)).toBeUndefined()
    })

    test('starts one run for a due time, however often it is claimed', async () => {
      const { store, home } = here()
      await deploy(home.workflowId, due(1_000))
      const claim = scheduleClaim(home, [1_000, null], [2_000, null])
      const rows = Array.from({ length: 3 }, () => jobOf(home, { trigger: 'schedule' }))
      const refusals = await store.append(rows.map((row) => ({ kind: 'job', row, claim })))
      expect(refusals).toEqual([
        { index: 1, executionId: null },
        { index: 2, executionId: null },
      ])
      expect(await Promise.all(rows.map(({ executionId }) => store.getJob(executionId)))).toEqual([
        expect.objectContaining({ trigger: 'schedule' }),
        undefined,
        undefined,
      ])
      expect(await store.getSchedule(home.workflowId)).toMatchObject({ dueAt: 2_000, waitingAt: null })
    })

    test('records decisions without a run, and is listed while it has a waiting run', async () => {
      const { store, home } = here()
      await deploy(home.workflowId, due(1_000))
      const wait = scheduleClaim(home, [1_000, null], [2_000, 1_000])
      expect(await store.append([{ kind: 'schedule', step: wait.step }])).toBeUndefined()
      expect(await store.append([{ kind: 'schedule', step: wait.step }])).toEqual([{ index: 0, executionId: null }])
      expect(await store.listWaitingSchedules()).toMatchObject([{ workflowId: home.workflowId, waitingAt: 1_000 }])
      const row = jobOf(home, { trigger: 'schedule' })
      const claim = scheduleClaim(home, [2_000, 1_000], [null, null])
      expect(await store.append([{ kind: 'job', row, claim }])).toBeUndefined()
      expect(await store.listWaitingSchedules()).toEqual([])
      expect(await store.listDueSchedules(10)).toEqual([])
    })

    test('refuses claims of the previous version after it was replaced or removed', async () => {
      const { store, home } = here()
      await deploy(home.workflowId, due(1_000))
      await deploy(home.workflowId, due(1_000))
      const claim = scheduleClaim(home, [1_000, null], [2_000, null])
      expect(await store.append([{ kind: 'job', row: jobOf(home), claim }])).toHaveLength(1)
      await store.undeploy(home.workflowId)
      const latest = { ...claim, step: { ...claim.step, version: 2 } }
      expect(await store.append([{ kind: 'job', row: jobOf(home), claim: latest }])).toHaveLength(1)
      expect(await store.claimQueuedJobs({ perWorkflow: 10, workflowsMax: 10, after: undefined })).toEqual([])
    })
  })

  describe('a request with an idempotency key', () => {
    const claimAt = (at: number, key = 'k') => ({ kind: 'request' as const, key, at })

    test('starts one run in 24 hours, in one group and later', async () => {
      const { store, home } = here()
      const [first, second, third] = [jobOf(home), jobOf(home), jobOf(home)]
      const claim = claimAt(1_000)
      const held = { executionId: first.executionId }
      expect(
        await store.append([
          { kind: 'job', row: first, claim },
          { kind: 'job', row: second, claim },
        ]),
      ).toEqual([{ index: 1, ...held }])
      expect(await store.append([{ kind: 'job', row: third, claim: claimAt(day) }])).toEqual([{ index: 0, ...held }])
      expect(await store.findRequestClaim(home.workflowId, 'k', day)).toBe(first.executionId)
      expect(await store.findRequestClaim(home.workflowId, 'k', day + 1_000)).toBeUndefined()
      expect(await store.append([{ kind: 'job', row: third, claim: claimAt(day + 1_000) }])).toBeUndefined()
      expect(await store.getJob(second.executionId)).toBeUndefined()
      expect(await store.findRequestClaim(home.workflowId, 'k', day + 1_000)).toBe(third.executionId)
    })

    test('is distinct by workflow: another workflow may get the same key', async () => {
      const { store, home } = here()
      const workflowId = await another('Second')
      expect(await store.append([{ kind: 'job', row: jobOf(home), claim: claimAt(1) }])).toBeUndefined()
      const other = jobOf(home, { workflowId })
      expect(await store.append([{ kind: 'job', row: other, claim: claimAt(2) }])).toBeUndefined()
    })

    test('is claimed together with the log entry of its run', async () => {
      const { store, home } = here()
      const row = logRow(home, 1)
      await store.append([logWrite(row, null, { claim: claimAt(1_000) })])
      expect(await store.findRequestClaim(home.workflowId, 'k', 2_000)).toBe(row.executionId)
      const refusals = await store.append([{ kind: 'job', row: jobOf(home), claim: claimAt(3_000) }])
      expect(refusals).toEqual([{ index: 0, executionId: row.executionId }])
    })

    test('leaves its digest and its response for repeats, and a later end of its run may add the response', async () => {
      const { store, home } = here()
      const job = jobOf(home)
      const claim = { ...claimAt(1_000), request: 'digest' }
      await store.append([{ kind: 'job', row: job, claim }])
      const held = { executionId: job.executionId, at: 1_000, request: 'digest' }
      expect(await store.findHeldRequest(home.workflowId, 'k', 2_000)).toEqual({ ...held, response: null })
      const response = new Uint8Array([1, 2, 3])
      const row = { ...logRow(home, 1), executionId: job.executionId, createdAt: 1_000 }
      await store.append([logWrite(row, null, { claim: { ...claim, response } })])
      expect(await store.findHeldRequest(home.workflowId, 'k', 2_000)).toEqual({ ...held, response })
      expect(await store.findHeldRequest(home.workflowId, 'k', day + 1_000)).toBeUndefined()
    })

    test('is free again in the commit that writes that its job failed, unless it came from a webhook', async () => {
      const { store, home } = here()
      const [keyed, hook, good] = [jobOf(home), jobOf(home), jobOf(home)]
      await store.append([
        { kind: 'job', row: keyed, claim: { ...claimAt(1, 'keyed'), request: 'digest' } },
        { kind: 'job', row: hook, claim: claimAt(1, 'hook') },
        { kind: 'job', row: good, claim: { ...claimAt(1, 'good'), request: 'digest' } },
      ])
      const ended = [keyed, hook, good].map(({ executionId }, index) => {
        const level = executionId === good.executionId ? ('info' as const) : ('error' as const)
        return logWrite({ ...logRow(home, index + 1), executionId, createdAt: 1, level })
      })
      await store.append(ended)
      expect(await store.findHeldRequest(home.workflowId, 'keyed', 2)).toBeUndefined()
      expect(await store.findHeldRequest(home.workflowId, 'hook', 2)).toMatchObject({ executionId: hook.executionId })
      expect(await store.findHeldRequest(home.workflowId, 'good', 2)).toMatchObject({ executionId: good.executionId })
    })

    test('is deleted after it has expired, when later requests arrive', async () => {
      const { store, home } = here()
      for (let index = 0; index < 10; index += 1) {
        await store.append([{ kind: 'job', row: jobOf(home), claim: claimAt(index, `old ${index}`) }])
      }
      for (let index = 0; index < 5; index += 1) {
        await store.append([{ kind: 'job', row: jobOf(home), claim: claimAt(2 * day + index, `new ${index}`) }])
      }
      // Queried as of that time, when an existing claim would still be valid.
      const found = Array.from({ length: 10 }, (_, index) =>
        store.findRequestClaim(home.workflowId, `old ${index}`, 20),
      )
      expect((await Promise.all(found)).filter((one) => one !== undefined)).toEqual([])
    })
  })

  describe('a run ID that a caller chose', () => {
    test('is claimed once, by the start that comes first', async () => {
      const { store, home } = here()
      const ids = ['run_1', 'a.b:c-D', newExecutionId()]
      for (const id of ids) {
        const claims = await Promise.all([1, 2, 3].map(() => store.claimRunId(id, 1_000)))
        expect(claims.filter((claimed) => claimed)).toHaveLength(1)
      }
      const [job, row] = [jobOf(home), logRow(home, 1)]
      await store.append([{ kind: 'job', row: job }, logWrite(row, null)])
      for (const id of [job.executionId, row.executionId]) expect(await store.claimRunId(id, 1_000)).toBe(false)
    })

    test('stays claimed when its run fails, and for a day when nothing was recorded', async () => {
      const { store, home } = here()
      await store.claimRunId('failed', 1_000)
      await store.claimRunId('never ran', 1_000)
      const row = { ...logRow(home, 1), executionId: 'failed', level: 'error' as const }
      await store.append([logWrite(row, null)])
      for (const id of ['failed', 'never ran']) expect(await store.claimRunId(id, 2_000)).toBe(false)
      await store.claimRunId('later', 2 * day)
      expect(await store.claimRunId('failed', 2 * day)).toBe(false)
      expect(await store.claimRunId('never ran', 2 * day)).toBe(true)
    })

    test('is free again when its claim is given up', async () => {
      const { store } = here()
      for (const id of ['given up', 'kept']) await store.claimRunId(id, 1_000)
      await store.releaseRunId('given up')
      expect(await store.claimRunId('given up', 1_000)).toBe(true)
      expect(await store.claimRunId('kept', 1_000)).toBe(false)
    })
  })
}
