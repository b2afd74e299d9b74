import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Box, placesOf, sizesOf } from '../../../../src/ui/editor/canvas/geometry.ts'
import type { Document } from '../../../../src/ui/editor/document/document.ts'
import { applyEdit } from '../../../../src/ui/editor/document/edit.ts'
import { newBlock } from '../../../../src/ui/editor/document/new-block.ts'
import { withRoom } from '../../../../src/ui/editor/document/push-neighbours.ts'

const empty: Document = { name: 'Test', blocks: {}, edges: [] }
const anyType = fc.constantFrom('api', 'condition', 'loop', 'parallel')
const anyPoint = fc.record({ x: fc.integer({ min: 0, max: 900 }), y: fc.integer({ min: 0, max: 600 }) })

test('a new block overlaps no other block', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(anyType, anyPoint), { minLength: 2, maxLength: 10 }), (wanted) => {
      const document = wanted.reduce(
        (before, [type, point]) =>
          newBlock({ type, label: type }, { point }, before, sizesOf(before)).edits.reduce(applyEdit, before),
        empty,
      )
      const places = [...placesOf(document).values()]
      for (const [at, one] of places.entries()) {
        expect(places.slice(at + 1).filter((other) => overlap(one, other))).toEqual([])
      }
    }),
  )
})

function overlap(a: Box, b: Box): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
}

test('a container that grows covers none of its neighbours, also when it is inside another one', () => {
  const first = (document: Document, type: string, place: Parameters<typeof newBlock>[1]) => {
    const { edits, id } = newBlock({ type, label: type }, place, document, sizesOf(document))
    return { id, document: withRoom(document, edits, sizesOf(document)).reduce(applyEdit, document) }
  }
  fc.assert(
    fc.property(
      fc.array(fc.tuple(anyType, anyPoint), { minLength: 2, maxLength: 8 }),
      fc.array(fc.tuple(anyType, anyPoint), { minLength: 1, maxLength: 5 }),
      (outside, inside) => {
        const outer = first(empty, 'loop', { point: { x: 200, y: 200 } })
        const inner = first(outer.document, 'parallel', { point: { x: 320, y: 260 }, parentId: outer.id })
        const placed = outside.reduce(
          (before, [type, point]) => first(before, type, { point }).document,
          inner.document,
        )
        const document = inside.reduce((before, [type, { x, y }]) => {
          const point = { x: x + 320, y: y + 260 }
          return first(before, type, { point, parentId: inner.id }).document
        }, placed)
        const places = placesOf(document)
        const groups = Map.groupBy(Object.values(document.blocks), ({ parentId }) => parentId)
        for (const group of groups.values()) {
          const boxes = group.map(({ id }) => places.get(id)!)
          for (const [at, one] of boxes.entries())
            expect(boxes.slice(at + 1).filter((other) => overlap(one, other))).toEqual([])
        }
      },
    ),
  )
})

test('a container that would cover a neighbour pushes all blocks on that side, and no others', () => {
  const at = (id: string, x: number, y: number, more = {}) =>
    [id, { id, type: 'api', name: id, position: { x, y }, ...more }] as const
  const document: Document = {
    name: 'Test',
    edges: [],
    blocks: Object.fromEntries([
      at('loop', 300, 300, { type: 'loop' }),
      at('inner', 120, 60, { parentId: 'loop' }),
      at('before', 0, 300),
      at('behind', 760, 300),
      at('below', 300, 520),
      at('above', 300, 100),
      at('away', 300, 3000),
    ]),
    loops: { loop: { id: 'loop', nodes: ['inner'], loopType: 'for', iterations: 1 } },
  }
  const add = (x: number, y: number) => {
    const { edits } = newBlock(
      { type: 'api', label: 'New' },
      { point: { x, y }, parentId: 'loop' },
      document,
      sizesOf(document),
    )
    const after = withRoom(document, edits, sizesOf(document)).reduce(applyEdit, document)
    return Object.keys(document.blocks).filter((id) => after.blocks[id]!.position !== document.blocks[id]!.position)
  }
  expect(add(700, 360)).toEqual(['behind'])
  expect(add(420, 500)).toEqual(['below', 'away'])
})

test('a container that grows pushes notes as it pushes blocks, and the notes on a block that it pushes', () => {
  const note = (id: string, x: number, y: number) => [id, { id, text: id, position: { x, y } }] as const
  const document: Document = {
    name: 'Test',
    edges: [],
    blocks: {
      loop: { id: 'loop', type: 'loop', name: 'Loop', position: { x: 0, y: 0 } },
      inner: { id: 'inner', type: 'parallel', name: 'Inner', parentId: 'loop', position: { x: 120, y: 60 } },
      next: { id: 'next', type: 'loop', name: 'Next', position: { x: 1600, y: 0 } },
      low: { id: 'low', type: 'api', name: 'Low', parentId: 'loop', position: { x: 700, y: 700 } },
    },
    loops: {
      loop: { id: 'loop', nodes: ['inner', 'low'], loopType: 'for', iterations: 1 },
      next: { id: 'next', nodes: [], loopType: 'for', iterations: 1 },
    },
    parallels: { inner: { id: 'inner', nodes: [], parallelType: 'count', count: 1 } },
    notes: Object.fromEntries([
      note('on', 10, 10),
      note('inside', 560, 70),
      note('behind', 1200, 0),
      note('on next', 1640, 40),
      note('before', -400, 0),
    ]),
  }
  const sizes = sizesOf(document)
  const loop = placesOf(document).get('loop')!
  const inner = placesOf(document).get('inner')!
  document.notes!['inside']!.position.x = inner.x + inner.width + 10
  const { edits } = newBlock(
    { type: 'api', label: 'New' },
    { point: { x: inner.x + 900, y: inner.y + 100 }, parentId: 'inner' },
    document,
    sizes,
  )
  const after = withRoom(document, edits, sizes).reduce(applyEdit, document)
  const places = placesOf(after)
  const moved = (id: string) => places.get(id)!.x - placesOf(document).get(id)!.x
  expect(places.get('loop')!.width).toBeGreaterThan(loop.width)
  expect([moved('on'), moved('before')]).toEqual([0, 0])
  expect(overlap(places.get('inside')!, places.get('inner')!)).toBe(false)
  expect(moved('behind')).toBeGreaterThan(0)
  expect(overlap(places.get('behind')!, places.get('loop')!)).toBe(false)
  expect(moved('next')).toBe(moved('behind'))
  expect(moved('on next')).toBe(moved('next'))
})
