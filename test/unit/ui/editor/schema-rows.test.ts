import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { rowsOf, type SchemaRow, schemaOf } from '../../../../src/ui/editor/inspector/schema-rows.ts'

const anyRow: fc.Arbitrary<SchemaRow> = fc
  .record({
    name: fc.stringMatching(/^[a-z][a-z_]{0,8}$/),
    type: fc.constantFrom('string', 'number', 'integer', 'boolean', 'object', 'string[]', 'number[]', 'object[]'),
    description: fc.option(fc.string({ minLength: 1 }), { nil: undefined }),
    required: fc.boolean(),
  })
  .map(({ description, ...row }) => ({ ...row, ...(description === undefined ? {} : { description }) }) as SchemaRow)

describe('rows of a schema', () => {
  test('are restored from the schema they produce', () => {
    fc.assert(
      fc.property(fc.uniqueArray(anyRow, { selector: ({ name }) => name, maxLength: 8 }), (rows) => {
        expect(rowsOf(schemaOf(rows))).toEqual(rows)
      }),
    )
    const choice: SchemaRow = { name: 'unit', type: 'enum', choices: ['km', 'mi'], required: true }
    expect(rowsOf(schemaOf([choice]))).toEqual([choice])
    expect(schemaOf([])).toBeUndefined()
    expect(rowsOf(undefined)).toEqual([])
  })

  test('are undefined for a schema they cannot express, so that nothing is lost', () => {
    for (const schema of [
      'text',
      { type: 'array', items: {} },
      { type: 'object', properties: { a: { type: 'string', maxLength: 3 } } },
      { type: 'object', properties: { a: { type: 'object', properties: {} } } },
      { type: 'object', properties: { a: { enum: [1] } } },
      { type: 'object', properties: { a: {} } },
      { type: 'object', properties: {}, required: ['a'] },
      { type: 'object', properties: {}, additionalProperties: true },
      { type: 'object', properties: {}, $defs: {} },
    ]) {
      expect(rowsOf(schema)).toBeUndefined()
    }
  })
})
