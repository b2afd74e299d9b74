import { describe, expect, test } from 'bun:test'
import { pinBytesMax, pinsBytesMax } from '../../../../src/domain/workflow/pin.ts'
import type { Store } from '../../../../src/store/store.ts'
import { block, document } from '../../make.ts'
import type { Installed } from '../installed.ts'
import { rejectionOf } from '../rejection.ts'

/** The contract of every store for the pinned outputs of drafts. */
export function pinContract(here: () => { store: Store; home: Installed }): void {
  const pin = (blockId: string, content: number, bytes = 10) => {
    return { blockId, content: Uint8Array.of(content, 255), bytes, at: 1_000 + content }
  }
  const workflow = (ids: readonly string[], name = 'Pinned') => ({
    ...document({ blocks: [block('start', 'api_trigger'), ...ids.map((id) => block(id, 'variables'))] }),
    name,
  })
  const create = async (ids: readonly string[]) => {
    const { store, home } = here()
    const made = { id: null, workspaceId: home.workspaceId, document: workflow(ids), at: 1 }
    return (await store.createWorkflow(made)).id
  }
  const listed = async (id: string) => {
    return (await here().store.listPins(id)).map(({ blockId, content }) => [blockId, content[0]] as const)
  }

  describe('a pin', () => {
    test('replaces the earlier one of its block, and is listed until it is deleted', async () => {
      const { store } = here()
      const id = await create(['a', 'b'])
      await store.setPin(id, pin('b', 1))
      await store.setPin(id, pin('a', 2))
      await store.setPin(id, pin('b', 3))
      expect(await store.listPins(id)).toEqual([
        { blockId: 'a', content: Uint8Array.of(2, 255), updatedAt: 1_002 },
        { blockId: 'b', content: Uint8Array.of(3, 255), updatedAt: 1_003 },
      ])
      expect([await store.deletePin(id, 'a'), await store.deletePin(id, 'a')]).toEqual([true, false])
      expect(await listed(id)).toEqual([['b', 3]])
      expect(await rejectionOf(store.setPin('nothing', pin('a', 1)))).toMatchObject({ code: 'NOT_FOUND' })
    })

    test('is removed when another is set after its block was deleted', async () => {
      const { store } = here()
      const id = await create(['a', 'b'])
      await store.setPin(id, pin('a', 1))
      await store.updateWorkflow(id, workflow(['b']), 2)
      expect(await listed(id)).toEqual([['a', 1]])
      await store.setPin(id, pin('b', 2))
      expect(await listed(id)).toEqual([['b', 2]])
    })

    test('is deleted with its workflow, and copied to a workflow that is created with its pins', async () => {
      const { store, home } = here()
      const id = await create(['a'])
      await store.setPin(id, pin('a', 1))
      const made = { id: null, workspaceId: home.workspaceId, document: workflow(['a'], 'Copy'), at: 2, copyOf: id }
      const copy = (await store.createWorkflow(made)).id
      await store.deleteWorkflow(id, 3)
      expect([await listed(id), await listed(copy)]).toEqual([[], [['a', 1]]])
      expect(await rejectionOf(store.setPin(id, pin('a', 1)))).toMatchObject({ code: 'NOT_FOUND' })
    })

    test('is refused beyond the bytes of a workflow, and then changes nothing', async () => {
      const { store } = here()
      const ids = Array.from({ length: pinsBytesMax / pinBytesMax + 1 }, (_, index) => `b${index}`)
      const id = await create(ids)
      for (const each of ids.slice(1)) await store.setPin(id, pin(each, 1, pinBytesMax))
      expect(await rejectionOf(store.setPin(id, pin('b0', 1, 1)))).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' })
      await store.setPin(id, pin('b1', 1, pinBytesMax - 1))
      await store.setPin(id, pin('b0', 1, 1))
      expect(await listed(id)).toHaveLength(ids.length)
    })

    test('is sealed, and is deleted when its key is lost', async () => {
      const { store } = here()
      const id = await create(['a', 'b'])
      await store.setPin(id, pin('a', 7))
      await store.setPin(id, pin('b', 8))
      expect(await store.sealHeads(1)).toEqual([Uint8Array.of(7), Uint8Array.of(8)])
      await store.discardSealed([Uint8Array.of(7)])
      expect(await listed(id)).toEqual([['b', 8]])
    })
  })
}
