import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { drawingOrder } from '../../../src/ui/editor/canvas/progressive-nodes.ts'
import type { Document } from '../../../src/ui/editor/document/document.ts'

const sight = { x: 0, y: 0, width: 1_000, height: 800 }

const place = fc.record({ x: fc.integer({ min: -4_000, max: 4_000 }), y: fc.integer({ min: -4_000, max: 4_000 }) })
const spots = fc.array(fc.record({ position: place, parent: fc.option(fc.nat(40)) }), { minLength: 1, maxLength: 40 })

/** Blocks at the given places. `parent` is the index of a block's container; containers may form a cycle. */
function placed(all: readonly { position: { x: number; y: number }; parent: number | null }[]) {
  const blocks = all.map(({ position, parent }, at) => {
    const parentId = parent === null || parent >= all.length || parent === at ? undefined : `b${parent}`
    return { id: `b${at}`, type: 'loop', name: `B${at}`, position, ...(parentId ? { parentId } : {}) }
  })
  const document: Document = {
    name: 'Any',
    blocks: Object.fromEntries(blocks.map((block) => [block.id, block])),
    edges: [],
  }
  return { document, blocks }
}

test('every block is drawn once, after its containers', () => {
  fc.assert(
    fc.property(spots, (all) => {
      const { document, blocks } = placed(all)
      const { ids, first } = drawingOrder(blocks, document, sight)
      expect(ids.toSorted()).toEqual(blocks.map(({ id }) => id).toSorted())
      expect(first).toBeLessThanOrEqual(ids.length)
      for (const { id, parentId } of blocks) {
        if (parentId && !inCircle(document, id)) expect(ids.indexOf(parentId)).toBeLessThan(ids.indexOf(id))
      }
    }),
  )
})

test('visible blocks are drawn first, then the nearest', () => {
  const row = [5, 0, 9, 1, 3].map((column) => ({ position: { x: column * 600, y: 300 }, parent: null }))
  const { document, blocks } = placed(row)
  expect(drawingOrder(blocks, document, sight)).toEqual({ ids: ['b1', 'b3', 'b4', 'b0', 'b2'], first: 2 })
})

function inCircle({ blocks }: Document, id: string): boolean {
  const passed = new Set<string>()
  for (let at: string | null | undefined = id; at; at = blocks[at]?.parentId) {
    if (passed.has(at)) return true
    passed.add(at)
  }
  return false
}
