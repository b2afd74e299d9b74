import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { AppError } from '../../../src/domain/errors.ts'
import { findJsonExcess, readJson } from '../../../src/domain/text/json.ts'
import { findJsonFault } from '../../../src/domain/text/json-fault.ts'

function refusal(text: string, depthMax?: number): AppError {
  try {
    readJson(text, depthMax === undefined ? {} : { depthMax })
  } catch (error) {
    if (error instanceof AppError) return error
    throw error
  }
  throw new Error('The text was accepted')
}

const nested = (levels: number, inner = '') => '['.repeat(levels) + inner + ']'.repeat(levels)

describe('reading JSON from outside', () => {
  test('returns the same values as JSON.parse', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.constantFrom(undefined, 1, '\t'), (value, indent) => {
        const text = JSON.stringify(value, null, indent)
        expect(readJson(text)).toEqual(JSON.parse(text))
      }),
    )
  })

  test('accepts 200 levels of nesting and rejects 201, whatever is inside', () => {
    for (const inner of ['', '1', '"]]]]"', '"\\"]"', `"${'\\\\'.repeat(9)}"`]) {
      expect(() => readJson(nested(200, inner))).not.toThrow()
      expect(refusal(nested(201, inner)).code).toBe('INVALID_JSON')
    }
    expect(refusal(`{"a":${nested(200)}}`).message).toBe(
      'The body is nested deeper than 200 levels, which is the limit.',
    )
  })

  test('rejects half a million levels without a stack overflow', () => {
    expect(refusal(nested(500_000)).code).toBe('INVALID_JSON')
    expect(refusal('{"a":'.repeat(500_000)).code).toBe('INVALID_JSON')
  })

  test('counts the same number of levels as a walk over the parsed value', () => {
    const depthOf = (value: unknown): number =>
      typeof value === 'object' && value !== null
        ? 1 + Math.max(0, ...Object.values(value as Record<string, unknown>).map(depthOf))
        : 0
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 12 }), fc.nat(12), (value, levels) => {
        // The padding avoids the fast path for short texts.
        const text = JSON.stringify(value) + ' '.repeat(100)
        expect(findJsonExcess(text, levels)).toBe(depthOf(value) > levels ? 'depth' : undefined)
      }),
    )
  })

  test('counts every value, and at most each empty list and object twice', () => {
    const valuesIn = (value: unknown): number =>
      typeof value === 'object' && value !== null
        ? 1 + Object.values(value).reduce((sum: number, each: unknown) => sum + valuesIn(each), 0)
        : 1
    const emptyIn = (value: unknown): number =>
      typeof value === 'object' && value !== null
        ? Object.values(value).reduce((sum: number, each: unknown) => sum + emptyIn(each), 0) +
          (Object.keys(value).length === 0 ? 1 : 0)
        : 0
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const text = JSON.stringify(value) + ' '.repeat(1_000)
        const values = valuesIn(value)
        expect(findJsonExcess(text, 200, values + emptyIn(value))).toBeUndefined()
        if (values > 1) expect(findJsonExcess(text, 200, values - 1)).toBe('values')
      }),
    )
  })

  test('rejects too many values before parsing them, and names the setting', () => {
    const values = { max: 1_000, setting: 'MILLRACE_BODY_VALUES_MAX' }
    const list = (length: number) => `[${Array(length).fill('0').join()}]`
    expect(readJson(list(999), { values })).toHaveLength(999)
    expect(() => readJson(list(1_000), { values })).toThrow(
      'The body has more than 1000 values, the most that MILLRACE_BODY_VALUES_MAX allows.',
    )
    // The rest is not even read: it would be invalid.
    expect(() => readJson(`${list(1_000)}!`, { values })).toThrow('1000 values')
  })

  test('does not count brackets inside strings', () => {
    const value = { a: '[[[[{{{{"\\', b: ['}}}}]]]]\\"'], c: '\\' }
    expect(readJson(JSON.stringify(value), { depthMax: 2 })).toEqual(value)
  })

  test('keeps __proto__ as an own member, without changing a prototype', () => {
    const value = readJson('{"__proto__":{"polluted":true},"constructor":1}') as Record<string, unknown>
    expect(Object.hasOwn(value, '__proto__')).toBe(true)
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype)
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
  })
})

describe('the message for invalid JSON', () => {
  const cases: [string, string][] = [
    ['', 'The body is empty. It must be JSON.'],
    ['{"a":1,}', 'line 1, column 8: expected a member name in double quotes, found "}".'],
    ['{"a":1\n "b":2}', 'line 2, column 2: expected a comma or "}", found \'"\'.'],
    ["{'a':1}", 'line 1, column 2: expected a member name in double quotes, found "\'".'],
    ['{"a" 1}', 'line 1, column 6: expected a colon, found "1".'],
    ['[1,]', 'line 1, column 4: expected a value, found "]".'],
    ['[1', 'line 1, column 3: expected a comma or "]", found the end of the text.'],
    ['nul', 'line 1, column 1: expected a value, found "n".'],
    ['{} x', 'line 1, column 4: expected the end of the text, found "x".'],
    ['"a\nb"', 'expected an escape such as \\n instead of a raw control character in the string, found a line break.'],
    ['"\\x"', 'line 1, column 3: expected an escape such as \\n or \\u0041, found "x".'],
    ['"a', 'line 1, column 3: expected a closing double quote, found the end of the text.'],
    ['01', 'line 1, column 2: expected the end of the text, found "1".'],
    ['[\u0007]', 'line 1, column 2: expected a value, found the character U+0007.'],
  ]
  for (const [text, message] of cases) {
    test(`says for ${JSON.stringify(text)}: ${message}`, () => expect(refusal(text).message).toContain(message))
  }

  test('exists exactly when JSON.parse throws', () => {
    const mutated = fc
      .tuple(fc.json(), fc.nat(), fc.string({ maxLength: 2 }), fc.nat(2))
      .map(([text, at, more, cut]) => {
        const position = at % (text.length + 1)
        return text.slice(0, position) + more + text.slice(position + cut)
      })
    const pieces = fc.array(
      fc.constantFrom('{', '}', '[', ']', ',', ':', '"', '\\', 'u00e9', '-', '0', '1.5', 'e9', 'null', ' ', '\n'),
    )
    fc.assert(
      fc.property(
        fc.oneof(
          mutated,
          pieces.map((parts) => parts.join('')),
          fc.string(),
        ),
        (text) => {
          let valid = true
          try {
            JSON.parse(text)
          } catch {
            valid = false
          }
          expect(findJsonFault(text) === undefined).toBe(valid)
        },
      ),
      { numRuns: 3000 },
    )
  })

  test('names the source of the text', () => {
    expect(() => readJson('{', { what: 'The file order.json' })).toThrow(
      'The file order.json is not valid JSON: line 1, column 2',
    )
  })
})
