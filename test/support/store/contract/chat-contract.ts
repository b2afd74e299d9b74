import { describe, expect, test } from 'bun:test'
import { sequenceAt } from '../../../../src/domain/ids.ts'
import type { ChatWrite } from '../../../../src/domain/run/write.ts'
import type { Store } from '../../../../src/store/store.ts'
import type { Installed } from '../installed.ts'

/** The contract of every store for chats. */
export function chatContract(here: () => { store: Store; home: Installed }): void {
  const turn = (content: number, more: Partial<ChatWrite> = {}): ChatWrite => ({
    kind: 'chat',
    workflowId: here().home.workflowId,
    conversationId: 'c1',
    at: 1_000 + content,
    kept: 3,
    content: Uint8Array.of(content, 255),
    ...more,
  })
  const listed = async (conversationId = 'c1', limit = 10) => {
    const { store, home } = here()
    return (await store.listTurns(home.workflowId, conversationId, limit)).map(([first]) => first)
  }

  describe('a conversation', () => {
    test('lists its own latest exchanges, oldest first', async () => {
      const { store, home } = here()
      await store.append([turn(1), turn(2), turn(9, { conversationId: 'c2' })])
      expect(await store.listTurns(home.workflowId, 'c1', 1)).toEqual([Uint8Array.of(2, 255)])
      for (const each of [3, 4, 5]) await store.append([turn(each)])
      expect(await listed()).toEqual([3, 4, 5])
      expect(await listed('c1', 2)).toEqual([4, 5])
      expect(await listed('c2')).toEqual([9])
      expect(await listed('c3')).toEqual([])
    })

    test('is not recorded for a deleted workflow', async () => {
      const { store, home } = here()
      await store.append([turn(1, { workflowId: 'nothing' })])
      await store.deleteWorkflow(home.workflowId, 5)
      await store.append([turn(2)])
      expect(await listed()).toEqual([])
    })

    test('is sealed, and is deleted when its key is lost', async () => {
      const { store } = here()
      await store.append([turn(7), turn(8, { conversationId: 'c2' })])
      expect(await store.sealHeads(1)).toEqual([Uint8Array.of(7), Uint8Array.of(8)])
      await store.discardSealed([Uint8Array.of(7)])
      expect([await listed(), await listed('c2')]).toEqual([[], [8]])
    })

    test('is deleted together with the log entries of its time', async () => {
      const { store } = here()
      const recently = Date.UTC(2026, 0, 2)
      const before = Date.UTC(2026, 0, 1)
      await store.append([turn(1, { at: before - 1 }), turn(2, { at: recently })])
      for (let done = false; !done; ) {
        ;({ done } = await store.retain({ before: sequenceAt(before), bytesMax: 1e12, workMs: 0 }))
      }
      expect(await listed()).toEqual([2])
      // Nothing else is left that could go.
      while (!(await store.retain({ before: 0, bytesMax: 1, workMs: 1 })).done) {}
      expect(await listed()).toEqual([])
    })
  })
}
