import { expect, test } from 'bun:test'
import { questionTop } from '../../../../src/ui/editor/canvas/questions/question-top.ts'

test('a question never covers the blocks where there is room above or below them, and stays on the canvas', () => {
  const own = 180
  for (const height of [300, 420, 600, 850]) {
    for (let top = -200; top < height + 200; top += 7) {
      const bottom = top + 85
      const at = questionTop({ top, bottom }, own, height)
      expect(at).toBeGreaterThanOrEqual(12)
      expect(at + own).toBeLessThanOrEqual(height - 12)
      const hasRoom = top >= own + 60 || bottom <= height - own - 60
      if (hasRoom) expect(at >= bottom || at + own <= top).toBe(true)
    }
  }
})

test('a question begins at the top of a canvas that is lower than the question', () => {
  expect(questionTop({ top: 20, bottom: 105 }, 180, 120)).toBe(12)
})
