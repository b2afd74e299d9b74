import { describe, expect, test } from 'bun:test'
import { email } from '../../../src/blocks/email.ts'
import { type Mail, MailError } from '../../../src/domain/mail/mail.ts'
import type { BlockContext } from '../../../src/engine/block.ts'
import { VirtualClock } from '../../../src/engine/tests/virtual-clock.ts'
import { credentialsOf, mailClientOf, mailCredential } from '../../support/mail/mail-client.ts'
import { SmtpPeer } from '../../support/mail/smtp-peer.ts'
import { makeContext, runBlock } from './context.ts'

const params = {
  credential: 'mail',
  from: 'Shop <shop@example.com>',
  to: 'bob@example.com',
  subject: 'Hello',
  text: 'Hi',
}

/** Runs the block with a server that accepts everything. Returns its result and the messages it sent. */
async function sent(more: Record<string, unknown>, overrides: Partial<BlockContext> = {}) {
  const mails: Mail[] = []
  using context = makeContext({
    sendMail: async (mail) => {
      mails.push(mail)
      return { messageId: mail.messageId, accepted: mail.to.map(({ address }) => address), rejected: [] }
    },
    ...overrides,
  })
  return { ...(await runBlock(email, { ...params, ...more }, context)), mails, notes: context.notes }
}

describe('the e-mail block', () => {
  test('sends a message over a mail server, with a file of the run', async () => {
    await using peer = await SmtpPeer.start()
    const client = mailClientOf()
    const access = credentialsOf(mailCredential({ port: peer.port, tls: 'starttls' }))
    using context = makeContext({
      sendMail: (mail, credential, timeoutMs) =>
        client.send(access, mail, { credential, timeoutMs, signal: new AbortController().signal }),
    })
    const file = await context.files.store(new TextEncoder().encode('a,b'), { name: 'list.csv', type: 'text/csv' })
    const { outputs } = await runBlock(email, { ...params, cc: ['cy@example.com'], attachments: [file] }, context)
    expect(outputs).toEqual({
      messageId: '<key-of-b1@example.com>',
      accepted: ['bob@example.com', 'cy@example.com'],
      rejected: [],
      error: null,
    })
    const [text] = peer.received.map((message) => message.text)
    expect(text).toContain('From: Shop <shop@example.com>')
    expect(text).toContain('filename=list.csv')
    expect(text).toContain(Buffer.from('a,b').toString('base64'))
  })

  test('reads one address, several in a text, and a list', async () => {
    const { mails } = await sent({
      to: 'Bob <bob@example.com>, "Carl, the first" <carl@EXAMPLE.com>',
      cc: ['di@example.com', 'Él <el@bücher.example>'],
      bcc: '',
    })
    expect(mails[0]).toMatchObject({
      from: { name: 'Shop', address: 'shop@example.com' },
      to: [
        { name: 'Bob', address: 'bob@example.com' },
        { name: 'Carl, the first', address: 'carl@example.com' },
      ],
      cc: [
        { name: '', address: 'di@example.com' },
        { name: 'Él', address: 'el@xn--bcher-kva.example' },
      ],
      bcc: [],
    })
  })

  test.each([
    [{ to: 'bob' }, '"bob" is not a valid e-mail address'],
    [{ to: 'bob@example.com\r\nBcc: eve@example.com' }, 'must not contain line breaks'],
    [{ from: 'Shop\n<shop@example.com>' }, 'must not contain line breaks'],
    [{ from: 'a@example.com, b@example.com' }, 'from must be one e-mail address'],
    [{ to: [] }, 'has no recipient'],
    [{ to: Array.from({ length: 101 }, (_, at) => `a${at}@example.com`) }, 'more than 100'],
    [{ to: ['a@example.com,'.repeat(60), 'a@example.com,'.repeat(60)] }, 'to has more than 100'],
    [{ text: 'x'.repeat(1_000_001) }, 'At most 1000000 are allowed'],
    [{ attachments: 'list.csv' }, 'Attachment 1 is not a file'],
    [{ attachments: Array.from({ length: 51 }, () => ({})) }, 'At most 50'],
  ])('does not send %j', async (more, message) => {
    const { error, mails } = await sent(more)
    expect(error).toMatchObject({ code: 'INVALID_PARAMETER', message: expect.stringContaining(message) })
    expect(mails).toEqual([])
  })

  test('writes the subject on one line', async () => {
    const { mails } = await sent({ subject: 'Hello\r\nBcc: eve@example.com' })
    expect(mails[0]!.subject).toBe('Hello Bcc: eve@example.com')
  })

  test('makes the text from the HTML when there is none', async () => {
    const html = '<style>p{}</style><p>Dear <b>Bob</b>,</p><p>see <a href="https://a.example/1">this</a> &amp; that</p>'
    expect((await sent({ text: '', html })).mails[0]).toMatchObject({
      html,
      text: 'Dear Bob,\nsee this (https://a.example/1) & that',
    })
    expect((await sent({ html })).mails[0]!.text).toBe('Hi')
  })

  test('sends again after a temporary failure, with the same message ID', async () => {
    const ids: string[] = []
    const clock = new VirtualClock(0)
    const { outputs, notes } = await sent(
      {},
      {
        clock,
        sendMail: async ({ messageId }) => {
          ids.push(messageId)
          if (ids.length < 3) throw new MailError('MESSAGE_REFUSED', 'Not now', { status: 451, mayRepeat: true })
          return { messageId, accepted: ['bob@example.com'], rejected: [] }
        },
      },
    )
    clock.stop()
    expect(outputs).toMatchObject({ accepted: ['bob@example.com'], error: null })
    expect(new Set(ids).size).toBe(1)
    expect(notes.attempts).toMatchObject([{ number: 1, status: 451 }, { number: 2, status: 451 }, { number: 3 }])
  })

  test('does not send again what the server may have accepted', async () => {
    let calls = 0
    const { error } = await sent(
      {},
      {
        sendMail: async () => {
          calls += 1
          throw new MailError('CONNECTION_FAILED', 'Lost.')
        },
      },
    )
    expect(error).toEqual({ code: 'CONNECTION_FAILED', message: 'Lost.', attempts: 1 })
    expect(calls).toBe(1)
  })
})
