import { test } from 'bun:test'
import { Type as t } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import fc from 'fast-check'
import { recordOf } from '../../../src/domain/record-of.ts'

test('the values of all keys are checked, also of keys with line breaks', () => {
  const schema = recordOf(t.Number())
  const key = fc.oneof(fc.string(), fc.constantFrom('\r\n', '\n', 'a\nb', '\u2028', ''))
  fc.assert(fc.property(key, (name) => !Value.Check(schema, Object.fromEntries([[name, 'text']]))))
  fc.assert(fc.property(key, (name) => Value.Check(schema, Object.fromEntries([[name, 1]]))))
})
