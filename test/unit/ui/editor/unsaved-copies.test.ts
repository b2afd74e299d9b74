import { expect, test } from 'bun:test'
import type { Document } from '../../../../src/ui/editor/document/document.ts'
import { UnsavedCopies } from '../../../../src/ui/editor/save/unsaved-copies.ts'
import { forgetKeptDrafts } from '../../../../src/ui/shell/kept-drafts.ts'

/** The browser's storage, which Bun does not have. */
class MemoryStorage implements Storage {
  readonly #items = new Map<string, string>()
  get length(): number {
    return this.#items.size
  }
  key = (at: number) => [...this.#items.keys()][at] ?? null
  getItem = (key: string) => this.#items.get(key) ?? null
  setItem = (key: string, value: string) => void this.#items.set(key, value)
  removeItem = (key: string) => void this.#items.delete(key)
  clear = () => this.#items.clear()
}

const owner = { userId: 'ada', workflowId: 'w1' }
const base: Document = {
  name: 'One',
  blocks: { a: { id: 'a', type: 'function', name: 'A', params: { code: 'old' } } },
  edges: [],
}
const document: Document = { ...base, blocks: { a: { ...base.blocks['a']!, params: { code: 'new' } } } }
const copy = { base, document, revision: 3 }

test('a copy comes back with the document that it was based on', () => {
  const storage = new MemoryStorage()
  new UnsavedCopies(storage, owner).keeper('tab', () => 7).keep(copy)
  expect(new UnsavedCopies(storage, owner).list()).toMatchObject([{ keptAt: 7, revision: 3, base, document }])
})

test('a copy belongs to one account and one workflow', () => {
  const storage = new MemoryStorage()
  new UnsavedCopies(storage, owner).keeper('tab', () => 7).keep(copy)
  expect(new UnsavedCopies(storage, { ...owner, userId: 'bob' }).list()).toEqual([])
  expect(new UnsavedCopies(storage, { ...owner, workflowId: 'w2' }).list()).toEqual([])
})

test('a copy ends when it is saved, discarded, or the user signs out', () => {
  const storage = new MemoryStorage()
  const copies = new UnsavedCopies(storage, owner)
  const [first, second, third] = ['1', '2', '3'].map((id) => copies.keeper(id, () => Number(id)))
  for (const keeper of [first, second, third]) keeper?.keep(copy)
  first?.clear()
  expect(copies.list().map(({ keptAt }) => keptAt)).toEqual([3, 2])
  copies.discard(copies.list()[0]!)
  expect(copies.list().map(({ keptAt }) => keptAt)).toEqual([2])
  storage.setItem('theme', 'dark')
  forgetKeptDrafts(storage)
  expect([copies.list(), storage.getItem('theme')]).toEqual([[], 'dark'])
})

test('copies are limited in number and size, and an unreadable one is removed', () => {
  const storage = new MemoryStorage()
  const copies = new UnsavedCopies(storage, owner)
  for (const at of [5, 1, 3, 4, 2, 6]) copies.keeper(`tab ${at}`, () => at).keep(copy)
  expect(copies.list().map(({ keptAt }) => keptAt)).toEqual([6, 5, 4, 3])
  const large = { ...document, description: 'x'.repeat(1_000_000) }
  copies.keeper('large', () => 9).keep({ ...copy, document: large })
  expect(copies.list().length).toBe(4)
  storage.setItem('millrace.unsaved.ada.w1.broken', '{')
  expect(copies.list().length).toBe(4)
  expect(storage.getItem('millrace.unsaved.ada.w1.broken')).toBeNull()
})
