import { expect, test } from 'bun:test'
import type { Block } from '../../../../src/ui/editor/document/document.ts'
import { applyEdit, mergeDrafts, openDocument } from '../../../../src/ui/editor/document/edit.ts'

const block = (id: string): [string, Block] => [
  id,
  { id, type: 'function', name: id, position: { x: 0, y: 0 }, params: {} },
]
const base = openDocument({ name: 'Two blocks', blocks: Object.fromEntries([block('a'), block('b')]), edges: [] })

test('no line leads into a block that became a trigger in the meantime', () => {
  const { document } = mergeDrafts({
    base,
    mine: applyEdit(base, { kind: 'connect', id: 'line', source: 'a', sourceHandle: 'source', target: 'b' }),
    theirs: applyEdit(base, { kind: 'convert', id: 'b', type: 'api_trigger', params: {} }),
  })
  expect(document.blocks['b']!.type).toBe('api_trigger')
  expect(document.edges).toEqual([])
})
