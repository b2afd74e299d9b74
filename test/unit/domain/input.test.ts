import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { coerce, inputOf, readInput } from '../../../src/domain/run/input.ts'
import type { FieldType, InputField } from '../../../src/domain/workflow/workflow.ts'

const field = (name: string, type: FieldType, more: Partial<InputField> = {}): InputField => ({ name, type, ...more })

describe('the input from a request body', () => {
  test('is the body without its control members', () => {
    expect(inputOf({ a: 1, stream: true, selectedOutputs: ['x.y'] }, [])).toEqual({ a: 1 })
    expect(inputOf({}, [])).toEqual({})
  })

  test('is unwrapped from a lone "input" object that is not a declared field', () => {
    expect(inputOf({ input: { a: 1 } }, [])).toEqual({ a: 1 })
    expect(inputOf({ input: { a: 1 }, stream: false }, [])).toEqual({ a: 1 })
    expect(inputOf({ input: 7 }, [])).toEqual({ input: 7 })
    expect(inputOf({ input: [1] }, [])).toEqual({ input: [1] })
    expect(inputOf({ input: { a: 1 }, b: 2 }, [])).toEqual({ input: { a: 1 }, b: 2 })
    expect(inputOf({ input: { a: 1 } }, [field('input', 'object')])).toEqual({ input: { a: 1 } })
  })

  test('wraps JSON that is not an object', () => {
    for (const body of [7, 'text', null, [1, 2], true]) expect(inputOf(body, [])).toEqual({ input: body })
  })
})

describe('reading an input', () => {
  test('coerces values without loss, and puts the coerced values into the whole input', () => {
    const format = [
      field('n', 'number'),
      field('s', 'string'),
      field('b', 'boolean'),
      field('o', 'object'),
      field('a', 'array'),
    ]
    const reading = readInput({ n: '1.5', s: 7, b: 'true', o: '{"k":1}', a: '[1]', extra: 'x' }, format)
    const fields = { n: 1.5, s: '7', b: true, o: { k: 1 }, a: [1] }
    expect(reading).toEqual({ ok: true, value: { fields, input: { ...fields, extra: 'x' } } })
  })

  test('reports each invalid field and each missing required field', () => {
    const format = [
      field('n', 'number'),
      field('b', 'boolean'),
      field('r', 'string', { required: true }),
      field('ok', 'string'),
    ]
    const reading = readInput({ n: '1e3', b: 1, r: null, ok: 'x' }, format)
    expect(reading.ok ? [] : reading.details.map(({ path }) => path)).toEqual(['n', 'b', 'r'])
  })

  test('gives a missing optional field null, or its sample in a manual run', () => {
    const format = [field('s', 'string', { value: 'sample' })]
    expect(readInput({}, format)).toMatchObject({ value: { fields: { s: null } } })
    expect(readInput({ s: null }, format)).toMatchObject({ value: { fields: { s: null } } })
    expect(readInput({}, format, { samples: true })).toMatchObject({
      value: { fields: { s: 'sample' }, input: { s: 'sample' } },
    })
    expect(readInput({ s: 'given' }, format, { samples: true })).toMatchObject({ value: { fields: { s: 'given' } } })
  })

  test('treats fields named like members of Object.prototype as data', () => {
    const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty']
    const format = names.map((name) => field(name, 'string'))
    const empty = readInput({}, format)
    for (const name of names)
      expect(empty.ok && Object.getOwnPropertyDescriptor(empty.value.fields, name)?.value).toBeNull()
    const reading = readInput(JSON.parse('{"__proto__":"p","constructor":"c"}'), format)
    expect(reading.ok && Object.getOwnPropertyDescriptor(reading.value.fields, '__proto__')?.value).toBe('p')
    expect(Object.getPrototypeOf(reading.ok && reading.value.fields)).toBe(Object.prototype)
    expect(({} as Record<string, unknown>)['p']).toBeUndefined()
  })
})

describe('coercion', () => {
  test('to a number accepts exactly the decimal texts that convert back unchanged', () => {
    fc.assert(
      fc.property(
        fc.double({ noNaN: true, noDefaultInfinity: true }),
        (n) => coerce(String(n), 'number') === n || Object.is(n, -0),
      ),
    )
    for (const text of ['', ' 1', '1 ', '0x10', '1e3', '01', '1.0', '+1', 'NaN', 'Infinity', '1,5', '--1']) {
      expect({ text, value: coerce(text, 'number') }).toEqual({ text, value: undefined })
    }
  })

  test('never changes a value that already has the type', () => {
    const cases: [FieldType, unknown][] = [
      ...([
        ['string', '1'],
        ['number', 1],
        ['boolean', false],
        ['object', { a: 1 }],
        ['array', [1]],
        ['files', [1]],
      ] as const),
    ] as never
    for (const [type, value] of cases) expect(coerce(value, type)).toBe(value)
  })

  test('rejects values that would lose information', () => {
    expect(coerce(Number.POSITIVE_INFINITY, 'string')).toBeUndefined()
    expect(coerce(2 ** 53, 'string')).toBeUndefined()
    expect(coerce(Number.POSITIVE_INFINITY, 'number')).toBeUndefined()
    expect(coerce({}, 'string')).toBeUndefined()
    expect(coerce([], 'object')).toBeUndefined()
    expect(coerce('[]', 'object')).toBeUndefined()
    expect(coerce('{}', 'array')).toBeUndefined()
    expect(coerce('{"a":', 'object')).toBeUndefined()
    expect(coerce('yes', 'boolean')).toBeUndefined()
    expect(coerce(true, 'number')).toBeUndefined()
  })
})
