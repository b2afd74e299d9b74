import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createRedactor, type Redactor } from '../../../src/domain/redaction/redactor.ts'
import { formsOf } from '../../../src/domain/redaction/secret-forms.ts'
import { RedactionWork, redactLongString } from '../../../src/domain/redaction/string-redaction.ts'

const redactorOf = (...values: string[]): Redactor =>
  createRedactor(values.map((value, index) => ({ name: `S${index}`, value })))!

const json = (text: string) => JSON.stringify(text).slice(1, -1)
const percent = encodeURIComponent
const base64 = (text: string) => Buffer.from(text).toString('base64')

describe('a redactor with a large text', () => {
  const filler = fc.stringMatching(/^[ -~]{0,40}$/)
  const longSecret = Array.from({ length: 5_000 }, (_, index) => (index % 9 === 0 ? '"' : index.toString(36))).join('')

  test('finds every secret, also where one slice of the work ends', () => {
    const values = ['sk_live_abcdefgh', 'pass word', 'Ω§Ω§Ω§Ω§', longSecret]
    const redactor = redactorOf(...values)
    const written = fc.tuple(
      fc.nat(values.length - 1),
      fc.constantFrom(json, percent, base64, (text: string) => text),
    )
    fc.assert(
      fc.property(
        fc.array(fc.tuple(filler, written), { minLength: 1, maxLength: 12 }),
        fc.nat(70_000),
        (parts, start) => {
          const piece = (hidden: boolean) =>
            parts.map(([text, [which, how]]) => `${text}, ${hidden ? `{{S${which}}}` : how(values[which]!)}, `).join('')
          const around = (middle: string) => `${'-'.repeat(start)} ${middle}${'-'.repeat(60_000)} ${middle}`
          const slices = redactor.redactInSlices(JSON.stringify({ a: around(piece(false)), b: 1 }))
          let result = slices.next()
          while (!result.done) result = slices.next()
          expect(JSON.parse(result.value)).toEqual({ a: around(piece(true)), b: 1 })
        },
      ),
      { numRuns: 60 },
    )
  })

  test('takes work in proportion to the text, and little of it in one slice', () => {
    const patterns = ['%', '%25', '+', '\\', '"', '%D0%BF', '/', '!%§$&/()=', 'sk_live_', 'пароль', '\\u043f', '&amp;']
    const secrets = ['!%§$&/()=?', 'пароль-секрет', '%%%%%%%%!', '/////////+', 'sk_live_12345678']
    for (const secret of secrets) {
      for (const pattern of patterns) {
        const [half, whole] = [100_000, 200_000].map((chars) =>
          stepsFor(secret, pattern.repeat(chars / pattern.length)),
        )
        expect({ secret, pattern, isLinear: whole!.all <= 2.3 * half!.all + 100_000 }).toMatchObject({ isLinear: true })
        expect({ secret, pattern, fits: whole!.slice < 2_500_000 }).toMatchObject({ fits: true })
      }
    }
  })

  test('takes few steps where other characters are encoded than the first one of a secret', () => {
    for (const secret of ['!%§$&/()=?', 'пароль-секрет', '🔑🔑🔑🔑']) {
      for (const pattern of ['%25', '%2525', '%D1%81', '&lt;', '%', '&', '%F0%9F%94%92', 'п', '🔒']) {
        const { all } = stepsFor(secret, pattern.repeat(200_000 / pattern.length), 1)
        expect({ secret, pattern, areFew: all < 500_000 }).toMatchObject({ areFew: true })
        if (secret.startsWith(pattern.slice(0, 1))) continue
        expect({ secret, pattern, areFew: all < 20_000 }).toMatchObject({ areFew: true })
      }
    }
  })

  test('replaces the whole text when it cannot be searched within the limit', () => {
    // 500 secrets that all may start anywhere in the text.
    const redactor = redactorOf(...Array.from({ length: 500 }, (_, index) => `${index}-aaaaaaaa`))
    const slices = redactor.redactInSlices(JSON.stringify('a'.repeat(3_000_000)))
    let count = 1
    let result = slices.next()
    for (; !result.done; count += 1) result = slices.next()
    expect(result.value).toMatch(/^"\{\{S\d+\}\}"$/)
    expect(count).toBeLessThan(400)
  })

  /** The steps that a text takes in total, and at most in one slice. */
  function stepsFor(secret: string, text: string, formsMax = 100): { all: number; slice: number } {
    const work = new RedactionWork()
    const forms = new Set(
      formsOf(secret)
        .slice(0, formsMax)
        .map((each) => ({ name: 'S', form: each })),
    )
    const slices = redactLongString(text, forms, work)
    let slice = 0
    for (let before = 0; !slices.next().done; before = work.taken) slice = Math.max(slice, work.taken - before)
    return { all: work.taken, slice }
  }
})
