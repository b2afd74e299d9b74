import { describe, expect, test } from 'bun:test'
import { sequenceAt } from '../../../../src/domain/ids.ts'
import type { Cost } from '../../../../src/domain/run/cost.ts'
import type { Store } from '../../../../src/store/store.ts'
import { document } from '../../make.ts'
import { appendLogs } from '../append-logs.ts'
import { type Installed, logRow } from '../installed.ts'
import { rejectionOf } from '../rejection.ts'

/** The contract of every store for the dashboard's queries. */
export function dashboardContract(world: () => { store: Store; home: Installed }): void {
  const create = (name: string, folder?: string) => {
    const { store, home } = world()
    const draft = document({ name, blocks: [], ...(folder === undefined ? {} : { folder }) })
    return store.createWorkflow({ id: null, workspaceId: home.workspaceId, document: draft, by: home.userId, at: 10 })
  }

  describe('a workflow overview', () => {
    test('shows the facts of each workflow without its document', async () => {
      const { store, home } = world()
      const { id } = await create('Ada', 'a/b')
      await store.deploy(id, document({ name: 'Ada', blocks: [] }), 20, home.userId)
      await store.deleteWorkflow((await create('Gone')).id, 30)
      const overviews = await store.listWorkflowOverviews(home.workspaceId, 40, 3)
      expect(overviews.map(({ name }) => name)).toEqual(['Ada', 'Test workflow'])
      expect(overviews[0]).toEqual({
        ...{ id, name: 'Ada', description: null, folder: 'a/b', createdAt: 10, updatedAt: 10, revision: 1 },
        ...{ updatedBy: `${home.userId}@example.org`, activeVersion: 1, deployedAt: 20, hasChanges: false },
        ...{ lastRun: null, runs: [0, 0, 0], errors: [0, 0, 0] },
      })
      expect(await store.listWorkflowOverviews('nowhere', 40, 3)).toEqual([])
    })

    test('shows the last run, and counts runs by hour', async () => {
      const { store, home } = world()
      const at = Date.UTC(2025, 5, 1, 12)
      const run = (n: number, minutes: number, level: 'info' | 'error') =>
        logRow(home, sequenceAt(at + 600_000) + n, { startedAt: at + minutes * 60_000, level })
      const rows = [
        run(1, -150, 'info'),
        run(2, -61, 'error'),
        run(3, -1, 'error'),
        run(4, 5, 'info'),
        run(5, 0, 'error'),
      ]
      await appendLogs(store, rows)
      const [overview] = await store.listWorkflowOverviews(home.workspaceId, at + 600_000, 3)
      expect(overview).toMatchObject({ runs: [1, 1, 2], errors: [1, 1, 1] })
      expect(overview?.lastRun).toMatchObject({
        sequence: rows[4]?.sequence,
        level: 'error',
        executionId: rows[4]?.executionId,
      })
    })
  })

  test('a folder moves with its subfolders, and other folders stay', async () => {
    const { store, home } = world()
    const folders = { A: 'a', B: 'a/b', C: 'ab', D: 'c/a' }
    for (const [name, folder] of Object.entries(folders)) await create(name, folder)
    const move = (from: string, to: string | null) => store.moveFolder(home.workspaceId, from, to, 50, home.userId)
    const now = async () => {
      const rows = await store.listWorkflows(home.workspaceId)
      return Object.fromEntries(rows.map(({ document: { name, folder } }) => [name, folder]))
    }
    expect(await move('a', 'x/y')).toBe(2)
    expect(await now()).toMatchObject({ A: 'x/y', B: 'x/y/b', C: 'ab', D: 'c/a' })
    expect(await move('x', null)).toBe(2)
    expect(await now()).toMatchObject({ A: 'y', B: 'y/b' })
    await move('y', null)
    expect(await now()).toMatchObject({ A: undefined, B: 'b', C: 'ab', D: 'c/a' })
    expect(await move('%', 'z')).toBe(0)
    const [moved] = (await store.listWorkflows(home.workspaceId)).filter(({ document: { name } }) => name === 'B')
    expect(moved).toMatchObject({ revision: 4, updatedAt: 50, updatedBy: home.userId })
  })

  describe('a deleted workflow', () => {
    test('is listed, and can be restored without its deployment', async () => {
      const { store, home } = world()
      const { id, document: draft } = await create('A')
      await store.deploy(id, draft, 20, home.userId)
      await store.deleteWorkflow(id, 30)
      const deleted = { id, workspaceId: home.workspaceId, deletedAt: 30, version: 1, document: draft }
      expect(await store.listDeletedWorkflows(home.workspaceId, 10)).toEqual([deleted])
      expect(await store.findDeletedWorkflow(id)).toEqual(deleted)
      await store.restoreWorkflow(id)
      expect(await store.getWorkflow(id)).toMatchObject({ document: draft, activeVersion: null, hasChanges: false })
      expect(await store.listDeletedWorkflows(home.workspaceId, 10)).toEqual([])
      expect(await rejectionOf(store.restoreWorkflow(id))).toMatchObject({ code: 'NOT_FOUND' })
      expect(await store.findDeletedWorkflow(id)).toBeUndefined()
    })

    test('cannot be restored while another workflow has its name', async () => {
      const { store } = world()
      const { id } = await create('A')
      await store.deleteWorkflow(id, 30)
      await create('A')
      expect(await rejectionOf(store.restoreWorkflow(id))).toMatchObject({ code: 'CONFLICT' })
      expect(await store.findDeletedWorkflow(id)).toBeDefined()
    })
  })

  test('model costs are listed by day and model for the owner of the workspace', async () => {
    const { store, home } = world()
    const day = Date.UTC(2025, 5, 1)
    const tokens = (prompt: number, completion: number) => ({ prompt, completion, total: prompt + completion })
    const spent = (total: number) => ({ input: total, output: 0, total, tokens: tokens(10, 5) })
    const row = (n: number, endedAt: number, models: Record<string, number>) => {
      const of = Object.fromEntries(Object.entries(models).map(([name, total]) => [name, spent(total)]))
      const costTotal = Object.values(models).reduce((sum, total) => sum + total, 0)
      const cost: Cost = { total: costTotal, tokens: tokens(10, 5), models: of }
      return logRow(home, n, { endedAt, costTotal, models: Object.keys(models), cost: JSON.stringify(cost) })
    }
    const rows = [row(1, day, { a: 1 }), row(2, day + 1, { a: 2, b: 4 }), row(3, day + 86_400_000, { a: 8 })]
    await appendLogs(store, [...rows, logRow(home, 4, { endedAt: day })])
    const used = (model: string, runs: number, cost: number, at = day) => {
      return { day: at, model, runs, cost, promptTokens: 10 * runs, completionTokens: 5 * runs }
    }
    const all = [used('a', 2, 3), used('b', 1, 4), used('a', 1, 8, day + 86_400_000)]
    expect(await store.listModelUsage(home.userId, day)).toEqual(all)
    expect(await store.listModelUsage(home.userId, day + 1)).toEqual(all.slice(2))
    expect(await store.listModelUsage('nobody', 0)).toEqual([])
  })
}
