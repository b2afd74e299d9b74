import { describe, expect, test } from 'bun:test'
import type { Store } from '../../../../src/store/store.ts'
import { block, document } from '../../make.ts'
import type { Installed } from '../installed.ts'
import { rejectionOf } from '../rejection.ts'

/** The contract of every store for the tests of workflows. */
export function workflowTestContract(here: () => { store: Store; home: Installed }): void {
  const create = async (name: string, copyOf?: string) => {
    const { store, home } = here()
    const workflow = { ...document({ blocks: [block('start', 'api_trigger')] }), name }
    const made = { id: null, workspaceId: home.workspaceId, document: workflow, at: 1, ...(copyOf && { copyOf }) }
    return (await store.createWorkflow(made)).id
  }

  describe('the tests of a workflow', () => {
    test('are returned as they were saved, with a revision that rises', async () => {
      const { store, home } = here()
      const id = await create('Tested')
      expect(await store.getTests(id)).toBeUndefined()
      expect(await store.setTests(id, { content: '["\\u0000 \u{1f600}"]', at: 5, by: home.userId })).toBe(1)
      expect(await store.setTests(id, { content: '[2]', at: 6 })).toBe(2)
      expect(await store.getTests(id)).toEqual({ content: '[2]', revision: 2, updatedAt: 6, updatedBy: null })
      expect(await store.setTests(id, { content: '["\\u0000 \u{1f600}"]', at: 7, by: home.userId })).toBe(3)
      expect(await store.getTests(id)).toMatchObject({ content: '["\\u0000 \u{1f600}"]', updatedBy: home.userId })
    })

    test('are not overwritten by a change of an earlier revision', async () => {
      const { store } = here()
      const id = await create('Tested')
      expect(await store.setTests(id, { content: '[1]', at: 5, ifRevision: 0 })).toBe(1)
      for (const ifRevision of [0, 2]) {
        const refused = await rejectionOf(store.setTests(id, { content: '[2]', at: 6, ifRevision }))
        expect(refused).toMatchObject({ code: 'CONFLICT' })
      }
      expect(await store.setTests(id, { content: '[3]', at: 6, ifRevision: 1 })).toBe(2)
      expect(await store.getTests(id)).toMatchObject({ content: '[3]', revision: 2 })
    })

    test('are copied with their workflow, and stay apart from then on', async () => {
      const { store } = here()
      const id = await create('Tested')
      await store.setTests(id, { content: '[1]', at: 5 })
      await store.setTests(id, { content: '[2]', at: 5 })
      const copy = await create('Copy', id)
      expect(await store.getTests(copy)).toMatchObject({ content: '[2]', revision: 1 })
      await store.setTests(copy, { content: '[3]', at: 6 })
      expect(await store.getTests(id)).toMatchObject({ content: '[2]' })
    })

    test('cannot be read or saved while the workflow is deleted, and return when it is restored', async () => {
      const { store } = here()
      const id = await create('Tested')
      await store.setTests(id, { content: '[1]', at: 5 })
      await store.deleteWorkflow(id, 6)
      expect(await store.getTests(id)).toBeUndefined()
      const refused = [store.setTests(id, { content: '[2]', at: 7 }), store.setTests('none', { content: '[2]', at: 7 })]
      for (const each of refused) expect(await rejectionOf(each)).toMatchObject({ code: 'NOT_FOUND' })
      await store.restoreWorkflow(id)
      expect(await store.getTests(id)).toMatchObject({ content: '[1]' })
    })
  })
}
