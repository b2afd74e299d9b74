import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { TextSearch } from '../../../src/domain/redaction/text-search.ts'

const letters = fc.constantFrom('a', 'b', 'c', 'é', '中')
const word = fc.string({ unit: letters, minLength: 2, maxLength: 8 })

test('many texts are found at every place where they stand, overlaps included, in order', () => {
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

test('a text of one character is none that can be sought', () => {
  expect(() => new TextSearch([{ text: 'a', value: 1 }])).toThrow('two characters')
})
