import { describe, expect, test } from 'bun:test'
import type { ScheduleRule } from '../../src/domain/schedule.ts'
import type { Address, Registrations } from '../../src/domain/trigger.ts'
import type { Store } from '../../src/store/store.ts'
import { document } from '../make.ts'
import type { Installed } from './installed.ts'
import { rejectionOf } from './rejection.ts'

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

/** What every store promises of what active versions register. */
export function registrationContract(here: () => { store: Store; home: Installed }): void {
  const webhook = (name: string): Address => ({ kind: 'webhook', name })
  const addresses = (...names: string[]): Registrations => ({ addresses: names.map(webhook), schedule: null })
  const due = (dueAt: number | null): Registrations => ({ addresses: [], schedule: { rule: everyMinute, dueAt } })

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

    test('that another workflow has is a conflict, and nothing is changed', async () => {
      const { store, home } = here()
      await deploy(home.workflowId, addresses('a'))
      const second = await another('Second')
      await deploy(second, addresses('b'))
      expect(await rejectionOf(deploy(second, addresses('c', 'a')))).toMatchObject({ code: 'CONFLICT' })
      expect(await store.listDeployments(second)).toMatchObject([{ version: 1, active: true }])
      expect(await store.findAddress(webhook('b'))).toBe(second)
      expect(await store.findAddress(webhook('c'))).toBeUndefined()
      await deploy(second, { addresses: [{ kind: 'chat', name: 'a' }], schedule: null })
      expect(await store.findAddress(webhook('a'))).toBe(home.workflowId)
    })
  })

  describe('a schedule', () => {
    test('is listed by the time that it is due, while its version is active', async () => {
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
  })
}
