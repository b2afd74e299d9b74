import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { FormField } from '../../../../src/domain/workflow/form.ts'
import { isWebAddress, readForm } from '../../../../src/domain/workflow/form-values.ts'

const field = (more: Partial<FormField>): FormField => ({ name: 'a', type: 'string', ...more }) as FormField
const read = (value: unknown, more: Partial<FormField>) => {
  const reading = readForm({ a: value }, [field(more)])
  return reading.ok ? reading.values['a'] : reading.details[0]?.message
}

describe('a form', () => {
  test.each([
    ['1.50', { type: 'number' }, 1.5],
    [' +2 ', { type: 'number' }, 2],
    ['-0.25', { type: 'number' }, -0.25],
    [3, { type: 'number' }, 3],
    ['on', { type: 'boolean' }, true],
    ['false', { type: 'boolean' }, false],
    [' ada@example.com ', { format: 'email' }, 'ada@example.com'],
    ['2028-02-29', { format: 'date' }, '2028-02-29'],
    ['https://example.com/a?b', { format: 'url' }, 'https://example.com/a?b'],
    ['  as it is ', {}, '  as it is '],
    ['Mon', { type: 'array', options: ['Mon', 'Tue'] }, ['Mon']],
    ['["a",1]', { type: 'array' }, ['a', 1]],
    ['{"a":1}', { type: 'object' }, { a: 1 }],
    ['2', { type: 'number', options: ['1', '2'] }, 2],
    ['1.50', { type: 'number', options: ['1.50'] }, 1.5],
  ] as const)('reads %p', (value, more, expected) => {
    expect(read(value, more as Partial<FormField>)).toEqual(expected as never)
  })

  test.each([
    ['1,5', { type: 'number' }],
    ['1e9', { type: 'number' }],
    ['9007199254740993', { type: 'number' }],
    ['0x10', { type: 'number' }],
    ['yes', { type: 'boolean' }],
    ['a@b', { format: 'email' }],
    ['a b@example.com', { format: 'email' }],
    ['a@example..com', { format: 'email' }],
    ['2027-02-29', { format: 'date' }],
    ['29.2.2028', { format: 'date' }],
    ['javascript:alert(1)', { format: 'url' }],
    ['{', { type: 'object' }],
    [['x'], {}],
    ['Sun', { type: 'array', options: ['Mon'] }],
    [['Mon', 'Sun'], { type: 'array', options: ['Mon'] }],
    ['x', { options: ['y'] }],
  ] as const)('refuses %p with a message that names the field', (value, more) => {
    expect(read(value, { ...(more as Partial<FormField>), label: 'The field' })).toStartWith('The field must be ')
  })

  test('counts empty texts and lists as not filled in', () => {
    for (const value of [undefined, null, '', '  ', []]) {
      expect(read(value, {})).toBeNull()
      expect(read(value, { required: true, label: 'City' })).toBe('Fill in City.')
    }
    expect(read('', { required: true, type: 'files', label: 'Receipt' })).toBe('Choose a file for Receipt.')
    expect(read('', { required: true, options: ['x'], label: 'City' })).toBe('Choose City.')
    expect(readForm({}, [field({ required: true })], { isPartial: true })).toEqual({ ok: true, values: { a: null } })
  })

  test('has exactly the declared fields for any input', () => {
    const fields = fc.uniqueArray(
      fc.record({
        name: fc.oneof(fc.string({ minLength: 1 }), fc.constant('__proto__')),
        type: fc.constantFrom('string', 'number', 'boolean', 'array', 'object', 'files'),
        format: fc.constantFrom('line', 'long', 'email', 'url', 'date', undefined),
        options: fc.option(fc.array(fc.string()), { nil: undefined }),
        required: fc.boolean(),
      }),
      { selector: ({ name }) => name, maxLength: 5 },
    )
    fc.assert(
      fc.property(fields, fc.dictionary(fc.string(), fc.jsonValue()), (declared, sent) => {
        const form = declared as unknown as FormField[]
        const reading = readForm(sent, form)
        if (reading.ok) {
          expect(Object.keys(reading.values).toSorted()).toEqual(form.map(({ name }) => name).toSorted())
          // The values can be read again.
          expect(readForm(reading.values, form)).toEqual(reading)
        } else {
          const names = new Set(form.map(({ name }) => name))
          for (const { path } of reading.details) expect(names.has(path)).toBe(true)
        }
      }),
    )
  })

  test('is read in linear time', () => {
    const long = 'a@'.concat('.a'.repeat(100_000), ' ')
    const startedAt = performance.now()
    for (const more of [{ format: 'email' }, { format: 'url' }, { format: 'date' }, { type: 'number' }] as const) {
      read(long, more)
      read('1'.repeat(200_000), more)
    }
    expect(performance.now() - startedAt).toBeLessThan(500)
  })
})

test('a web address is absolute, with http or https', () => {
  for (const good of ['http://a', 'https://example.com/x', 'HTTPS://EXAMPLE.COM']) expect(isWebAddress(good)).toBe(true)
  for (const bad of ['//a', 'https:/a', 'https:///a', 'javascript:x', 'data:text/html,x', ' https://a', 'ftp://a']) {
    expect(isWebAddress(bad)).toBe(false)
  }
})
