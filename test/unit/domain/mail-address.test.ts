import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { mailAddressProblem, plainMailAddress } from '../../../src/domain/mail/mail-address.ts'

test.each([
  'ada@example.com',
  'a.b+c@sub.example.co',
  "o'neil@example.com",
  'ada@localhost',
  'é@bücher.example',
  `${'a'.repeat(64)}@example.com`,
])('%s is an address', (address) => expect(mailAddressProblem(address)).toBeUndefined())

test.each([
  ...['', 'ada', '@example.com', 'ada@', 'a@b@c.example', 'a b@example.com', 'ada@exa mple.com', '.a@example.com'],
  ...[
    'a..b@example.com',
    'ada@-x.example',
    'ada@x..example',
    'ada@127.0.0.1',
    'ada@1',
    'ada@[127.0.0.1]',
    '"a"@b.example',
  ],
  ...[
    'ada@example.com\r\nX',
    'a\u0000@example.com',
    '<ada@example.com>',
    'ada@example.com>',
    `${'a'.repeat(65)}@b.example`,
  ],
  `ada@${'a.'.repeat(200)}example`,
])('%j is no address', (address) => expect(mailAddressProblem(address)).toContain('is not a valid e-mail address.'))

test('a valid address has nothing that SMTP or a header would read as something else', () => {
  const piece = fc.constantFrom(
    'a',
    '@',
    '.',
    '<',
    '>',
    '\r',
    '\n',
    ' ',
    ',',
    ';',
    ':',
    '"',
    '(',
    '\u2028',
    'é',
    '%',
    '\\',
    '[',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const address = `${pieces.join('')}@example.com`
      if (mailAddressProblem(address) === undefined) {
        expect(plainMailAddress(address)).toMatch(/^[^\s<>,;:"()[\\\]\p{C}]+@example\.com$/u)
      }
    }),
  )
})
