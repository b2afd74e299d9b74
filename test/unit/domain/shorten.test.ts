import { expect, test } from 'bun:test'
import { shorten } from '../../../src/domain/text/shorten.ts'

test('a text that fits stays as it is', () => {
  expect(shorten('one two', 7)).toBe('one two')
  expect(shorten('', 7)).toBe('')
})

test('a longer text ends after a whole word, so that no secret is cut in half', () => {
  const text = 'Incorrect API key provided: sk-live-4fQz81'
  for (let max = 0; max < text.length; max += 1) {
    const short = shorten(text, max)
    expect(short).not.toContain('sk-')
    expect(short.length).toBeLessThanOrEqual(max + 1)
    expect(text).toStartWith(short.slice(0, -1))
  }
  expect(shorten('{"key":"sk-live-4fQz81"}', 15)).toBe('{"key":"…')
  expect(shorten('one two three', 7)).toBe('one two…')
  expect(shorten('x'.repeat(50), 20)).toBe('…')
})
