import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { isObject } from '../../../../src/domain/run/input.ts'
import {
  accepted,
  common,
  compare,
  type Difference,
  type PatternCheck,
} from '../../../../src/domain/workflow/test-comparison.ts'

function differences(expected: unknown, actual: unknown): { found: Difference[]; patterns: PatternCheck[] } {
  const found: Difference[] = []
  const patterns: PatternCheck[] = []
  compare(expected, actual, 'output', found, patterns)
  return { found, patterns }
}
const fits = (expected: unknown, actual: unknown) => differences(expected, actual).found.length === 0

/** JSON data without objects that are matchers by chance. */
const key = fc.string({ maxLength: 4 }).filter((name) => !name.startsWith('$') && name !== '__proto__')
const { json } = fc.letrec((tie) => ({
  json: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.string({ maxLength: 5 }),
    fc.integer(),
    fc.boolean(),
    fc.constant(null),
    fc.array(tie('json'), { maxLength: 4 }),
    fc.dictionary(key, tie('json'), { maxKeys: 4 }),
  ),
}))

/** The same data with further members in every object. */
function enlarged(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(enlarged)
  if (!isObject(value)) return value
  return { ...Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, enlarged(inner)])), further: 1 }
}

describe('an expectation', () => {
  test('fits itself', () => {
    fc.assert(fc.property(json, (value) => fits(value, structuredClone(value))))
  })

  test('fits data with further members', () => {
    fc.assert(fc.property(json, (value) => fits(value, enlarged(value)) || JSON.stringify(value).includes('"further"')))
  })

  test('fits only data that agrees with each member of it', () => {
    fc.assert(
      fc.property(json, json, (expected, actual) => {
        const agrees = (one: unknown, other: unknown): boolean => {
          if (Array.isArray(one)) {
            return (
              Array.isArray(other) && one.length === other.length && one.every((each, at) => agrees(each, other[at]))
            )
          }
          if (isObject(one)) {
            return (
              isObject(other) && Object.entries(one).every(([name, value]) => agrees(value, other[name] ?? undefined))
            )
          }
          return Object.is(one, other)
        }
        // A missing member is not null.
        return fits(expected, actual) === agrees(expected, actual)
      }),
    )
  })

  test('fits the outcome after an update', () => {
    fc.assert(fc.property(json, json, (expected, actual) => fits(accepted(expected, actual, 'output'), actual)))
  })

  test('fits both runs from which it was made, if they have the same shape', () => {
    const numbers = fc.dictionary(key, fc.integer(), { maxKeys: 4 })
    fc.assert(
      fc.property(numbers, fc.func(fc.integer()), (first, change) => {
        const second = Object.fromEntries(Object.entries(first).map(([name, value]) => [name, change(value)]))
        const shared = common(first, second)
        return fits(shared, first) && fits(shared, second)
      }),
    )
  })
})

describe('matchers', () => {
  test('$any fits every value of its type and no other', () => {
    const examples = { string: 'a', number: 1, boolean: false, object: {}, array: [], null: null }
    for (const type of Object.keys(examples)) {
      for (const [actual, value] of Object.entries(examples)) {
        expect([type, actual, fits({ $any: type }, value)]).toEqual([type, actual, type === actual])
      }
    }
    expect(fits({ a: { $any: 'value' } }, { a: [1] })).toBe(true)
  })

  test('$match asks for a check of the text, and refuses other values', () => {
    expect(differences({ id: { $match: '^o-' } }, { id: 'o-1' })).toEqual({
      found: [],
      patterns: [{ path: 'output.id', pattern: '^o-', text: 'o-1' }],
    })
    expect(differences({ id: { $match: '^o-' } }, { id: 1 }).found).toHaveLength(1)
  })

  test('an object with other members beside $any is plain data', () => {
    expect(fits({ $any: 'string', more: 1 }, 'text')).toBe(false)
    expect(fits({ $any: 'string', more: 1 }, { $any: 'string', more: 1 })).toBe(true)
  })
})

test('a difference names its place', () => {
  const { found } = differences({ items: [{ id: 1 }, { id: 2 }] }, { items: [{ id: 1 }, { id: 3 }] })
  expect(found).toEqual([{ path: 'output.items[1].id', message: expect.any(String), expected: 2, actual: 3 }])
})
