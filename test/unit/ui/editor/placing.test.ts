import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Box, placesOf, sizesOf } from '../../../../src/ui/editor/canvas/geometry.ts'
import type { Document } from '../../../../src/ui/editor/document/document.ts'
import { applyEdit } from '../../../../src/ui/editor/document/edit.ts'
import { newBlock } from '../../../../src/ui/editor/document/new-block.ts'

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
