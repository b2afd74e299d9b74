import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createRedactor, type Redactor, type Secret } from '../../../src/domain/redaction/redactor.ts'
import { anySecret, encodings, everyUnit, json, path, percent, slashes } from '../../support/secret-encodings.ts'

const redactorOf = (...secrets: (string | Secret)[]): Redactor =>
  createRedactor(secrets.map((each, index) => (typeof each === 'string' ? { name: `S${index}`, value: each } : each)))!

/** One string after redaction. */
const redactText = (redactor: Redactor, text: string): string => JSON.parse(redactor.redact(JSON.stringify(text)))

describe('a redactor', () => {
  test('ignores values of fewer than six characters', () => {
    expect(createRedactor([])).toBeUndefined()
    expect(createRedactor([{ name: 'SHORT', value: '12345' }])).toBeUndefined()
    expect(redactText(redactorOf('12345', '123456'), '12345 123456')).toBe('12345 {{S1}}')
  })

  test('replaces a secret with its name, in values and in keys', () => {
    const redactor = redactorOf({ name: 'TOKEN', value: 'hunter22' })
    const text = JSON.stringify({ a: 'hunter22', 'is hunter22!': ['Bearer hunter22', { deep: 'xhunter22hunter22y' }] })
    expect(JSON.parse(redactor.redact(text))).toEqual({
      a: '{{TOKEN}}',
      'is {{TOKEN}}!': ['Bearer {{TOKEN}}', { deep: 'x{{TOKEN}}{{TOKEN}}y' }],
    })
  })

  for (const [name, encode] of Object.entries(encodings)) {
    test(`finds a secret in the encoding: ${name}`, () => {
      fc.assert(
        fc.property(anySecret, (secret) => {
          const value = secret.trim()
          const redactor = redactorOf(value)
          expect(redactText(redactor, `before ${encode(value)} after`)).toBe('before {{S0}} after')
          expect(redactText(redactor, encode(value))).toBe('{{S0}}')
        }),
        { numRuns: 300 },
      )
    })
  }

  test('finds a secret in the path, the query and the fragment of a URL', () => {
    fc.assert(
      fc.property(anySecret, (secret) => {
        const value = secret.trim()
        const url = new URL('http://host/')
        url.searchParams.set('key', value)
        url.hash = percent(value)
        const redacted = redactText(redactorOf(value), url.href)
        expect(redacted).toBe('http://host/?key={{S0}}#{{S0}}')
        expect(redactText(redactorOf(value), path(value))).toBe('/{{S0}}!')
      }),
    )
  })

  test('finds a secret inside longer base64 text, in both alphabets and at every offset', () => {
    const around = fc.uint8Array({ maxLength: 7 })
    fc.assert(
      fc.property(
        anySecret,
        around,
        around,
        fc.constantFrom(json, percent, (text: string) => text),
        (secret, before, after, inner) => {
          const value = secret.trim()
          const bytes = Buffer.concat([before, Buffer.from(inner(value)), after])
          const redactor = redactorOf(value)
          for (const text of [
            bytes.toString('base64'),
            bytes.toString('base64').replaceAll('=', ''),
            bytes.toString('base64url'),
          ]) {
            for (const written of [text, percent(text), slashes(text)]) {
              const redacted = redactText(redactor, `Basic ${written}`)
              expect(redacted).toContain('{{S0}}')
              const left = redacted.replace(/^Basic /, '').split(/\{\{S0\}\}/)
              // On either side, no digits that encode only bytes of the secret may remain.
              const bytesLeft = left.map((part) =>
                Math.floor((part.replaceAll(/%3D|=|\\/g, '').replaceAll(/%../g, '+').length * 6) / 8),
              )
              expect(bytesLeft[0]).toBeLessThanOrEqual(before.length)
              expect(bytesLeft[1]).toBeLessThanOrEqual(after.length)
            }
          }
        },
      ),
      // The digit with the last bits is a slash, which JSON and URLs may escape.
      { examples: [[`${'"'.repeat(8)}/`, Uint8Array.of(0, 0), Uint8Array.of(192, 0), (text) => text]] },
    )
  })

  test('finds base64 with line breaks wherever they are', () => {
    const anyBytes = fc.uint8Array({ maxLength: 100 })
    const secrets = fc.oneof(fc.stringMatching(/^sk_live_[A-Za-z0-9]{24}$/), fc.stringMatching(/^[A-Za-z0-9]{12,90}$/))
    const lineBreak = fc.constantFrom('\n', '\r\n', '\r\n ', '\\n', '\\r\\n', '%0D%0A')
    fc.assert(
      fc.property(
        secrets,
        anyBytes,
        anyBytes,
        lineBreak,
        fc.constantFrom(64, 76),
        (secret, before, after, end, width) => {
          const text = Buffer.concat([before, Buffer.from(secret), after]).toString('base64')
          const wrapped = text.match(new RegExp(`.{1,${width}}`, 'g'))!.join(end)
          const redacted = redactText(redactorOf(secret), wrapped).replaceAll(end, '')
          expect(redacted).toContain('{{S0}}')
          const [left = '', right = ''] = redacted.split('{{S0}}')
          expect(Math.floor((left.length * 6) / 8)).toBeLessThanOrEqual(before.length)
          expect(Math.floor((right.replaceAll('=', '').length * 6) / 8)).toBeLessThanOrEqual(after.length)
        },
      ),
      { numRuns: 1_000 },
    )
    const lines = `first line\nsecond ${btoa('hunter22-hunter22').replace(/.{10}/, '$&\n')} third\nline`
    expect(redactText(redactorOf('hunter22-hunter22'), lines)).toBe('first line\nsecond {{S0}} third\nline')
  })

  test('finds a secret whose letters are all in lower or upper case', () => {
    const redactor = redactorOf('Sk_Live-4fQz81')
    expect(redactText(redactor, 'http://sk_live-4fqz81.example/ SK_LIVE-4FQZ81')).toBe('http://{{S0}}.example/ {{S0}}')
    expect(redactText(redactor, 'sk_live-4fQz81')).toBe('sk_live-4fQz81')
  })

  test('finds a secret of which only some letters are escaped', () => {
    const redactor = redactorOf('hunter22-hunter22')
    const letters = (text: string) => text.replaceAll(/[A-Za-z]+/g, everyUnit)
    fc.assert(
      fc.property(fc.stringMatching(/^[A-Za-z0-9_+/=-]{0,20}[A-Za-z]{3}[0-9_+/=-]{3,20}$/), (secret) => {
        expect(redactText(redactorOf(secret), `<${letters(secret)}>`)).toBe('<{{S0}}>')
      }),
    )
    for (const text of ['\\u0068unter22-hunter22', '%68unter22-hunter22', '&#104;unter22-hunter22'])
      expect(redactText(redactor, `<${text}>`)).toBe('<{{S0}}>')
  })

  test('removes the padding too when the base64 text is exactly the secret', () => {
    const redactor = redactorOf('hunter22')
    expect(redactText(redactor, btoa('hunter22'))).toBe('{{S0}}')
    expect(redactText(redactor, `x=${btoa('hunter22')}&y`)).toBe('x={{S0}}&y')
    expect(redactText(redactor, `Basic ${btoa('user:hunter22')}`)).toBe('Basic dXNlcj{{S0}}==')
  })

  test('finds every secret anywhere in any JSON, and the result is valid JSON', () => {
    const names = Object.keys(encodings)
    const planted = fc.record({ which: fc.nat(), how: fc.constantFrom(...names) })
    const tree = fc.letrec<{ value: unknown }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 6, withCrossShrink: true },
        planted,
        fc.jsonValue({ maxDepth: 1 }),
        fc.array(tie('value'), { maxLength: 4 }),
        fc.record({ key: planted, value: tie('value') }).map((member) => ({ member })),
      ),
    })).value
    fc.assert(
      fc.property(fc.array(anySecret, { minLength: 1, maxLength: 4 }), tree, (secrets, draft) => {
        const expected: string[] = []
        const plant = (value: unknown): unknown => {
          if (Array.isArray(value)) return value.map(plant)
          if (typeof value !== 'object' || value === null) return value
          const { which, how, member } = value as {
            which?: number
            how?: string
            member?: { key: unknown; value: unknown }
          }
          if (member) return { [String(plant(member.key))]: plant(member.value) }
          if (how === undefined || which === undefined || !(how in encodings)) return value
          const secret = secrets[which % secrets.length]!
          const text = encodings[how]!(secret)
          expected.push(encodings[how]!(secret.trim()))
          return `<${text}>`
        }
        const planted = plant(draft)
        const redacted = JSON.parse(redactorOf(...secrets).redact(JSON.stringify(planted)))
        const texts = textsOf(redacted).map((text) => text.replaceAll(/\{\{S\d\}\}/g, '\u0000'))
        for (const text of expected) for (const each of texts) expect(each).not.toContain(text)
      }),
      { numRuns: 500 },
    )
  })

  test('returns text without secrets unchanged', () => {
    const secret = 'Ωzq9-Kq7W_zzXq.9wQ'
    const redactor = redactorOf(secret, '👩‍🚀👩‍🚀', '\\\\\\"""', '777777777')
    fc.assert(
      fc.property(
        fc.jsonValue(),
        fc.string({ unit: fc.constantFrom('\\', '"', 'u', '0', 'n', '%', '5', 'C') }),
        (value, noise) => {
          const text = JSON.stringify([
            value,
            noise.slice(0, 5),
            secret.slice(0, -1),
            secret.slice(1),
            { [noise.slice(0, 5)]: value },
          ])
          expect(redactor.redact(text)).toBe(text)
        },
      ),
      { numRuns: 1_000 },
    )
  })

  test('never cuts an escape sequence', () => {
    // Each of these could be found in the middle of an escape sequence.
    const redactor = redactorOf('name12', '00e9ab', 'u00e9a', '\\name1')
    for (const text of ['\name12', '\u00e9ab', '\\u00e9ab', '\\\name1', '\\\\name12', '"\\"name12\\""']) {
      const wire = JSON.stringify({ text })
      expect(() => JSON.parse(redactor.redact(wire))).not.toThrow()
      expect(() => JSON.parse(redactor.redact(JSON.stringify({ wire })))).not.toThrow()
    }
    expect(redactText(redactor, '\name12')).toBe('\name12')
    expect(redactText(redactor, 'C:\\name12')).toBe('C:{{S3}}{{S0}}')
  })

  test('replaces a number that is or contains a secret with a string', () => {
    const redactor = redactorOf(
      { name: 'PIN', value: '123456' },
      { name: 'PRICE', value: '0990.50' },
      { name: 'CARD', value: '12345678901234567890' },
    )
    const text = JSON.stringify([123456, -123456, 1234567, 12345, 990.5, 12345678901234567000, { pin: 123456 }])
    expect(redactor.redact(text)).toBe('["{{PIN}}","-{{PIN}}","{{PIN}}7",12345,990.5,"{{CARD}}",{"pin":"{{PIN}}"}]')
    expect(redactorOf('1000000.0').redact('[1000000]')).toBe('["{{S0}}"]')
  })

  test('prefers the longest secret where one is part of another', () => {
    const inner = { name: 'INNER', value: 'secret' }
    const outer = { name: 'OUTER', value: 'my secret token' }
    for (const redactor of [redactorOf(inner, outer), redactorOf(outer, inner)]) {
      expect(redactText(redactor, 'my secret token, my secret')).toBe('{{OUTER}}, my {{INNER}}')
    }
    const start = { name: 'START', value: 'my secret' }
    expect(redactText(redactorOf(start, outer), 'my secret token')).toBe('{{OUTER}}')
  })

  test('removes overlapping secrets completely', () => {
    expect(redactText(redactorOf('abcdefgh', 'efghijkl'), '-abcdefghijkl-')).toBe('-{{S0}}{{S1}}-')
  })

  test('names the first of two variables with the same value', () => {
    expect(redactText(redactorOf('the same', 'the same'), 'the same')).toBe('{{S0}}')
  })

  test('finds a value without its leading and trailing whitespace', () => {
    expect(redactText(redactorOf('  hunter22\n'), 'is hunter22.')).toBe('is {{S0}}.')
    expect(redactText(redactorOf('  ab  \n'), 'ab,   ab  \n,')).toBe('ab, {{S0}},')
  })

  test('treats a long prefix of a long value as the value', () => {
    const value = Array.from({ length: 3_000 }, (_, index) => (index % 7 === 0 ? '"' : index.toString(36))).join('')
    const redactor = redactorOf(value)
    for (const encode of [encodings['none']!, json, percent, btoa]) {
      expect(redactText(redactor, `<${encode(value)}>`)).toBe('<{{S0}}>')
      expect(redactText(redactor, `<${encode(value.slice(0, 1_000))}`)).toStartWith('<{{S0}}')
      expect(redactText(redactor, `<${encode(value.slice(0, 90))}`)).toBe(`<${encode(value.slice(0, 90))}`)
    }
  })
})

/** Every string of a JSON value, keys included. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value]
  if (typeof value !== 'object' || value === null) return [String(value)]
  return Object.entries(value).flatMap(([key, inner]) => [key, ...textsOf(inner)])
}
