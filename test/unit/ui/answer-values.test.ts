import { expect, test } from 'bun:test'
import { answerOf, canAskFor, localMinute } from '../../../src/ui/screens/waiting/answer-values.ts'

const field = (name: string, type: string) => ({
  ...{ name, type, format: null, label: null, description: null, options: [], required: false },
})

test('an answer has the values of its fields, and leaves empty texts out', () => {
  const fields = [field('why', 'string'), field('sum', 'number'), field('ok', 'boolean'), field('more', 'object')]
  expect(answerOf(fields, { why: '', sum: '4.5', more: '{"a":[1]}', other: 'x' })).toEqual({
    ...{ sum: '4.5', ok: false, more: { a: [1] } },
  })
  // The service says what is wrong with the text.
  expect(answerOf([field('more', 'array')], { more: '[1' })).toEqual({ more: '[1' })
  expect(answerOf([field('constructor', 'string')], {})).toEqual({})
})

test('the dashboard asks only for fields that it has an input for', () => {
  expect(canAskFor([field('a', 'string'), field('b', 'array')])).toBe(true)
  expect(canAskFor([field('a', 'string'), field('b', 'files')])).toBe(false)
  expect(canAskFor([{ ...field('a', 'array'), options: ['x', 'y'] }])).toBe(false)
  expect(canAskFor([{ ...field('a', 'string'), options: ['x', 'y'] }])).toBe(true)
})

test('the minute of a date input is read back as the same minute', () => {
  const at = Date.parse('2026-11-27T20:46:00Z')
  expect(new Date(localMinute(at)).getTime()).toBe(at)
})
