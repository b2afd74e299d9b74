import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { EnvFileError, parseEnvFile } from '../../../src/cli/support/env-file.ts'

const read = (text: string) => ({ ...parseEnvFile(text) })

test.each([
  ['A=b', 'b'],
  ['A = b', 'b'],
  ['  A=b  ', 'b'],
  ['export A=b', 'b'],
  ['A=', ''],
  ['A=b c', 'b c'],
  ['A=b # comment', 'b'],
  ['A=b#c', 'b#c'],
  ['A=#c', ''],
  ['A=b=c', 'b=c'],
  ["A='b # c'", 'b # c'],
  ['A="b # c" # d', 'b # c'],
  ['A="b\\nc\\t\\"\\\\\\$"', 'b\nc\t"\\$'],
  ['A="\\d"', '\\d'],
  ["A='b\\n'", 'b\\n'],
  ['A="b\nc"', 'b\nc'],
  ['A="it\'s"', "it's"],
  ['A=$HOME', '$HOME'],
  ['A=""', ''],
  ['A=first\nA=second', 'second'],
])('%j sets A to %j', (text, value) => {
  expect(read(text)).toEqual({ A: value })
})

test('comments, empty lines, Windows line ends and a byte order mark change nothing', () => {
  expect(read('\uFEFF# head\r\n\r\nA=b\r\n  # tail\r\nB="c"\r\n')).toEqual({ A: 'b', B: 'c' })
  expect(read('')).toEqual({})
})

test.each([
  ['A=b\nnonsense', 2, 'NAME=value'],
  ['1A=b', 1, 'NAME=value'],
  ['\n\nA="b', 3, 'has no closing quote'],
  ["A='b\nc\n", 1, 'has no closing quote'],
  ['A="b"c', 1, 'after the closing quote'],
  ['A="b\n\n"c', 3, 'after the closing quote'],
])('%j is rejected with the line of the error', (text, line, words) => {
  const error = (() => {
    try {
      return read(text)
    } catch (thrown) {
      return thrown
    }
  })()
  expect(error).toBeInstanceOf(EnvFileError)
  expect((error as EnvFileError).line).toBe(line)
  expect((error as EnvFileError).message).toContain(words)
})

test('any value in double quotes with escapes is read back unchanged', () => {
  const name = fc.stringMatching(/^[A-Za-z_][A-Za-z0-9_]{0,8}$/)
  fc.assert(
    fc.property(fc.dictionary(name, fc.string({ unit: 'binary' })), (values) => {
      const normal = Object.fromEntries(
        Object.entries(values).map(([key, value]) => [key, value.replaceAll(/\r\n?/g, '\n').replaceAll('\uFEFF', '')]),
      )
      const text = Object.entries(normal)
        .map(([key, value]) => `${key}="${value.replaceAll(/["\\$]/g, '\\$&').replaceAll('\n', '\\n')}"`)
        .join('\n')
      expect(read(text)).toEqual({ ...normal })
    }),
  )
})

test('a name from Object.prototype is a name like any other', () => {
  const values = parseEnvFile('constructor=a\n__proto__=b\n')
  expect(Object.entries(values)).toEqual([
    ['constructor', 'a'],
    ['__proto__', 'b'],
  ])
})
