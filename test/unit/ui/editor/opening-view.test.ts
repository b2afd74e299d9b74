import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { openingBlocks } from '../../../../src/ui/editor/canvas/opening-view.ts'
import type { Document } from '../../../../src/ui/editor/document/document.ts'

const phone = { width: 390, height: 760 }
const desk = { width: 1000, height: 800 }

function placed(points: readonly { x: number; y: number }[], trigger = 0): Document {
  const blocks = points.map((position, at) => {
    return { id: `b${at}`, type: at === trigger ? 'api_trigger' : 'function', name: `B${at}`, position }
  })
  return { name: 'Any', blocks: Object.fromEntries(blocks.map((block) => [block.id, block])), edges: [] }
}

describe('opening a workflow', () => {
  test('shows the whole workflow when it is readable', () => {
    expect(openingBlocks(placed([{ x: 0, y: 0 }]), phone)).toBeUndefined()
    const row = Array.from({ length: 5 }, (_, at) => ({ x: at * 300, y: 0 }))
    expect(openingBlocks(placed(row), desk)).toBeUndefined()
    expect(openingBlocks(placed([]), desk)).toBeUndefined()
  })

  test('starts at the trigger when the workflow is too wide', () => {
    const row = Array.from({ length: 8 }, (_, at) => ({ x: at * 300, y: 0 }))
    expect(openingBlocks(placed(row), phone)).toEqual(['b0', 'b1'])
    expect(openingBlocks(placed(row, 3), phone)).toEqual(['b3', 'b4'])
  })

  test('never zooms out below a readable size', () => {
    const points = fc.array(fc.record({ x: fc.integer({ min: -9_000, max: 9_000 }), y: fc.integer({ max: 4_000 }) }), {
      minLength: 1,
      maxLength: 60,
    })
    fc.assert(
      fc.property(points, (all) => {
        const document = placed(all)
        const ids = openingBlocks(document, desk) ?? Object.keys(document.blocks)
        const xs = ids.map((id) => document.blocks[id]!.position!.x)
        const ys = ids.map((id) => document.blocks[id]!.position!.y)
        expect(ids).toContain('b0')
        expect(Math.max(...xs) + 224 - Math.min(...xs)).toBeLessThanOrEqual(desk.width / 0.6)
        expect(Math.max(...ys) + 74 - Math.min(...ys)).toBeLessThanOrEqual(desk.height / 0.6)
      }),
    )
  })
})
