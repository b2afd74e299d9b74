import { describe, expect, test } from 'bun:test'
import { mimeReader } from '../../../src/mail/mime.ts'
import { messageOf } from '../../support/mail/messages.ts'

const readMime = mimeReader()
const read = (text: string, withFiles = true) => readMime(Buffer.from(text.replaceAll(/\r?\n/g, '\r\n')), withFiles)

/** `count` multiparts inside one another. */
function nested(count: number): string {
  const open = Array.from({ length: count }, (_, at) => `Content-Type: multipart/mixed; boundary=b${at}\n\n--b${at}\n`)
  return `From: a@b.example\n${open.join('')}Content-Type: text/plain\n\ndeep\n`
}

describe('a message', () => {
  test('has addresses, texts and attachments', async () => {
    const mail = await read(
      messageOf({ subject: '=?utf-8?Q?Caf=C3=A9?=', text: 'Hi', file: { name: 'a.csv', text: 'a,b' } }),
    )
    expect(mail).toMatchObject({
      ...{ from: { name: 'Ada', address: 'ada@example.com' }, to: [{ name: 'Shop', address: 'shop@example.com' }] },
      ...{ subject: 'Café', date: Date.UTC(2026, 10, 28, 10), problem: null },
    })
    expect(mail.text.trim()).toBe('Hi')
    expect(mail.attachments.map(({ name, type }) => [name, type])).toEqual([['a.csv', 'text/csv']])
    expect(Buffer.from(mail.attachments[0]!.content).toString()).toBe('a,b')
  })

  test('has no attachments if nobody wants them', async () => {
    expect((await read(messageOf({ file: { name: 'a.csv', text: 'a' } }), false)).attachments).toEqual([])
  })

  test.each([
    ['iso-8859-1', Buffer.from([0xe9]), 'é'],
    ['windows-1252', Buffer.from([0x80]), '€'],
    ['shift_jis', Buffer.from([0x93, 0xfa]), '日'],
    ['gb18030', Buffer.from([0xc4, 0xe3]), '你'],
  ])('in the character set %s is read', async (charset, bytes, text) => {
    const head = `From: a@b.example\r\nMIME-Version: 1.0\r\nContent-Type: text/plain; charset=${charset}\r\n\r\n`
    expect((await readMime(Buffer.concat([Buffer.from(head), bytes]), true)).text.trim()).toBe(text)
  })

  test('cannot change the texts of a header by line breaks or control characters', async () => {
    const subject = '=?utf-8?Q?a=0D=0AX-Evil=3A_b=00?='
    expect((await read(messageOf({ subject }))).subject).toBe('a X-Evil: b')
  })

  test('has file names without control characters, and none that is empty', async () => {
    const files = await read(messageOf({ file: { name: '', text: 'a' } }))
    expect(files.attachments[0]!.name).toBe('attachment')
  })
})

describe('a hostile message', () => {
  test.each([
    ['10,000 nested multiparts', nested(10_000)],
    ['a million headers', `${'X: y\n'.repeat(1_000_000)}\nHi`],
    ['one header of 10 MB', `Subject: ${'x'.repeat(10_000_000)}\n\nHi`],
    ['a million recipients', `To: ${'a@b.example,'.repeat(1_000_000)}\n\nHi`],
    [
      '100,000 parts',
      `Content-Type: multipart/mixed; boundary=b\n\n${'--b\nContent-Type: text/plain\n\nx\n'.repeat(100_000)}--b--\n`,
    ],
    ['a boundary that never ends', `Content-Type: multipart/mixed; boundary=b\n\n${'--b\n'.repeat(1_000_000)}`],
    ['an encoded word of 5 MB', `Subject: ${'=?utf-8?Q?=41?= '.repeat(300_000)}\n\nHi`],
    ['5 MB of HTML tags', `Content-Type: text/html\n\n${'<a href="'.repeat(600_000)}`],
  ])(
    'with %s is read within its limits, or not at all',
    async (_, text) => {
      const quick = mimeReader({ timeoutMs: 3_000 })
      const from = performance.now()
      let turns = 0
      const counting = setInterval(() => {
        turns += 1
      }, 5)
      const mail = await quick(Buffer.from(text), true)
      clearInterval(counting)
      const took = performance.now() - from
      expect(took).toBeLessThan(5_000)
      // The main thread goes on meanwhile: a parser on it would let no timer fire.
      if (took > 500) expect(turns).toBeGreaterThan(1)
      expect(mail.to.length).toBeLessThanOrEqual(1_000)
      expect(mail.attachments.length).toBeLessThanOrEqual(100)
      expect(JSON.stringify({ ...mail, attachments: [] }).length).toBeLessThan(12_000_000)
    },
    20_000,
  )

  test('does not stop the next one', async () => {
    expect((await read(messageOf({ subject: 'Next' }))).subject).toBe('Next')
  })
})
