import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Store } from '../../../../src/store/store.ts'
import { type WorkflowQuery, workflowSorts } from '../../../../src/store/workflow-store.ts'
import { document } from '../../make.ts'
import type { Installed } from '../installed.ts'

/** The contract of every store for lists in pages. */
export function workflowPageContract(world: () => { store: Store; home: Installed }): void {
  const fill = async (names: readonly string[]) => {
    const { store, home } = world()
    const folders = [undefined, 'a', 'a/b', '']
    for (const [n, name] of names.entries()) {
      const folder = folders[n % 4]
      const draft = document({ name, blocks: [], ...(folder === undefined ? {} : { folder }) })
      const { id } = await store.createWorkflow({
        id: null,
        workspaceId: home.workspaceId,
        document: draft,
        at: 1_100 + n,
      })
      if (n % 2 === 0) await store.deploy(id, draft, 200, home.userId)
      // Some were saved in the same millisecond.
      if (n % 4 < 2) await store.updateWorkflow(id, draft, 2_000 + (n % 3))
    }
  }

  /** The names on each page. */
  const pages = async (query: Omit<WorkflowQuery, 'workspaceId' | 'limit'>, limit: number): Promise<string[]> => {
    const { store, home } = world()
    const names: string[] = []
    let after: WorkflowQuery['after']
    for (;;) {
      const page = await store.pageWorkflows({ ...query, workspaceId: home.workspaceId, limit, after })
      expect(page.length).toBeLessThanOrEqual(limit)
      const rows = await store.listWorkflowOverviews(
        home.workspaceId,
        0,
        1,
        page.map(({ id }) => id),
      )
      const nameOf = new Map(rows.map(({ id, name }) => [id, name]))
      names.push(...page.map(({ id }) => nameOf.get(id)!))
      after = page.at(-1)
      if (page.length < limit) return names
    }
  }

  describe('a list of workflows in pages', () => {
    test('has every workflow of the query once, in its order, whatever the size of a page is', async () => {
      const { store, home } = world()
      await fill(['b', 'B', 'ä', 'Zoo', 'zoom', '100%', 'a_b', 'ZOO 2', 'c', 'd', 'e'])
      const gone = await store.createWorkflow({
        ...{ id: null, workspaceId: home.workspaceId, at: 5 },
        document: document({ name: 'gone', blocks: [] }),
      })
      await store.deleteWorkflow(gone.id, 30)
      const all = await store.listWorkflows(home.workspaceId)
      const query = fc.record({
        sort: fc.constantFrom(...workflowSorts),
        order: fc.constantFrom('asc' as const, 'desc' as const),
        folder: fc.constantFrom(undefined, null, 'a', 'a/b', 'nowhere'),
        deployedOnly: fc.boolean(),
        search: fc.constantFrom(undefined, 'zoo', 'ZO', '%', '_', 'ä', 'nothing'),
        limit: fc.constantFrom(1, 3, 100),
      })
      await fc.assert(
        fc.asyncProperty(query, async ({ limit, ...wanted }) => {
          const { sort, order, folder, deployedOnly, search } = wanted
          // The rows of `all` are in the order of their names. A stable sort by time keeps ties in order of creation.
          const createdAt = [...all].sort((a, b) => a.createdAt - b.createdAt)
          const sorted = {
            created: createdAt,
            name: all,
            updated: [...createdAt].sort((a, b) => a.updatedAt - b.updatedAt),
          }[sort]
          const kept = sorted.filter(
            ({ document: { name, folder: own }, activeVersion }) =>
              (folder === undefined || (own || null) === folder) &&
              (!deployedOnly || activeVersion !== null) &&
              (search === undefined || name.toLowerCase().includes(search.toLowerCase())),
          )
          const names = kept.map(({ document: { name } }) => name)
          expect(await pages(wanted, limit)).toEqual(order === 'asc' ? names : names.reverse())
        }),
        { numRuns: 60 },
      )
    })

    test('is empty for an unknown workspace', async () => {
      const { store } = world()
      const query = { workspaceId: 'nowhere', sort: 'name', order: 'asc', limit: 10 } as const
      expect(await store.pageWorkflows(query)).toEqual([])
    })
  })

  test('active versions are listed without documents, oldest workflow first', async () => {
    const { store, home } = world()
    const before = await store.listActiveVersions(home.workspaceId)
    // Names in the opposite order, and every other workflow is deployed.
    await fill(['e', 'd', 'c', 'b', 'a'])
    const idOf = new Map((await store.listWorkflows(home.workspaceId)).map(({ id, document: { name } }) => [name, id]))
    const added = async () => (await store.listActiveVersions(home.workspaceId)).slice(before.length)
    const versions = ['e', 'c', 'a'].map((name) => ({ workflowId: idOf.get(name)!, version: 1 }))
    expect(await added()).toEqual(versions)
    const [first, second, third] = versions
    await store.deploy(first!.workflowId, document({ name: 'e', blocks: [] }), 300, home.userId)
    await store.undeploy(second!.workflowId)
    await store.deleteWorkflow(third!.workflowId, 300)
    expect(await added()).toEqual([{ ...first!, version: 2 }])
    expect(await store.listActiveVersions('nowhere')).toEqual([])
  })

  test('an overview of a few workflows is the same as theirs in the overview of all', async () => {
    const { store, home } = world()
    await fill(['one', 'two', 'three'])
    const all = await store.listWorkflowOverviews(home.workspaceId, 40, 3)
    const few = all.filter(({ name }) => name !== 'two')
    const ids = [...few.map(({ id }) => id), 'nothing']
    expect(await store.listWorkflowOverviews(home.workspaceId, 40, 3, ids)).toEqual(few)
    expect(await store.listWorkflowOverviews(home.workspaceId, 40, 3, [])).toEqual([])
  })

  test('folders are listed with the times and the number of their own workflows', async () => {
    const { store, home } = world()
    await fill(['0', '1', '2', '3', '4', '5'])
    expect(await store.listFolders(home.workspaceId)).toEqual([
      { path: 'a', createdAt: 1_101, updatedAt: 2_002, workflows: 2 },
      { path: 'a/b', createdAt: 1_102, updatedAt: 1_102, workflows: 1 },
    ])
    expect(await store.listFolders('nowhere')).toEqual([])
  })

  test('versions are listed in pages, newest first', async () => {
    const { store, home } = world()
    const { workflowId } = home
    for (let n = 1; n <= 5; n += 1) {
      await store.deploy(workflowId, document({ name: `v${n}`, blocks: [] }), n, home.userId)
    }
    const versions = async (page: { before?: number; limit: number }) =>
      (await store.listDeployments(workflowId, page)).map(({ version }) => version)
    expect(await versions({ limit: 2 })).toEqual([5, 4])
    expect(await versions({ before: 4, limit: 2 })).toEqual([3, 2])
    expect(await versions({ before: 2, limit: 2 })).toEqual([1])
    expect(await versions({ before: 1, limit: 2 })).toEqual([])
  })
}
