import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { findPersonalData, masked } from '../../../../src/blocks/guardrails/find-personal-data.ts'
import { type PersonalDataName, personalDataNames } from '../../../../src/blocks/guardrails/personal-data.ts'
import { finish } from '../../../../src/domain/slices.ts'

const all = new Set(personalDataNames)
const found = (text: string, kinds: ReadonlySet<PersonalDataName> = all) =>
  finish(findPersonalData(text, kinds)).map(({ type, text: part }) => `${type} ${part}`)

const examples: [PersonalDataName, right: string[], wrong: string[]][] = [
  ['URL', ['https://a.example/x?y=1', 'http://10.0.0.1/z'], ['https://', 'a.example/x']],
  [
    'EMAIL_ADDRESS',
    ['ana.silva+x@mail.example.co.uk', 'ö@bücher.example'],
    ['a@b', '@b.example', 'a@-b.example', 'a@.example'],
  ],
  ['IBAN_CODE', ['DE89 3704 0044 0532 0130 00', 'GB82WEST12345698765432'], ['DE88 3704 0044 0532 0130 00', 'DE89']],
  [
    'CREDIT_CARD',
    ['4111 1111 1111 1111', '4111111111111111', '3782 822463 10005', '5555-5555-5555-4444'],
    ['4111 1111 1111 1112', '1111111111111117', '4111 1111'],
  ],
  ['CRYPTO', ['0x52908400098527886E0F7030069857D2E4169EE7', '1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2'], ['0x5290']],
  ['IP_ADDRESS', ['192.168.0.1', '2001:db8::ff00:42:8329', 'fe80::1'], ['256.1.1.1', '1.2.3', '12:30:45', '1.2.3.4.5']],
  [
    'US_SSN',
    ['123-45-6789', '123 45 6789'],
    ['000-45-6789', '666-45-6789', '123-00-6789', '123-45-0000', '123-45 6789'],
  ],
  ['US_ITIN', ['912-70-1234'], ['912-45-1234']],
  ['UK_NINO', ['AB123456C', 'AB 12 34 56 C'], ['BG123456C', 'AB123456E']],
  ['UK_NHS', ['943 476 5919'], ['943 476 5918']],
  ['ES_NIF', ['12345678Z'], ['12345678A']],
  ['ES_NIE', ['X1234567L', 'Z-1234567-R'], ['X1234567A']],
  ['IT_FISCAL_CODE', ['RSSMRA85T10A562S'], ['RSSMRA85K10A562S']],
  ['PL_PESEL', ['44051401359'], ['44051401358']],
  ['IN_PAN', ['ABCPE1234F'], ['ABCXE1234F']],
  [
    'PHONE_NUMBER',
    ['+351 912 345 678', '(555) 123-4567', '555-123-4567', '0049 30 123456', '+14155550132', '91 234 56 78'],
    ['2026-11-28 02:26', '28.11.2026 12', '1.000.000.000', '1234567890', '1 2 3', '3.14159265'],
  ],
]

test('every kind of personal data has examples here', () => {
  expect(examples.map(([kind]) => kind).toSorted()).toEqual(personalDataNames.toSorted())
})

describe.each(examples)('%s', (kind, right, wrong) => {
  test.each(right)('is found in %p, also within a sentence', (text) => {
    const expected = [`${kind} ${text}`]
    const only = new Set([kind])
    expect(found(text, only)).toEqual(expected)
    expect(found(`See ${text}, please.`, only)).toEqual(expected)
    expect(found(`(${text})\n${text}`, only)).toEqual([...expected, ...expected])
  })

  test.each(wrong)('is not found in %p', (text) => {
    expect(found(`See ${text} there`, new Set([kind]))).toEqual([])
  })
})

test('data that overlaps is one result, of the kind that comes first', () => {
  expect(found('http://a@b.example/?card=4111111111111111')).toEqual(['URL http://a@b.example/?card=4111111111111111'])
})

test('a masked text has its other parts unchanged, and none of what was found', () => {
  const pieces = fc.constantFrom(
    ...examples.flatMap(([, right, wrong]) => [...right, ...wrong]),
    ' and ',
    ', ',
    '\n',
    'é',
  )
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 20 }), (parts) => {
      const text = parts.join(' ')
      const detected = finish(findPersonalData(text, all))
      let end = 0
      for (const one of detected) {
        expect(one.start).toBeGreaterThanOrEqual(end)
        expect(text.slice(one.start, one.end)).toBe(one.text)
        end = one.end
      }
      const kept = detected.reduceRight((left, one) => left.slice(0, one.start) + left.slice(one.end), text)
      expect(masked(text, detected).replaceAll(/<[A-Z_]+>/g, '')).toBe(kept)
    }),
  )
})

test('data is found wherever it is in a long text, also across the borders of what is searched at once', () => {
  const right = examples.map(([kind, [text = '']]) => [kind, text] as const)
  for (const [kind, text] of right) {
    for (const border of [32_768, 65_536]) {
      for (let before = border - text.length - 2; before <= border + 2; before += 1) {
        const detected = finish(findPersonalData(`${' '.repeat(before)}${text} ${text}`, new Set([kind])))
        const starts = detected.map(({ start }) => start)
        expect([kind, border, starts]).toEqual([kind, border, [before, before + text.length + 1]])
      }
    }
  }
})

test('no text of a million characters takes long, and none holds up other work', () => {
  const seeds = [
    'a',
    '1',
    '1 ',
    'a@',
    'a.',
    'AB12 ',
    'http://',
    '.',
    '4111 ',
    ':1',
    '1.',
    '0x',
    '(1',
    'é@é.é',
    '12-',
    '+',
  ]
  for (const seed of seeds) {
    const work = findPersonalData(seed.repeat(1_000_000 / seed.length), all)
    let steps = 0
    const startedAt = performance.now()
    while (!work.next().done) steps += 1
    // With a quadratic pattern, it would be minutes.
    expect([seed, performance.now() - startedAt < 10_000]).toEqual([seed, true])
    expect(steps).toBeGreaterThanOrEqual(personalDataNames.length)
  }
}, 180_000)
