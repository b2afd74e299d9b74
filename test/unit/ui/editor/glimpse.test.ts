import { expect, test } from 'bun:test'
import { lineCount } from '../../../../src/ui/editor/canvas/lines/line-count.ts'
import { enlargementAt, zoomLevelAt } from '../../../../src/ui/editor/canvas/view/zoom-level.ts'
import type { BlockRun } from '../../../../src/ui/editor/run/block-run.ts'
import { glimpseOf } from '../../../../src/ui/editor/run/glimpse.ts'

test('a card shows how many items a block gave, and the first one', () => {
  expect(glimpseOf({ result: ['a', 'b', 'c'], stdout: '' })).toEqual({ items: 3, text: '3 items · “a”' })
  expect(glimpseOf({ data: [{ id: 7, name: 'x' }], status: 200 })).toEqual({ items: 1, text: '1 item · id: 7' })
  expect(glimpseOf({ results: [] })).toEqual({ items: 0, text: '0 items' })
})

test('a card shows other values in a few words', () => {
  expect(glimpseOf({ content: 'Hello' })).toEqual({ items: undefined, text: '“Hello”' })
  expect(glimpseOf({ result: 12 })?.text).toBe('12')
  expect(glimpseOf({ total: { sum: 3 }, more: 1 })?.text).toBe('total: {…}')
  expect(glimpseOf({ result: false })?.text).toBe('false')
  for (const output of [null, undefined, {}, '', { result: null }]) expect(glimpseOf(output)).toBeUndefined()
})

test('a large value is shown in at most 40 characters', () => {
  const texts = [{ result: 'x'.repeat(100_000) }, { result: { ['k'.repeat(1_000)]: 1 } }, { result: 'y'.repeat(39) }]
  for (const output of texts) expect(glimpseOf(output)!.text.length).toBeLessThanOrEqual(40)
})

const ran = (executions: number, more: Partial<BlockRun> = {}): BlockRun => ({
  ...{ status: 'success', ended: 'success', executions, failures: 0, duration: 1, reused: false, pinned: false },
  glimpse: undefined,
  ...more,
})
const only = () => true
const shared = () => false

test('a line shows the items of a list, and the number of passes in a loop', () => {
  const list = ran(1, { glimpse: { items: 4, text: '' } })
  expect(lineCount({ from: list, to: ran(1), handle: 'source', isOnly: only })?.text).toBe('4')
  expect(lineCount({ from: list, to: ran(1), handle: 'loop-end-source', isOnly: only })?.title).toBe('4 items')
  expect(lineCount({ from: ran(12), to: ran(12), handle: 'source', isOnly: only })?.text).toBe('×12')
  expect(lineCount({ from: ran(1), to: ran(3), handle: 'loop-start-source', isOnly: only })?.title).toBe('3 times')
  expect(lineCount({ from: ran(1), to: ran(1), handle: 'source', isOnly: only })).toBeUndefined()
})

test('a line shows no count that is not known to be right', () => {
  // Five of twelve passes took this branch; the others came another way.
  expect(lineCount({ from: ran(12), to: ran(5), handle: 'condition-a', isOnly: only })?.text).toBe('×5')
  expect(lineCount({ from: ran(12), to: ran(12), handle: 'condition-a', isOnly: shared })).toBeUndefined()
  expect(lineCount({ from: ran(12, { failures: 2 }), to: ran(12), handle: 'source', isOnly: shared })?.text).toBe('×10')
  expect(lineCount({ from: ran(3), to: ran(0, { status: 'skipped' }), handle: 'source', isOnly: only })).toBeUndefined()
  expect(lineCount({ from: undefined, to: ran(3), handle: 'source', isOnly: only })).toBeUndefined()
})

test('names have at least 11 pixels on the screen at every zoom, and usually less than 13', () => {
  for (let zoom = 0.05; zoom < 2; zoom *= 1.01) {
    const pixels = 13 * enlargementAt(zoom) * zoom
    expect(pixels).toBeGreaterThanOrEqual(11)
    if (zoom < 0.84) expect(pixels).toBeLessThan(12.1)
  }
  expect([2, 1, 0.5, 0.35, 0.2, 0.05].map(zoomLevelAt)).toEqual(['near', 'near', 'middle', 'far', 'farther', 'tiny'])
})
