import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { TextSearch } from '../../../src/domain/redaction/text-search.ts'

const letters = fc.constantFrom('a', 'b', 'c', 'é', '中')
const word = fc.string({ unit: letters, minLength: 2, maxLength: 8 })

test('the search finds every occurrence of many texts in order, including overlaps', () => {
  fc.assert(
    fc.property(
      fc.uniqueArray(word, { minLength: 1, maxLength: 30 }),
      fc.string({ unit: letters, maxLength: 200 }),
      (words, text) => {
        const found: [number, string][] = []
        new TextSearch(words.map((each) => ({ text: each, value: each }))).each(text, (at, value) =>
          found.push([at, value]),
        )
        const expected = words.flatMap((each) =>
          Array.from({ length: text.length }, (_, at) => at).flatMap((at) =>
            text.startsWith(each, at) ? [[at, each]] : [],
          ),
        )
        expect(found.map(([at]) => at)).toEqual(found.map(([at]) => at).toSorted((a, b) => a - b))
        expect(found.map(String).toSorted()).toEqual(expected.map(String).toSorted())
      },
    ),
    { numRuns: 1_000 },
  )
})

test('the search rejects a text of one character', () => {
  expect(() => new TextSearch([{ text: 'a', value: 1 }])).toThrow('two characters')
})
