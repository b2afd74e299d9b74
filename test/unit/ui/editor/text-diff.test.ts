import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { foldLines, textDiff } from '../../../../src/ui/editor/document/text-diff.ts'

const side = (lines: ReturnType<typeof textDiff>, other: 'added' | 'removed') =>
  lines
    .filter(({ kind }) => kind !== other)
    .map(({ text }) => text)
    .join('\n')

test('the lines of a diff are the lines of both texts, in their order', () => {
  const text = fc.array(fc.constantFrom('a', 'b', '', '}', 'c'), { maxLength: 30 }).map((lines) => lines.join('\n'))
  fc.assert(
    fc.property(text, text, (before, after) => {
      const lines = textDiff(before, after)
      expect([side(lines, 'added'), side(lines, 'removed')]).toEqual([before, after])
      if (before === after) expect(lines.every(({ kind }) => kind === 'same')).toBe(true)
    }),
    { numRuns: 500 },
  )
})

test('a changed line is removed and added; the others stay', () => {
  const marks = { same: ' ', added: '+', removed: '-' }
  const shown = textDiff('const a = 1\nreturn a', 'const a = 2\nreturn a').map(({ kind, text }) => marks[kind] + text)
  expect(shown).toEqual(['-const a = 1', '+const a = 2', ' return a'])
})

test('two long texts without a common line are compared within a second', () => {
  const long = (mark: string) => Array.from({ length: 50_000 }, (_, at) => `${mark} ${at}`).join('\n')
  const started = performance.now()
  const lines = textDiff(`first\n${long('a')}\nlast`, `first\n${long('b')}\nlast`)
  expect(performance.now() - started).toBeLessThan(2_000)
  expect([lines.length, lines[0]?.kind, lines.at(-1)?.kind]).toEqual([100_002, 'same', 'same'])
})

test('lines far from any change are folded, and counted', () => {
  const before = Array.from({ length: 20 }, (_, at) => `line ${at}`).join('\n')
  const folded = foldLines(textDiff(before, before.replace('line 10', 'other')), 2)
  expect(folded.map((line) => (line.kind === 'folded' ? line.count : line.text))).toEqual([
    ...[8, 'line 8', 'line 9', 'line 10', 'other', 'line 11', 'line 12', 7],
  ])
  expect(foldLines(textDiff('a\nb', 'a\nb'))).toEqual([{ kind: 'folded', count: 2 }])
})
