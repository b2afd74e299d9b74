import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { compilePattern, PatternError } from '../../../../../src/ui/editor/find/pattern.ts'
import { BudgetSpent } from '../../../../../src/ui/editor/find/pattern-search.ts'
import { findMatches, type Match, matchesMax, type Query } from '../../../../../src/ui/editor/find/search.ts'

function run(texts: readonly string[], query: Partial<Query> & { text: string }) {
  const search = findMatches(texts, { isWord: false, isPattern: false, replacement: '', ...query })
  for (;;) {
    const { done, value } = search.next()
    if (done) return value
  }
}

const found = (text: string, query: Partial<Query> & { text: string }) =>
  run([text], query).matches.map(({ from, to }) => text.slice(from, to))

describe('plain text', () => {
  test('is found in any case, and means what it says', () => {
    expect(found('Order ORDER reorder', { text: 'order' })).toEqual(['Order', 'ORDER', 'order'])
    expect(found('a.b axb (a.b)', { text: 'a.b' })).toEqual(['a.b', 'a.b'])
    expect(found('c:\\x [1] {2} $^|/-', { text: '\\x [1] {2} $^|/-' })).toEqual(['\\x [1] {2} $^|/-'])
  })

  test('as a whole word is not found inside a word, and edges that are no letters need no boundary', () => {
    expect(found('order reorder order_id Order.', { text: 'order', isWord: true })).toEqual(['order', 'Order'])
    expect(found('größe größer', { text: 'größe', isWord: true })).toEqual(['größe'])
    expect(found('x<api.a>y', { text: '<api.a>', isWord: true })).toEqual(['<api.a>'])
  })
})

describe('patterns', () => {
  /** Pieces that mean the same here and in the page's own expressions. */
  const piece: fc.Arbitrary<string> = fc.letrec<{ piece: string; sequence: string }>((tie) => ({
    piece: fc.oneof(
      { maxDepth: 3 },
      fc.constantFrom('a', 'b', '.', '[ab]', '[^a]', '\\d', '\\w', '\\s', '\\b', '^', '$', 'é'),
      tie('sequence').map((inner) => `(${inner})`),
      tie('sequence').map((inner) => `(?:${inner})`),
      fc
        .tuple(
          fc.constantFrom('a', '.', '[ab1]', '(a|b)', '(?:ab)'),
          fc.constantFrom('*', '+', '?', '{2}', '{1,3}', '*?', '+?'),
        )
        .map(([inner, range]) => inner + range),
      fc.tuple(tie('sequence'), tie('sequence')).map(([a, b]) => `(?:${a}|${b})`),
    ),
    sequence: fc.array(tie('piece'), { minLength: 1, maxLength: 3 }).map((parts) => parts.join('')),
  })).sequence

  test('find the same as the expressions of the page', () => {
    const text = fc.string({ unit: fc.constantFrom('a', 'b', 'A', '1', ' ', '\n', 'é'), maxLength: 14 })
    fc.assert(
      fc.property(piece, text, (source, searched) => {
        // At most 9 groups are allowed.
        fc.pre((source.match(/\((?!\?)/g)?.length ?? 0) <= 9)
        // The letters of a word are Unicode's here.
        const same = source
          .replaceAll('\\w', '[\\p{L}\\p{N}_]')
          .replaceAll('\\b', '(?:(?<=[\\p{L}\\p{N}_])(?![\\p{L}\\p{N}_])|(?<![\\p{L}\\p{N}_])(?=[\\p{L}\\p{N}_]))')
        const expected = [...searched.matchAll(new RegExp(same, 'gimu'))].map(([whole]) => whole).filter(Boolean)
        expect(found(searched, { text: source, isPattern: true })).toEqual(expected)
      }),
      { numRuns: 500 },
    )
  })

  test('fill in groups of the match', () => {
    const [match] = run(['id-42'], { text: '(id)-(\\d+)', isPattern: true, replacement: '$2:$1 $& $$1 $3' }).matches
    expect(match?.insert).toBe('42:id id-42 $1 ')
  })

  test('that would take exponential time end at once', () => {
    const started = performance.now()
    expect(found(`${'a'.repeat(20_000)}!`, { text: '(a+)+b', isPattern: true })).toEqual([])
    expect(found(`${'a'.repeat(3_000)}!`, { text: '(a|aa)+$', isPattern: true })).toEqual([])
    expect(performance.now() - started).toBeLessThan(10_000)
  })

  test('that need too much work are given up', () => {
    const slow = { text: '(x+x+)+y', isPattern: true }
    expect(() =>
      run(
        Array.from({ length: 20 }, () => 'x'.repeat(50_000)),
        { ...slow, text: `${slow.text}|x*?z` },
      ),
    ).toThrow(BudgetSpent)
  }, 30_000)

  test('pause often, also in one long text', () => {
    const search = findMatches(['ab'.repeat(20_000)], {
      text: '(a|b)*c',
      isPattern: true,
      isWord: false,
      replacement: '',
    })
    let longest = 0
    for (let pauses = 0; pauses < 50; pauses += 1) {
      const started = performance.now()
      if (search.next().done) break
      longest = Math.max(longest, performance.now() - started)
    }
    expect(longest).toBeLessThan(500)
  })

  test.each([
    '(',
    ')',
    '[a',
    '*',
    'a**',
    '(?=a)',
    '\\1',
    '\\p',
    'a{3,1}',
    '\\',
    '[b-a]',
    'a{1000}{3}',
    '(?:a{999}){999}',
    'x'.repeat(301),
  ])('that cannot be read say why: %s', (source) => {
    expect(() => compilePattern(source)).toThrow(PatternError)
  })
})

test('the list of matches is limited, and says so', () => {
  const { matches, hasMore } = run(['a'.repeat(matchesMax + 50)], { text: 'a' })
  expect([matches.length, hasMore]).toEqual([matchesMax, true])
  const places: readonly Match[] = run(['ab', '', 'b'], { text: 'b' }).matches
  expect(places.map(({ place }) => place)).toEqual([0, 2])
})
