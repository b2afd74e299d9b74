import { expect, test } from 'bun:test'
import { escapeControls, printableJson } from '../../../src/cli/support/control-characters.ts'

test('control characters are written as escapes, except line breaks and tabs', () => {
  expect(escapeControls('\x1b]0;owned\x07\x1b[2J é 🙂')).toBe('\\u001b]0;owned\\u0007\\u001b[2J é 🙂')
  expect(escapeControls('a\nb\r\nc\td')).toBe('a\nb\r\nc\td')
  expect(escapeControls('shown\rhidden\x00\x7f\x85\x9b2J')).toBe('shown\\u000dhidden\\u0000\\u007f\\u0085\\u009b2J')
})

test('JSON stays the same value', () => {
  const value = { text: '\x1b[2J\x9b2J\x7f\n\u2028', list: [1, null] }
  const text = printableJson(value, 2)
  expect(text).not.toMatch(/(?!\n)\p{Cc}/u)
  expect(JSON.parse(text)).toEqual(value)
})
