import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { schemaFaults } from '../../../src/domain/workflow/json-schema-faults.ts'

const paths = (schema: unknown) => schemaFaults(schema).map(({ path }) => path)

describe('a JSON schema', () => {
  test('that is valid has no faults', () => {
    for (const schema of [
      {},
      { type: 'object', properties: { city: { type: ['string', 'null'] }, any: true }, required: ['city'] },
      { type: 'array', items: { $ref: '#/$defs/node' }, $defs: { node: { enum: ['a', 1] } }, maxItems: 3 },
      { anyOf: [{ type: 'integer', minimum: -1 }, { not: {} }], default: { type: 'nothing that counts' } },
      { properties: { type: { type: 'string' }, required: { type: 'boolean' } } },
    ]) {
      expect(schemaFaults(schema)).toEqual([])
    }
  })

  test('that is invalid has each fault reported with its place', () => {
    expect(schemaFaults({ type: 'text' })).toEqual([
      { path: 'type', message: 'Unknown type "text". Types: string, number, integer, boolean, object, array, null.' },
    ])
    expect(paths({ properties: { a: { properties: { b: { type: 'strng' } } } } })).toEqual([
      'properties.a.properties.b.type',
    ])
    expect(paths({ properties: ['a'] })).toEqual(['properties'])
    expect(paths({ properties: { a: 'string' } })).toEqual(['properties.a'])
    expect(paths({ anyOf: [{}, { items: [{ type: 7 }] }] })).toEqual(['anyOf.1.items.0.type'])
    expect(paths({ required: true, enum: 'a', minLength: -1, oneOf: [] }).toSorted()).toEqual([
      'enum',
      'minLength',
      'oneOf',
      'required',
    ])
    expect(paths([])).toEqual([''])
  })

  test('is checked completely, even if it is nested 10,000 levels deep', () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 6 }), (schema) => {
        expect(schemaFaults(schema).length).toBeLessThanOrEqual(30)
      }),
    )
    let deep: unknown = { type: 'no' }
    for (let depth = 0; depth < 10_000; depth += 1) deep = { items: deep }
    expect(schemaFaults(deep)).toHaveLength(1)
  })
})
