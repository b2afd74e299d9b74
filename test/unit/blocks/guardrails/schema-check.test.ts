import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { schemaFault, unknownKeywords } from '../../../../src/blocks/guardrails/schema-check.ts'
import { finish } from '../../../../src/domain/slices.ts'
import { checkJson } from '../../../../src/models/json-check.ts'

const { schema } = fc.letrec((tie) => ({
  schema: fc.oneof({ maxDepth: 3 }, tie('leaf'), tie('object'), tie('list'), tie('choice')),
  leaf: fc.oneof(
    fc.record({ type: fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', 'object', 'array') }),
    fc.record({ type: fc.constant(['string', 'null']) }),
    fc.record({
      enum: fc.array(fc.constantFrom(1, 2.5, 'abc', false, null, [1], { a: 1 }), { minLength: 1, maxLength: 3 }),
    }),
    fc.record({ const: fc.constantFrom(1, 'a', null, [1], { a: 1 }) }),
    fc.record(
      { type: fc.constant('number'), minimum: fc.integer(), maximum: fc.integer() },
      { requiredKeys: ['type'] },
    ),
    fc.record({ exclusiveMinimum: fc.integer({ max: 3 }), exclusiveMaximum: fc.integer({ min: 3 }) }),
    fc.record({ minLength: fc.nat(2), maxLength: fc.nat(3) }),
  ),
  object: fc.record(
    {
      type: fc.constant('object'),
      properties: fc.dictionary(fc.constantFrom('a', 'b'), tie('schema') as fc.Arbitrary<object>),
      required: fc.subarray(['a', 'b']),
      additionalProperties: fc.oneof(fc.boolean(), tie('leaf')),
    },
    { requiredKeys: ['type'] },
  ),
  list: fc.record({ items: tie('schema'), minItems: fc.nat(2), maxItems: fc.nat(3) }, { requiredKeys: ['items'] }),
  choice: fc.record(
    {
      anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 3 }),
      allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
    },
    { requiredKeys: ['anyOf'] },
  ),
}))
const value = fc.oneof(
  fc.constantFrom<unknown>(1, 2.5, 'a', 'abc', null, true, [], {}, [1], { a: 1 }, { a: 'a', b: 2 }, [['a'], {}]),
  fc.jsonValue({ maxDepth: 3 }),
)

test('finds a fault exactly when a complete validator does', async () => {
  let faults = 0
  await fc.assert(
    fc.asyncProperty(schema, value, async (each, given) => {
      const written = JSON.parse(JSON.stringify(each)) as Record<string, unknown>
      const json: unknown = JSON.parse(JSON.stringify(given))
      expect(unknownKeywords(written)).toEqual([])
      const fault = finish(schemaFault(written, json))
      if (fault !== undefined) faults += 1
      expect([fault, fault === undefined]).toEqual([fault, (await checkJson(written, json)) === undefined])
    }),
    { numRuns: 1_000 },
  )
  expect(faults).toBeGreaterThan(100)
})

test.each([
  [{ type: 'object', properties: { a: { items: { minimum: 2 } } } }, { a: [2, 1] }, 'a[1] must be at least 2.'],
  [{ additionalProperties: false }, { b: 1 }, 'b is not allowed.'],
  [{ anyOf: [{ type: 'string' }, { type: 'null' }] }, 1, 'The value matches none of the alternatives.'],
  [{ type: ['string', 'null'] }, 1, 'The value must be of the type string or null.'],
  [
    JSON.parse('{ "properties": { "__proto__": { "type": "string" } } }') as Record<string, unknown>,
    { a: 1 },
    undefined,
  ],
  [{ maxLength: 1 }, 'ab', 'The value must have a length of at most 1.'],
] as [Record<string, unknown>, unknown, string | undefined][])(
  'explains what does not fit: %j',
  (each, given, message) => {
    expect(finish(schemaFault(each, given))).toBe(message)
  },
)

test('pauses while it checks a large value', () => {
  const work = schemaFault({ items: { type: 'number' } }, Array.from({ length: 10_000 }).fill(1))
  let steps = 0
  while (!work.next().done) steps += 1
  expect(steps).toBeGreaterThan(9_999)
})
