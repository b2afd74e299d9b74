import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { JsonCutter } from '../../../src/files/json-cutter.ts'

/** Reads text in portions that end at the given places. Returns the remaining text and what was cut out. */
function cut(text: string, fields: string[], ends: readonly number[]): { rest: string; cuts: string[] } {
  const cuts: string[] = []
  const cutter = new JsonCutter({
    fields: new Set(fields),
    files: { max: 1_000, setting: 'FILES_MAX' },
    placeholder: (index) => `#${index}`,
    keeping: () => undefined,
    open: (index) => {
      cuts[index] = ''
      return { push: (piece) => (cuts[index] += piece), end: () => undefined }
    },
  })
  const bytes = Buffer.from(text)
  let from = 0
  for (const end of [...ends.map((each) => each % (bytes.length + 1)).toSorted((a, b) => a - b), bytes.length]) {
    cutter.push(bytes.subarray(from, end))
    from = end
  }
  const rest = Buffer.from(cutter.end()).toString()
  return { rest, cuts: cuts.map((each) => Buffer.from(each, 'latin1').toString()) }
}

/** The expected result, computed the easy way from the parsed value. */
function expected(value: unknown, fields: string[]): { value: unknown; cuts: Set<string> } {
  const cuts = new Set<string>()
  const item = (each: unknown) => {
    if (typeof each === 'object' && each !== null && !Array.isArray(each) && 'data' in each) {
      if (typeof each.data === 'string') cuts.add(each.data)
    }
  }
  const body = (each: unknown) => {
    if (typeof each !== 'object' || each === null || Array.isArray(each)) return
    for (const field of fields) {
      const held = (each as Record<string, unknown>)[field]
      if (Array.isArray(held)) held.forEach(item)
      else item(held)
    }
  }
  body(value)
  if (typeof value === 'object' && value !== null && !Array.isArray(value) && !fields.includes('input')) {
    body((value as Record<string, unknown>)['input'])
  }
  return { value, cuts }
}

const word = fc.constantFrom('docs', 'data', 'input', 'x', 'dáta', 'type')
const text = fc.oneof(fc.string({ unit: 'binary' }), fc.constant('a/b"c\\d\n'), word)
const { tree } = fc.letrec((tie) => ({
  tree: fc.oneof(
    { maxDepth: 6 },
    text,
    fc.integer(),
    fc.constant(null),
    fc.array(tie('tree'), { maxLength: 4 }),
    fc.dictionary(word, tie('tree'), { maxKeys: 4 }),
  ),
}))

/** JSON in unusual spelling: with spaces, and with characters written as escapes. */
function spelled(value: unknown, style: number): string {
  const plain = style % 2 === 0 ? JSON.stringify(value) : JSON.stringify(value, null, 2)
  if (style < 2) return plain
  return plain.replaceAll('/', '\\/').replaceAll('t', (_, at: number) => (plain[at - 1] === '\\' ? 't' : '\\u0074'))
}

test('the cutter finds the same strings in portions of any size, and leaves the rest unchanged', () => {
  const places = fc.array(fc.nat(), { maxLength: 12 })
  fc.assert(
    fc.property(fc.dictionary(word, tree), fc.nat({ max: 1 }), places, (value, style, ends) => {
      const source = spelled(value, style)
      const whole = cut(source, ['docs'], [])
      expect(cut(source, ['docs'], ends)).toEqual(whole)
      // With all cuts put back, it is the original value.
      const back = JSON.parse(whole.rest, (_, each: unknown) => {
        const [, index] = typeof each === 'string' ? (/^#(\d+)$/.exec(each) ?? []) : []
        return index === undefined ? each : whole.cuts[Number(index)]
      })
      expect(back).toEqual(JSON.parse(source))
      expect(new Set(whole.cuts)).toEqual(expected(JSON.parse(source), ['docs']).cuts)
    }),
    { numRuns: 2_000 },
  )
})

test('the cutter resolves escapes, wherever a portion ends', () => {
  const source = String.raw`{"d\u006fcs":[{"d\u0061ta":"a\/b\u0041\"\\c\u00fc"}],"n":"\"x\\"}`
  for (let first = 0; first < source.length; first += 1) {
    for (let second = first; second < source.length; second += 5) {
      expect(cut(source, ['docs'], [first, second]).cuts).toEqual(['a/bA"\\cü'])
    }
  }
})

test('the cutter leaves all other text unchanged', () => {
  for (const source of ['{"other":{"data":"x"}}', '{"docs":"x","data":"y"}', '[{"docs":{"data":"x"}}]', '"data"']) {
    expect(cut(source, ['docs'], [])).toEqual({ rest: source, cuts: [] })
  }
  const nested = '{"input":{"docs":{"data":"x"}}}'
  expect(cut(nested, ['docs'], []).cuts).toEqual(['x'])
  expect(cut(nested, ['docs', 'input'], []).cuts).toEqual([])
})

test('the cutter rejects invalid JSON inside a string that it cuts out', () => {
  for (const data of ['a\nb', 'a\\x', 'a\\u00zz']) {
    expect(() => cut(`{"docs":{"data":"${data}"}}`, ['docs'], [])).toThrow('is not JSON')
  }
  expect(() => cut('{"docs":{"data":"abc', ['docs'], [])).toThrow('not terminated')
})
