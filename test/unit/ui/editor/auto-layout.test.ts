import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { sizesOf } from '../../../../src/ui/editor/canvas/geometry.ts'
import { autoLayout } from '../../../../src/ui/editor/document/auto-layout.ts'
import { type Block, type Document, isContainer } from '../../../../src/ui/editor/document/document.ts'
import { applyEdit, openDocument } from '../../../../src/ui/editor/document/edit.ts'

/** Documents whose edges lead from earlier to later blocks, some of them in containers. */
const anyDocument = fc
  .array(
    fc.record({
      type: fc.constantFrom('api', 'function', 'condition', 'loop', 'parallel'),
      parent: fc.nat(),
      inside: fc.boolean(),
      from: fc.array(fc.nat(), { maxLength: 2 }),
    }),
    { minLength: 1, maxLength: 25 },
  )
  .map((proposedEdges): Document => {
    const blocks: Block[] = []
    let document: Document = { name: 'Test', blocks: {}, edges: [] }
    for (const [at, { type, parent, inside, from }] of proposedEdges.entries()) {
      const containers = blocks.filter(isContainer)
      const parentId = inside && containers.length > 0 ? containers[parent % containers.length]!.id : undefined
      const block: Block = {
        ...{ id: `b${at}`, type, name: `Block ${at}`, position: { x: 0, y: 0 } },
        ...(parentId ? { parentId } : {}),
        params: type === 'condition' ? { conditions: [{ id: 'a', expression: '' }] } : {},
      }
      document = applyEdit(document, { kind: 'add', block, edgeId: `e${at}` })
      for (const [index, source] of from.entries()) {
        const before = blocks[source % Math.max(blocks.length, 1)]
        if (!before) continue
        const sourceHandle = before.type === 'condition' ? 'condition-a' : 'source'
        document = applyEdit(document, {
          kind: 'connect',
          id: `e${at}-${index}`,
          source: before.id,
          sourceHandle,
          target: block.id,
        })
      }
      blocks.push(block)
    }
    return document
  })

const laidOut = (document: Document) => applyEdit(document, { kind: 'move', to: autoLayout(document) })

/** Asserts that no two blocks of the same container, or of the canvas, overlap. */
function expectApart(document: Document): void {
  const sizes = sizesOf(document)
  const all = Object.values(document.blocks)
  for (const [at, a] of all.entries()) {
    for (const b of all.slice(at + 1)) {
      if ((a.parentId ?? null) !== (b.parentId ?? null)) continue
      const [pa, pb, sa, sb] = [a.position!, b.position!, sizes.get(a.id)!, sizes.get(b.id)!]
      const apart =
        pa.x + sa.width <= pb.x || pb.x + sb.width <= pa.x || pa.y + sa.height <= pb.y || pb.y + sb.height <= pa.y
      expect(apart).toBe(true)
    }
  }
}

/** Removes positions, as in a document written by a program without a canvas. */
function withoutPlaces(document: Document, isPlaced: (at: number) => boolean = () => false): Document {
  const blocks = Object.entries(document.blocks).map(
    ([id, block], at) => [id, isPlaced(at) ? block : { ...block, position: { x: 0, y: 0 } }] as const,
  )
  return { ...document, blocks: Object.fromEntries(blocks) }
}

test('tidying leaves no overlapping blocks in any workflow', () => {
  fc.assert(fc.property(anyDocument, (document) => expectApart(laidOut(document))))
})

test('a workflow whose blocks have no positions opens without overlaps', () => {
  fc.assert(fc.property(anyDocument, (document) => expectApart(openDocument(withoutPlaces(document)))))
})

test('blocks with a position keep it when others without one are placed', () => {
  fc.assert(
    fc.property(anyDocument, (document) => {
      const tidy = laidOut(document)
      const to = Object.fromEntries(
        Object.values(tidy.blocks).map(({ id, position }) => [id, { x: position!.x + 500, y: position!.y + 300 }]),
      )
      const moved = applyEdit(tidy, { kind: 'move', to })
      const opened = openDocument(withoutPlaces(moved, (at) => at % 2 === 0))
      for (const [at, [id, block]] of Object.entries(opened.blocks).entries()) {
        if (at % 2 === 0) expect(block.position).toEqual(to[id]!)
      }
    }),
  )
})

test('tidying places each block to the right of its predecessors', () => {
  fc.assert(
    fc.property(anyDocument, (document) => {
      const tidy = laidOut(document)
      const sizes = sizesOf(tidy)
      for (const { source, target } of tidy.edges) {
        const [from, to] = [tidy.blocks[source]!, tidy.blocks[target]!]
        if (to.parentId === source) continue
        expect(to.position!.x).toBeGreaterThan(from.position!.x + sizes.get(source)!.width)
      }
    }),
  )
})

test('tidying keeps blocks inside their container, below its title', () => {
  fc.assert(
    fc.property(anyDocument, (document) => {
      const tidy = laidOut(document)
      const sizes = sizesOf(tidy)
      for (const block of Object.values(tidy.blocks)) {
        if (!block.parentId) continue
        const [size, around] = [sizes.get(block.id)!, sizes.get(block.parentId)!]
        expect(block.position!.x).toBeGreaterThanOrEqual(100)
        expect(block.position!.y).toBeGreaterThanOrEqual(50)
        expect(block.position!.x + size.width).toBeLessThanOrEqual(around.width)
        expect(block.position!.y + size.height).toBeLessThanOrEqual(around.height)
      }
    }),
  )
})

test('tidying the same workflow gives the same result and keeps its edges', () => {
  fc.assert(
    fc.property(anyDocument, (document) => {
      const tidy = laidOut(document)
      expect(laidOut(structuredClone(document))).toEqual(tidy)
      expect(tidy.edges).toEqual(document.edges)
    }),
  )
})

test('a strip of 500 blocks becomes rows, and one that fits on a few screens stays a row', () => {
  const strip = (count: number): Document => ({
    name: 'Strip',
    blocks: Object.fromEntries(
      Array.from({ length: count }, (_, at) => [`b${at}`, { id: `b${at}`, type: 'wait', name: `b${at}` }]),
    ),
    edges: Array.from({ length: count - 1 }, (_, at) => ({ source: `b${at}`, target: `b${at + 1}` })),
  })
  const boundsOf = (count: number) => {
    const places = Object.values(autoLayout(strip(count)))
    const right = Math.max(...places.map(({ x }) => x)) + 224
    return { ratio: right / (Math.max(...places.map(({ y }) => y)) + 85), rows: new Set(places.map(({ y }) => y)).size }
  }
  expect(boundsOf(15).rows).toBe(1)
  const { rows, ratio } = boundsOf(500)
  expect(rows).toBeGreaterThan(10)
  expect(ratio).toBeGreaterThan(1)
  expect(ratio).toBeLessThan(3)
})
