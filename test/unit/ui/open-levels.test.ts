import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { openLevels } from '../../../src/ui/parts/open-levels.ts'

/** The number of values drawn with this many open levels. */
function shownAt(value: unknown, depth: number): number {
  if (depth === 0 || typeof value !== 'object' || value === null) return 0
  const members = Object.values(value)
  return members.length + members.reduce<number>((sum, member) => sum + shownAt(member, depth - 1), 0)
}

test('opens as many levels of a value as fit the limit, and no more', () => {
  fc.assert(
    fc.property(fc.jsonValue({ maxDepth: 6 }), fc.integer({ min: 1, max: 40 }), (value, valuesMax) => {
      const depth = openLevels(value, 4, valuesMax)
      expect(depth).toBeWithin(0, 5)
      expect(shownAt(value, depth)).toBeLessThanOrEqual(valuesMax)
      if (depth < 4) expect(shownAt(value, depth + 1)).toBeGreaterThan(valuesMax)
    }),
  )
})

test('opens no level that contains too many values', () => {
  const wide = (depth: number): unknown => (depth === 0 ? 1 : Array.from({ length: 60 }, () => wide(depth - 1)))
  expect(openLevels(wide(3), 4)).toBe(1)
  expect(
    openLevels(
      Array.from({ length: 1_000_000 }, () => 1),
      2,
    ),
  ).toBe(0)
})
