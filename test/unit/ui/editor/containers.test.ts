import { describe, expect, test } from 'bun:test'
import type { Document } from '../../../../src/ui/editor/document/document.ts'
import { applyEdit, type Edit, openDocument } from '../../../../src/ui/editor/document/edit.ts'

describe('the start of a container', () => {
  const at = { x: 120, y: 60 }
  const inside = (id: string, parentId: string): Edit => ({
    kind: 'add',
    block: { id, type: 'wait', name: id, params: {}, parentId, position: at },
    edgeId: `edge-${id}`,
  })
  const lines = ({ edges }: Document) =>
    edges.map((edge) => `${edge.source}:${edge.sourceHandle ?? 'source'} > ${edge.target}`)
  const document = openDocument({
    name: 'Test',
    blocks: {
      l: { id: 'l', type: 'loop', name: 'L' },
      p: { id: 'p', type: 'parallel', name: 'P' },
      a: { id: 'a', type: 'wait', name: 'A' },
      b: { id: 'b', type: 'wait', name: 'B' },
    },
    edges: [{ source: 'a', target: 'b' }],
  })

  test('connects to the first block added inside, and to no second one', () => {
    const added = [inside('x', 'l'), inside('y', 'l'), inside('z', 'p')].reduce(applyEdit, document)
    expect(lines(added).slice(1)).toEqual(['l:loop-start-source > x', 'p:parallel-start-source > z'])
  })

  test('connects only once to a block added from its own port', () => {
    const edit = { ...inside('x', 'l'), from: { source: 'l', sourceHandle: 'loop-start-source' } } as Edit
    expect(lines(applyEdit(document, edit)).slice(1)).toEqual(['l:loop-start-source > x'])
  })

  test('connects to the first of the blocks moved inside, and disconnects when they are moved out', () => {
    const moved = applyEdit(document, { kind: 'nest', parentId: 'p', to: { a: at, b: at } })
    expect(lines(moved)).toEqual(['a:source > b', 'p:parallel-start-source > a'])
    const out = applyEdit(moved, { kind: 'nest', parentId: null, to: { a: at, b: at } })
    expect(lines(out)).toEqual(['a:source > b'])
  })
})
