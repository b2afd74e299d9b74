import { expect, test } from 'bun:test'
import {
  objectOfType,
  shownMembers,
  shownObject,
  withMember,
} from '../../../../src/ui/editor/inspector/object-members.ts'

const schema = {
  type: 'object',
  default: { type: 'none' },
  properties: {
    type: { type: 'string', enum: ['none', 'bearer', 'signature'] },
    token: { type: 'string' },
    scheme: { type: 'string', enum: ['github', 'stripe'] },
    secret: { type: 'string' },
  },
  membersByType: { none: [], bearer: ['token'], signature: ['scheme', 'secret'] },
}

test('an object with a type has fields for the members of that type only', () => {
  const names = (type: string) => shownMembers(schema, { type }).map(([name]) => name)
  expect(['none', 'bearer', 'signature', 'other'].map(names)).toEqual([[], ['token'], ['scheme', 'secret'], []])
})

test('changing the type removes the secrets of the previous type', () => {
  expect(objectOfType(schema, { type: 'bearer', token: 'x' }, 'signature')).toEqual({
    type: 'signature',
    scheme: 'github',
  })
  expect(objectOfType(schema, { type: 'bearer', token: 'x' }, 'none')).toEqual({ type: 'none' })
})

test('emptying a member removes it, and the last one removes the object', () => {
  expect(withMember({ header: 'a' }, 'field', 'b')).toEqual({ header: 'a', field: 'b' })
  expect(withMember({ header: 'a', field: 'b' }, 'field', '')).toEqual({ header: 'a' })
  expect(withMember({ header: 'a' }, 'header', '')).toBeUndefined()
})

test('digits in a numeric member become a number, and a reference stays text', () => {
  expect(withMember({}, 'size', '12', { type: 'integer' })).toEqual({ size: 12 })
  expect(withMember({}, 'size', '<start.size>', { type: 'integer' })).toEqual({ size: '<start.size>' })
  expect(withMember({}, 'size', '12')).toEqual({ size: '12' })
})

test('an object without a type is no object', () => {
  expect(objectOfType(schema, { type: 'bearer', token: 'x' }, '')).toBeUndefined()
})

test('a value that is not an object is edited as JSON', () => {
  expect(shownObject(schema, undefined)).toEqual({ type: 'none' })
  expect(shownObject(schema, '<api.proof>')).toBeUndefined()
  expect(shownObject({ type: 'object', additionalProperties: {} }, {})).toBeUndefined()
})
