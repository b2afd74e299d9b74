import { describe, expect, test } from 'bun:test'
import type { EditorPresence } from '../../../../src/store/presence-store.ts'
import type { Store } from '../../../../src/store/store.ts'

/** The contract of every store for people who have the same workflow open. */
export function presenceContract(here: () => { store: Store }): void {
  const editor = (editorId: string, more: Partial<EditorPresence> = {}): EditorPresence => ({
    ...{ workflowId: 'w1', editorId, userId: 'u1', email: 'ada@example.org', blockId: null, expiresAt: 1_000 },
    ...more,
  })
  const read = (now = 0, workflowId = 'w1') => here().store.readPresence(workflowId, now)

  describe('an open editor', () => {
    test('is listed with its workflow until it is withdrawn', async () => {
      const { store } = here()
      await store.announceEditor(editor('e1'))
      await store.announceEditor(editor('e2', { userId: 'u2', blockId: 'b1' }))
      await store.announceEditor(editor('e3', { workflowId: 'w2' }))
      expect((await read()).editors).toEqual([editor('e1'), editor('e2', { userId: 'u2', blockId: 'b1' })])
      await store.withdrawEditor('w1', 'e1')
      await store.withdrawEditor('w1', 'unknown')
      expect((await read()).editors.map(({ editorId }) => editorId)).toEqual(['e2'])
      expect((await read(0, 'w3')).editors).toEqual([])
    })

    test('keeps its position in the list when it is announced again, with its new place', async () => {
      const { store } = here()
      for (const id of ['e1', 'e2']) await store.announceEditor(editor(id))
      await store.announceEditor(editor('e1', { blockId: 'b2' }))
      expect((await read()).editors.map(({ editorId, blockId }) => [editorId, blockId])).toEqual([
        ['e1', 'b2'],
        ['e2', null],
      ])
    })

    test('is not listed after it has expired, unless it was renewed', async () => {
      const { store } = here()
      for (const id of ['e1', 'e2']) await store.announceEditor(editor(id))
      await store.announceEditor(editor('e2', { expiresAt: 2_000 }))
      expect((await read(999)).editors.length).toBe(2)
      expect((await read(1_000)).editors.map(({ editorId }) => editorId)).toEqual(['e2'])
      expect((await read(2_000)).editors).toEqual([])
    })
  })

  test('the latest note of a saved draft is read with the editors, and is forgotten with the last one', async () => {
    const { store } = here()
    const note = (revision: number) => ({ workflowId: 'w1', revision, savedAt: 5, savedBy: 'u1' })
    await store.noteDraft(note(1))
    expect((await read()).draft).toBeNull()
    await store.announceEditor(editor('e1'))
    await store.noteDraft(note(3))
    await store.noteDraft(note(2))
    expect((await read()).draft).toEqual(note(3))
    await store.withdrawEditor('w1', 'e1')
    await store.announceEditor(editor('e2'))
    expect((await read()).draft).toBeNull()
  })
}
