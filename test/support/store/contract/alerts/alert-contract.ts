// Long because it is one list: the promises about alerts.
import { describe, expect, test } from 'bun:test'
import { type AlertRule, alertBounds, receiverOf } from '../../../../../src/domain/alert/alert.ts'
import { evaluate } from '../../../../../src/domain/alert/evaluate.ts'
import type { AlertEvaluation } from '../../../../../src/domain/alert/evaluation.ts'
import { newExecutionId, newId, sequenceAt } from '../../../../../src/domain/ids.ts'
import type { LogRow } from '../../../../../src/domain/run/log.ts'
import type { NewAlert } from '../../../../../src/store/alerts/alert-store.ts'
import type { Store } from '../../../../../src/store/store.ts'
import { block, document } from '../../../make.ts'
import { appendLogs } from '../../append-logs.ts'
import { type Installed, logRow } from '../../installed.ts'
import { rejectionOf } from '../../rejection.ts'
import { newCredential } from '../credential-contract.ts'

const hour = 3_600_000

/** The contract of every store for events, alerts and event triggers. */
export function alertContract(here: () => { store: Store; home: Installed }): void {
  const start = Date.UTC(2026, 0, 1)
  let next = 0

  const newAlert = (more: Partial<NewAlert> = {}): NewAlert => ({
    ...{ id: newId(), workspaceId: here().home.workspaceId, name: 'Tell me ✓', at: start, by: here().home.userId },
    ...{ events: ['run.failed'], workflows: 'all', rule: null, quietMs: hour, active: true },
    channel: { type: 'webhook', url: 'https://example.com/hook', secret: Uint8Array.of(1, 2) },
    ...more,
  })
  const create = (more: Partial<NewAlert> = {}) => here().store.createAlert(newAlert(more))
  const workflow = async (name: string) => {
    const { store, home } = here()
    const made = document({ name, blocks: [block('start', 'api_trigger')] })
    return (await store.createWorkflow({ id: null, workspaceId: home.workspaceId, document: made, at: 1 })).id
  }
  const run = async (at: number, more: Partial<LogRow> = {}) => {
    next += 1
    const row = logRow(here().home, sequenceAt(at) + next, { startedAt: at - 10, endedAt: at, ...more })
    await appendLogs(here().store, [row])
    return row
  }
  const failure = { code: 'EXECUTION_FAILED', message: 'No ✓ route', blockId: null, blockName: null } as const
  const fail = (at: number, more: Partial<LogRow> = {}) => run(at, { level: 'error', failure, ...more })
  const read = (now: number, limit = 100) => here().store.readAlertBatch(here().home.workspaceId, now, limit)
  const write = async (evaluation: AlertEvaluation) => {
    for (const firing of evaluation.firings) {
      next += 1
      firing.sequence = sequenceAt(firing.at) + next
    }
    return (await here().store.append([{ kind: 'alerts', evaluation }])) === undefined
  }
  const evaluated = async (now: number) => {
    const evaluation = evaluate((await read(now))!, now, newExecutionId)
    expect(await write(evaluation)).toBe(true)
    return evaluation.firings
  }

  describe('alerts', () => {
    test('are returned as they were saved, changed and deleted', async () => {
      const { store, home } = here()
      const [one, two] = [await workflow('One'), await workflow('Two')]
      const rule: AlertRule = { type: 'failure_rate', percent: 50, windowMs: hour, minRuns: 3 }
      const made = await create({ workflows: [two, one], rule, events: [] })
      expect(made).toMatchObject({ name: 'Tell me ✓', workflows: [one, two], rule, events: [], delivery: null })
      expect(await store.listAlerts(home.workspaceId)).toEqual([made])
      expect(await store.getAlert(home.workspaceId, made.id)).toEqual(made)
      expect(await store.getAlert('other', made.id)).toBeUndefined()
      const url = 'https://example.org/'
      const change = { name: 'New', workflows: 'all', channel: { type: 'webhook', url }, active: false } as const
      const changed = await store.changeAlert(home.workspaceId, made.id, change, start + 1)
      const channel = { ...change.channel, secret: Uint8Array.of(1, 2) }
      expect(changed).toEqual({ ...made, ...change, channel, updatedAt: start + 1 })
      const email = { type: 'email', to: ['a@example.com'] } as const
      expect(await store.changeAlert(home.workspaceId, made.id, { channel: email }, 2)).toMatchObject({
        channel: email,
      })
      expect(await store.deleteAlert('other', made.id, 3)).toBe(false)
      expect(await store.deleteAlert(home.workspaceId, made.id, 3)).toBe(true)
      expect(await store.deleteAlert(home.workspaceId, made.id, 3)).toBe(false)
      expect(await store.listAlerts(home.workspaceId)).toEqual([])
      expect(await store.findAlerts([made.number])).toMatchObject([{ id: made.id, active: false }])
    })

    test('are refused for unknown workspaces and workflows, and beyond their number', async () => {
      const { store, home } = here()
      expect(await rejectionOf(create({ workspaceId: 'none' }))).toMatchObject({ code: 'NOT_FOUND' })
      expect(await rejectionOf(create({ workflows: ['none'] }))).toMatchObject({ code: 'INVALID_INPUT' })
      expect(await store.listAlerts(home.workspaceId)).toEqual([])
      const { id } = await create()
      const refused = store.changeAlert(home.workspaceId, id, { workflows: ['none'] }, 2)
      expect(await rejectionOf(refused)).toMatchObject({ code: 'INVALID_INPUT' })
      expect(await rejectionOf(store.changeAlert('other', id, { name: 'x' }, 2))).toMatchObject({ code: 'NOT_FOUND' })
      for (let count = 1; count < alertBounds.perWorkspaceMax; count += 1) await create()
      expect(await rejectionOf(create())).toMatchObject({ code: 'INVALID_INPUT' })
    })

    test('forget workflows that are deleted, and know them again when they are restored', async () => {
      const { store, home } = here()
      const id = await workflow('One')
      const rule: AlertRule = { type: 'no_activity', windowMs: hour }
      const alert = await create({ workflows: [id], rule, events: [] })
      await store.deleteWorkflow(id, start)
      expect(await store.getAlert(home.workspaceId, alert.id)).toMatchObject({ workflows: [] })
      expect((await store.findAlertWork(start + 2 * hour)).workspaceIds).toEqual([])
      await store.restoreWorkflow(id)
      expect(await store.getAlert(home.workspaceId, alert.id)).toMatchObject({ workflows: [id] })
    })

    test('with the rule "no activity" wait for nothing while they are switched off', async () => {
      const { store, home } = here()
      const rule: AlertRule = { type: 'no_activity', windowMs: hour }
      await create()
      const off = await create({ rule, events: [], active: false })
      const switched = await create({ rule, events: [] })
      await store.changeAlert(home.workspaceId, switched.id, { active: false }, start + 1)
      expect((await store.findAlertWork(start + 2 * hour)).workspaceIds).toEqual([])
      for (const { id } of [off, switched]) await store.changeAlert(home.workspaceId, id, { active: true }, start + 2)
      expect((await store.findAlertWork(start + 1 + hour)).workspaceIds).toEqual([])
      expect((await store.findAlertWork(start + 2 + hour)).workspaceIds).toEqual([home.workspaceId])
    })
  })

  describe('an evaluation', () => {
    test('reads nothing while nobody watches', async () => {
      const { store, home } = here()
      await fail(start)
      expect(await store.findAlertWork(start)).toEqual({ isWatched: false, hasStarts: false, workspaceIds: [] })
      expect(await read(start)).toBeUndefined()
      const { id } = await create({ active: false })
      expect((await store.findAlertWork(start)).isWatched).toBe(false)
      await store.changeAlert(home.workspaceId, id, { active: true }, start + 5)
      expect((await store.findAlertWork(start)).isWatched).toBe(true)
      await store.deleteAlert(home.workspaceId, id, start + 6)
      expect((await store.findAlertWork(start)).isWatched).toBe(false)
      // Nothing was noted for later.
      await store.noteEvent({ workspaceId: home.workspaceId, type: 'limit.reached', at: start })
      await create({ events: ['limit.reached'] })
      expect((await read(start))?.events).toEqual([])
    })

    test('sees each run after the alert once, in batches', async () => {
      const { store, home } = here()
      await fail(start - hour)
      await create()
      const rows = [await fail(start + 1), await run(start + 2), await run(start + 3, { version: -1 })]
      expect((await store.findAlertWork(start)).workspaceIds).toEqual([home.workspaceId])
      const first = (await read(start + 3, 2))!
      const fact = { workflowId: home.workflowId, error: 'No ✓ route', status: 'error', endedAt: start + 1 }
      const others = first.runs.filter(({ executionId }) => executionId !== rows[0]?.executionId)
      expect(first.runs.find(({ executionId }) => executionId === rows[0]?.executionId)).toMatchObject(fact)
      expect([first.hasMore, first.runs.length, others.length]).toEqual([true, 2, 1])
      expect(await write(evaluate(first, start + 3, newExecutionId))).toBe(true)
      const second = (await read(start + 3, 2))!
      // Runs of drafts are not told.
      expect([second.hasMore, second.runs.length]).toEqual([false, 0])
      expect(await write(evaluate(second, start + 3, newExecutionId))).toBe(true)
      expect((await store.findAlertWork(start)).workspaceIds).toEqual([])
    })

    test('is written once, with its message', async () => {
      const { store, home } = here()
      const alert = await create()
      const { executionId } = await fail(start + 1)
      const batch = (await read(start + 5))!
      const [one, other] = [evaluate(batch, start + 5, newExecutionId), evaluate(batch, start + 5, newExecutionId)]
      expect(await write(one)).toBe(true)
      expect(await write(other)).toBe(false)
      const receiver = receiverOf(alert.number)
      expect(await store.pendingSubscriptions()).toEqual([receiver])
      const [due] = await store.nextDeliveries(receiver, null, 10)
      expect(due).toMatchObject({ sequence: one.firings[0]!.sequence, dueAt: start + 5, attempts: 0 })
      const [source] = await store.readDeliveries([{ sequence: due!.sequence, include: 0 }])
      expect(source).toMatchObject({ alertId: alert.id, at: start + 5 })
      const content = JSON.parse((source as { alert: string }).alert)
      expect(content).toMatchObject({
        type: 'run.failed',
        workflowId: home.workflowId,
        executionId,
        error: 'No ✓ route',
      })
      const listed = { firedAt: start + 5, quietUntil: start + 5 + hour, suppressed: 0 }
      expect(await store.getAlert(home.workspaceId, alert.id)).toMatchObject({
        ...{ ...listed, delivery: { state: 'pending', problem: null } },
      })
      expect(await store.lastSequence()).toBe(due!.sequence)
      // It belongs to no workflow, so it is not among the webhook deliveries of one.
      const page = { workflowId: home.workflowId, state: undefined, after: undefined, limit: 10 }
      expect(await store.listDeliveries(page)).toEqual({ deliveries: [], position: null })
    })

    test('is refused when an alert has changed since its batch was read', async () => {
      const { store, home } = here()
      const { id } = await create()
      await fail(start + 1)
      const evaluation = evaluate((await read(start + 5))!, start + 5, newExecutionId)
      await store.changeAlert(home.workspaceId, id, { active: false }, start + 6)
      expect(await write(evaluation)).toBe(false)
      await store.changeAlert(home.workspaceId, id, { active: true }, start + 7)
      expect(await write(evaluation)).toBe(false)
      expect(await store.pendingSubscriptions()).toEqual([])
    })

    test('keeps what rules have counted, for each workflow that they watch', async () => {
      const { store, home } = here()
      const other = await workflow('Other')
      await create({ rule: { type: 'consecutive_failures', count: 2 }, events: [], workflows: [home.workflowId] })
      await fail(start + 1)
      await fail(start + 2, { workflowId: other })
      expect(await evaluated(start + 3)).toEqual([])
      await fail(start + 4, { workflowId: other })
      expect(await evaluated(start + 5)).toEqual([])
      await fail(start + 6)
      expect(await evaluated(start + 7)).toMatchObject([
        { content: { workflowId: home.workflowId, measured: { sum: 2 } } },
      ])
      await fail(start + 8)
      expect(await evaluated(start + 9)).toEqual([])
      expect(await store.listAlerts(home.workspaceId)).toMatchObject([{ suppressed: 1 }])
    })

    test('notices that a workflow, or all of them, have no activity', async () => {
      const { store, home } = here()
      const rule: AlertRule = { type: 'no_activity', windowMs: hour }
      const one = await create({ rule, events: [], workflows: [home.workflowId], quietMs: 10 * hour })
      const all = await create({ rule, events: [], quietMs: 10 * hour })
      await run(start + 1_000, { workflowId: await workflow('Busy') })
      await evaluated(start + 1_000)
      expect((await store.findAlertWork(start + hour - 1)).workspaceIds).toEqual([])
      expect((await store.findAlertWork(start + hour)).workspaceIds).toEqual([home.workspaceId])
      expect(await evaluated(start + hour)).toMatchObject([{ watcher: one.number, content: { type: 'no_activity' } }])
      expect(await evaluated(start + hour + 1_000)).toMatchObject([
        { watcher: all.number, content: { workflowId: null } },
      ])
      expect((await store.findAlertWork(start + 2 * hour)).workspaceIds).toEqual([])
    })

    test('sees other events once', async () => {
      const { store, home } = here()
      const { workspaceId, workflowId } = home
      await create({ events: ['approval.waiting', 'backup.overdue'], quietMs: 60_000 })
      const detail = 'Waits ✓'
      await store.noteEvent({
        workspaceId,
        type: 'approval.waiting',
        workflowId,
        executionId: 'e',
        at: start + 1,
        detail,
      })
      await store.noteEventEverywhere({ type: 'backup.overdue', at: start + 2, detail })
      const { events } = (await read(start + 2))!
      expect(events).toMatchObject([
        { type: 'approval.waiting', workflowId, executionId: 'e', at: start + 1, detail },
        { type: 'backup.overdue', workflowId: null, executionId: null, at: start + 2, detail },
      ])
      expect(await evaluated(start + 3)).toMatchObject([{ content: { type: 'approval.waiting' } }])
      expect((await store.findAlertWork(start + 3)).workspaceIds).toEqual([])
      expect(await store.listAlerts(workspaceId)).toMatchObject([{ suppressed: 1 }])
    })
  })

  describe('an event', () => {
    const types = async () => (await read(start + hour))?.events.map(({ type, workflowId }) => [type, workflowId])

    test('is noted when a version becomes active, and when a run pauses for the first time', async () => {
      const { store, home } = here()
      const { workspaceId, workflowId, userId } = home
      await create({ events: ['workflow.deployed', 'run.paused', 'approval.waiting'] })
      await store.deploy(workflowId, document({ blocks: [] }), start + 1, userId)
      const executionId = newExecutionId()
      const facts = { executionId, workflowId, workspaceId, version: 1, trigger: 'api' as const }
      const row = { ...facts, createdAt: start + 2, startedAt: start + 2, input: Uint8Array.of(1) }
      await store.append([{ kind: 'job', row }])
      const place = { place: 'p', blockId: 'b', blockName: 'Ask', since: start + 3, until: null, content: null }
      const pauses = [
        { ...place, contextId: 'one', kind: 'approval' as const },
        { ...place, contextId: 'two', kind: 'wait' as const },
      ]
      for (const _ of [1, 2]) {
        await store.append([{ kind: 'job-pause', executionId, at: start + 3, pauses, goesOn: true }])
      }
      expect((await types())?.toSorted()).toEqual([
        ['approval.waiting', workflowId],
        ['run.paused', workflowId],
        ['workflow.deployed', workflowId],
      ])
    })

    test('is noted when a person has to sign in with a credential again', async () => {
      const { store, home } = here()
      await create({ events: ['credential.needs_sign_in'] })
      const credential = newCredential(home, 'crm')
      await store.createCredential(credential)
      const change = { token: null, state: 'needs_sign_in', problem: 'Revoked ✓', expiresAt: null } as const
      await store.saveCredentialToken(credential.id, 'o', 0, { ...change, needsSignInAt: start + 1 })
      await store.saveCredentialToken(credential.id, 'o', 0, { ...change, needsSignInAt: start + 2 })
      const { events } = (await read(start + 5))!
      const detail = 'The credential "crm" needs a new sign-in. Revoked ✓'
      expect(events).toMatchObject([{ type: 'credential.needs_sign_in', at: start + 1, detail, workflowId: null }])
    })

    test('of a workflow is noted in its workspace', async () => {
      const { store, home } = here()
      await create({ events: ['limit.reached'] })
      await store.noteEvent({ type: 'limit.reached', workflowId: home.workflowId, at: start + 1 })
      await store.noteEvent({ type: 'limit.reached', workflowId: 'none', at: start + 1 })
      expect(await types()).toEqual([['limit.reached', home.workflowId]])
    })
  })

  describe('an event trigger', () => {
    const deploy = async (id: string, quietMs = hour, at = start) => {
      const events = { events: ['run.failed'], workflows: 'all', rule: null, quietMs } as const
      const made = document({ name: 'On failure', blocks: [block('start', 'event_trigger')] })
      await here().store.deploy(id, made, at, here().home.userId, { addresses: [], schedule: null, events })
    }

    test('starts a run of its workflow once', async () => {
      const { store, home } = here()
      const id = await workflow('On failure')
      await deploy(id)
      expect(await store.listAlerts(home.workspaceId)).toEqual([])
      const { executionId: cause } = await fail(start + 1)
      const [firing] = await evaluated(start + 2)
      expect((await store.findAlertWork(start)).hasStarts).toBe(true)
      const [waiting] = await store.listEventStarts(10)
      const { executionId } = firing!.start!
      expect(waiting).toMatchObject({ workflowId: id, version: 1, executionId, ownerId: home.userId, at: start + 2 })
      expect(JSON.parse(waiting!.content)).toMatchObject({ type: 'run.failed', executionId: cause })
      const facts = {
        executionId,
        workflowId: id,
        workspaceId: home.workspaceId,
        version: 1,
        trigger: 'event',
      } as const
      const row = { ...facts, createdAt: start + 3, startedAt: start + 3, input: Uint8Array.of(1) }
      const claim = { kind: 'event', sequence: waiting!.sequence } as const
      expect(await store.append([{ kind: 'job', row, claim }])).toBeUndefined()
      const again = { ...row, executionId: newExecutionId() }
      expect(await store.append([{ kind: 'job', row: again, claim }])).toMatchObject([{ index: 0, executionId: null }])
      expect(await store.getJob(executionId)).toMatchObject({ trigger: 'event' })
      expect(await store.getJob(again.executionId)).toBeUndefined()
      expect(await store.listEventStarts(10)).toEqual([])
      // When the run has ended, it is known what led to it.
      const ended = { workflowId: id, executionId, createdAt: start + 3, trigger: 'webhook', source: 'event' } as const
      await fail(start + 4, ended)
      const batch = (await read(start + 5))!
      expect(batch.chains.get(executionId)).toEqual([`run.failed@${home.workflowId}`, `run.failed@${id}`])
      expect(await write(evaluate(batch, start + 5, newExecutionId))).toBe(true)
    })

    test('starts nothing when the limits refuse a start that such an event has caused', async () => {
      const { store, home } = here()
      const ids = [await workflow('One'), await workflow('Two')]
      const events = { events: ['limit.reached'], workflows: 'all', rule: null, quietMs: 0 } as const
      const made = document({ name: 'Limits', blocks: [block('start', 'event_trigger')] })
      for (const id of ids) await store.deploy(id, made, start, home.userId, { addresses: [], schedule: null, events })
      const refuse = async (workflowId: string, at: number, executionId?: string) => {
        await store.noteEvent({ type: 'limit.reached', workflowId, at, ...(executionId && { executionId }) })
        for (const { sequence } of await store.listEventStarts(10)) await store.dropEventStart(sequence)
        expect(await store.listEventStarts(10)).toEqual([])
      }
      const started = async (at: number) => (await evaluated(at)).map((firing) => firing.start!)
      await refuse(ids[0]!, start + 1)
      const [second] = await started(start + 2)
      expect(second?.workflowId).toBe(ids[1]!)
      await refuse(ids[1]!, start + 3, second!.executionId)
      expect((await read(start + 4))!.chains.get(second!.executionId)).toEqual(second!.chain)
      expect(await started(start + 4)).toEqual([])
      // Then the chain is forgotten.
      await store.noteEvent({
        type: 'limit.reached',
        workflowId: ids[1]!,
        at: start + 5,
        executionId: second!.executionId,
      })
      expect((await read(start + 6))!.chains.size).toBe(0)
    })

    test('keeps its quiet time when a version with the same trigger is deployed, and ends with its deployment', async () => {
      const { store } = here()
      const id = await workflow('On failure')
      await deploy(id)
      await fail(start + 1)
      expect(await evaluated(start + 2)).toHaveLength(1)
      await deploy(id, hour, start + 3)
      await fail(start + 4)
      expect(await evaluated(start + 5)).toEqual([])
      await deploy(id, 2 * hour, start + 6)
      await fail(start + 7)
      expect(await evaluated(start + 8)).toHaveLength(1)
      await store.undeploy(id)
      expect(await read(start + 9)).toBeUndefined()
      const [first, second] = await store.listEventStarts(10)
      expect(await store.listEventStarts(10, first!.sequence)).toEqual([second!])
      expect(await store.listEventStarts(10, second!.sequence)).toEqual([])
      for (const { sequence } of await store.listEventStarts(10)) await store.dropEventStart(sequence)
      expect(await store.findAlertWork(start)).toEqual({ isWatched: false, hasStarts: false, workspaceIds: [] })
    })
  })
}
