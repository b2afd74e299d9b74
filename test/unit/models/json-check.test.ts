import { expect, test } from 'bun:test'
import { checkJson } from '../../../src/models/json-check.ts'

const strict = { additionalProperties: false }
const schema = {
  type: 'object',
  properties: {
    count: { type: 'number' },
    place: { type: 'object', properties: { city: { type: 'string', minLength: 2 } }, required: ['city'], ...strict },
    kinds: { type: 'array', items: { enum: ['a', 'b'] } },
  },
  required: ['count'],
  ...strict,
}

test.each([
  [{ count: 'x' }, 'count: Instance type "string" is invalid. Expected "number"'],
  [{ count: 1, place: { city: 'x' } }, 'place/city: String is too short (1 < 2)'],
  [{ count: 1, place: {} }, 'place: Instance does not have required property "city"'],
  [{ count: 1, kinds: ['c'] }, 'kinds/0: Instance does not match any of ["a","b"]'],
  [{ count: 1, other: 2 }, 'other: the schema does not allow it'],
  [{}, 'the value: Instance does not have required property "count"'],
])('what does not fit a strict schema is named, and why: %j', async (value, problem) => {
  expect(await checkJson(schema, value)).toBe(problem)
})

test('a valid value has no problem', async () => {
  expect(await checkJson(schema, { count: 1, place: { city: 'Rome' }, kinds: ['a'] })).toBeUndefined()
})
