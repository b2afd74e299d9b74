import { expect, test } from 'bun:test'
import { mostAtOnce } from '../../../src/store/alerts/alert-batch.ts'

const watchers = (count: number, quietMs: number) => Array.from({ length: count }, () => ({ quietMs }))

test('a batch is so small that the triggers without a quiet time fire only some thousand times', () => {
  expect(mostAtOnce(watchers(10_000, 60_000), 1_000)).toBe(1_000)
  expect(mostAtOnce(watchers(5, 0), 1_000)).toBe(1_000)
  expect(mostAtOnce([...watchers(100, 0), ...watchers(100, 1)], 1_000)).toBe(50)
  expect(mostAtOnce(watchers(100_000, 0), 1_000)).toBe(1)
})
