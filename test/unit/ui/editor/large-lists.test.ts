import { expect, test } from 'bun:test'
import { FreeNames } from '../../../../src/ui/editor/document/document.ts'
import { freshFragment } from '../../../../src/ui/editor/document/fragment.ts'
import { groupOf } from '../../../../src/ui/editor/document/group-edits.ts'
import { rowsOf } from '../../../../src/ui/editor/inspector/schema-rows.ts'
import { freeName, treeOf } from '../../../../src/ui/screens/workflows/folder-tree.ts'
import { block, document } from '../../../support/make.ts'

const count = 50_000
const many = <Item>(make: (index: number) => Item) => Array.from({ length: count }, (_, index) => make(index))
const blocks = many((index) => block(`b${index}`, 'function', {}, { name: `Name ${index}` }))

/** Each of these took more than 20 s when it searched a list for each item. */
const steps: Record<string, () => unknown> = {
  'the tree of many folders': () => {
    const root = treeOf(many((index) => ({ name: 'w', folder: `folder ${index}/inner` })))
    expect([root.folders.length, root.folders[7]?.folders[0]?.count]).toEqual([count, 1])
  },
  'a name beside many workflows': () => {
    expect(freeName('w', ['w', ...many((index) => `w ${index + 2}`)])).toBe(`w ${count + 2}`)
  },
  'the rows of a large schema': () => {
    const properties = Object.fromEntries(many((index) => [`k${index}`, { type: 'string' }]))
    const rows = rowsOf({ type: 'object', properties, required: Object.keys(properties) })
    expect([rows?.length, rows?.every(({ required }) => required)]).toEqual([count, true])
  },
  'names for many copies of one block': () => {
    const names = new FreeNames(document({ blocks: [] }))
    const taken = many(() => names.take('Same'))
    expect([taken[0], taken.at(-1), new Set(taken).size]).toEqual(['Same', `Same ${count}`, count])
  },
  'a paste beside many blocks with the same names': () => {
    const target = document({ blocks })
    let id = 0
    const fragment = { blocks: target.blocks, edges: [], loops: {}, parallels: {}, notes: {} }
    const fresh = freshFragment(fragment, target, { newId: () => `new${id++}`, by: { x: 0, y: 0 } })
    const names = Object.values(fresh.blocks).map(({ name }) => name)
    expect([names[0], new Set(names).size]).toEqual([`Name ${count}`, count])
  },
  'a group of many blocks that start together': () => {
    const edges = many((index) => `start > b${index}`)
    const all = document({ blocks: [block('start', 'function'), ...blocks], edges })
    expect(
      groupOf(
        all,
        blocks.map(({ id }) => id),
      ),
    ).not.toHaveProperty('reason')
  },
}

test.each(Object.keys(steps))('time grows with the list, and not with its square: %s', (name) => {
  const startedAt = performance.now()
  steps[name]!()
  expect(performance.now() - startedAt).toBeLessThan(3_000)
})

test('a free name continues after the number of the wanted one', () => {
  const named = (...names: string[]) =>
    document({ blocks: names.map((name, index) => block(`b${index}`, 'function', {}, { name })) })
  const names = new FreeNames(named('Call', 'Call 2', 'Call 4'))
  expect(['Call', 'Call 4', 'Call 2', 'Call', 'New', 'call 5'].map((name) => names.take(name))).toEqual([
    'Call 3',
    'Call 5',
    'Call 6',
    'Call 7',
    'New',
    'call 8',
  ])
})
