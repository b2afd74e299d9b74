import { expect, test } from 'bun:test'
import { objectOfType, shownMembers, shownObject, withMember } from '../../src/ui/editor/inspector/object-members.ts'

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

test('an object with a type has fields for the members of that type, and none before there is one', () => {
  const names = (type: string) => shownMembers(schema, { type }).map(([name]) => name)
  expect(['none', 'bearer', 'signature', 'other'].map(names)).toEqual([[], ['token'], ['scheme', 'secret'], []])
})

test('another type leaves no secret of the one before', () => {
  expect(objectOfType(schema, { type: 'bearer', token: 'x' }, 'signature')).toEqual({
    type: 'signature',
    scheme: 'github',
  })
  expect(objectOfType(schema, { type: 'bearer', token: 'x' }, 'none')).toEqual({ type: 'none' })
})

test('a member that is emptied goes, and the object with its last one', () => {
  expect(withMember({ header: 'a' }, 'field', 'b')).toEqual({ header: 'a', field: 'b' })
  expect(withMember({ header: 'a', field: 'b' }, 'field', '')).toEqual({ header: 'a' })
  expect(withMember({ header: 'a' }, 'header', '')).toBeUndefined()
})

test('what is no object is left to the field for JSON', () => {
  expect(shownObject(schema, undefined)).toEqual({ type: 'none' })
  expect(shownObject(schema, '<api.proof>')).toBeUndefined()
  expect(shownObject({ type: 'object', additionalProperties: {} }, {})).toBeUndefined()
})
