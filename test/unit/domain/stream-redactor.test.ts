import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createRedactor } from '../../../src/domain/redaction/redactor.ts'
import { StreamRedactor } from '../../../src/domain/redaction/stream-redactor.ts'

const secret = fc.constantFrom('sk-1234567890', 'pass word with spaces', 'ÄÖÜ-schlüssel', 'abcdef', 'abcdefgh')
const formOf = fc.constantFrom<(value: string) => string>(
  (value) => value,
  encodeURIComponent,
  (value) => JSON.stringify(value).slice(1, -1),
  (value) => Buffer.from(value).toString('base64'),
)
const text = fc.array(
  fc.oneof(
    fc.constantFrom('Hello', ' ', '\n', ', ', 'sk-', 'pass ', 'the end.'),
    fc.tuple(secret, formOf).map(([value, form]) => form(value)),
  ),
  { maxLength: 12 },
)

test('no secret passes and all other text does, however a stream is cut into pieces', () => {
  fc.assert(
    fc.property(text, fc.uniqueArray(secret, { maxLength: 3 }), fc.array(fc.nat(400)), (parts, values, cuts) => {
      const redactor = createRedactor(values.map((value, index) => ({ name: `S${index}`, value })))
      const whole = parts.join('')
      const stream = new StreamRedactor(redactor)
      const given: string[] = []
      let from = 0
      for (const cut of cuts.filter((at) => at < whole.length).toSorted((a, b) => a - b)) {
        given.push(stream.push(whole.slice(from, cut)))
        from = cut
      }
      given.push(stream.push(whole.slice(from)), stream.end())
      const seen = given.join('')
      expect(seen).toBe(redactor ? (JSON.parse(redactor.redact(JSON.stringify(whole))) as string) : whole)
      for (const value of values) expect(seen).not.toContain(value)
    }),
    { numRuns: 1_000 },
  )
}, 120_000)

test('complete words pass immediately, and all text does when there are no secrets', () => {
  const hiding = new StreamRedactor(createRedactor([{ name: 'KEY', value: 'sk-1234567890' }]))
  expect(hiding.push('The key is sk-12')).toBe('The key is ')
  expect(hiding.push('34567890 and')).toBe('{{KEY}} ')
  expect(hiding.end()).toBe('and')
  expect(new StreamRedactor(undefined).push('The ke')).toBe('The ke')
})

test('text without spaces is held back only for the length that a secret can have', () => {
  const hiding = new StreamRedactor(createRedactor([{ name: 'KEY', value: '123456' }]))
  expect(hiding.push('x'.repeat(100))).toBe('x'.repeat(52))
})
