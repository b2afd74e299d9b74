import { expect, test } from 'bun:test'
import { didYouMean, editDistance, nearest } from '../../../src/cli/support/nearest.ts'

const commands = ['serve', 'init', 'keys', 'workflows', 'run', 'config', 'doctor', 'version']

test.each([
  ['sevre', 'serve'],
  ['srve', 'serve'],
  ['workflow', 'workflows'],
  ['work', 'workflows'],
  ['confg', 'config'],
  ['key', 'keys'],
  ['rnu', 'run'],
])('the suggestion for %s is %s', (wanted, name) => {
  expect(nearest(wanted, commands)).toBe(name)
})

test('a word that is unlike every name has no suggestion', () => {
  expect(nearest('deploy', commands)).toBeUndefined()
  expect(nearest('', commands)).toBeUndefined()
  expect(didYouMean('xyzzy', commands)).toBe('')
  expect(didYouMean('doktor', commands)).toBe(' Did you mean "doctor"?')
})

test('the distance counts insertions, removals, replacements and swaps', () => {
  expect(editDistance('', 'abc')).toBe(3)
  expect(editDistance('abc', '')).toBe(3)
  expect(editDistance('abc', 'acb')).toBe(1)
  expect(editDistance('abc', 'abd')).toBe(1)
  expect(editDistance('kitten', 'sitting')).toBe(3)
})
