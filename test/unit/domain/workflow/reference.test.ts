import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { asText, parseTemplate, readPath } from '../../../../src/domain/workflow/reference.ts'

const referencesIn = (text: string) =>
  parseTemplate(text).flatMap((segment) =>
    segment.kind === 'reference' ? [{ name: segment.name, path: segment.path }] : [],
  )

describe('a template', () => {
  test('is split into segments that together are the original text', () => {
    const pieces = fc.constantFrom(
      '<',
      '>',
      '.',
      'a',
      ' ',
      '<a.b>',
      '{{X}}',
      '{{',
      '}}',
      '[0]',
      '["k"]',
      '"',
      '\\',
      '\n',
      '<a',
      'é',
      '<A b.c-d>',
    )
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(pieces).map((parts) => parts.join('')),
        ),
        (text) => {
          const joined = parseTemplate(text)
            .map((segment) => (segment.kind === 'text' ? segment.text : segment.source))
            .join('')
          expect(joined).toBe(text)
        },
      ),
      { numRuns: 2000 },
    )
  })

  test('ignores case and spaces in block names, but not in paths', () => {
    expect(referencesIn('<My Block.Data.x>')).toEqual([{ name: 'myblock', path: ['Data', 'x'] }])
    expect(referencesIn('<api.headers.content-type>')).toEqual([{ name: 'api', path: ['headers', 'content-type'] }])
    expect(referencesIn('<a.items[2].b>')).toEqual([{ name: 'a', path: ['items', 2, 'b'] }])
    expect(referencesIn('<a["any. <key>"]["\\""]>')).toEqual([{ name: 'a', path: ['any. <key>', '"'] }])
    expect(referencesIn('<ärger.größe>')).toEqual([{ name: 'ärger', path: ['größe'] }])
  })

  test('does not mistake comparisons, tags and arrows for references', () => {
    for (const text of [
      'a < b.c > d',
      '<div>',
      '<br/>',
      'x <= y.z',
      'if (a<b && c>d)',
      '<a.>',
      '<.b>',
      '<a..b>',
      '<a b>',
      '< a.b>',
    ]) {
      expect({ text, references: referencesIn(text) }).toEqual({ text, references: [] })
    }
  })

  test('refers to environment variables only by valid names without spaces', () => {
    const names = (text: string) =>
      parseTemplate(text).flatMap((segment) => (segment.kind === 'environment' ? [segment.name] : []))
    expect(names('{{A}} {{_b1}} {{ C }} {{1D}} {{E-F}} {{}} {{{G}}}')).toEqual(['A', '_b1', 'G'])
  })

  test('is parsed in linear time, even if it is hostile', () => {
    const hostile = [
      `${'<a'.repeat(20_000)}`,
      `<${'a'.repeat(100_000)}`,
      `<a${'.b'.repeat(50_000)}`,
      `<a${'["'.repeat(20_000)}`,
      '{{'.repeat(50_000),
    ]
    for (const text of hostile) expect(parseTemplate(text).length).toBeGreaterThan(0)
  })
})

describe('a path', () => {
  test('reads only own members of data', () => {
    const value = { a: [{ b: 1 }], 'k.l': 2, s: 'text' }
    expect(readPath(value, ['a', 0, 'b'])).toBe(1)
    expect(readPath(value, ['k.l'])).toBe(2)
    expect(readPath(value, ['a', 'length'])).toBe(1)
    expect(readPath(value, ['s', 'length'])).toBe(4)
    for (const path of [['x', 'y'], ['constructor'], ['__proto__'], ['a', 'map'], ['s', 'toString'], ['a', 7]]) {
      expect(readPath(value, path)).toBeUndefined()
    }
  })
})

test('a value inserted into text is a string unchanged, nothing for null, and otherwise JSON', () => {
  expect([asText('a"b'), asText(null), asText(undefined), asText(1), asText({ a: [1] })]).toEqual([
    'a"b',
    '',
    '',
    '1',
    '{"a":[1]}',
  ])
})
