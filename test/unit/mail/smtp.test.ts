import { describe, expect, test } from 'bun:test'
import { createServer, type Server, type Socket } from 'node:net'
import { MailError } from '../../../src/domain/mail/mail.ts'
import { connectBy } from '../../../src/mail/connect.ts'
import type { MailClient } from '../../../src/mail/mail-client.ts'
import { tcpTargets } from '../../../src/outbound/tcp-target.ts'
import { credentialsOf, mailClientOf, mailCredential, makeMail } from '../../support/mail/mail-client.ts'
import { SmtpPeer } from '../../support/mail/smtp-peer.ts'
import { allowList } from '../../support/outbound/peers.ts'

const { signal } = new AbortController()
const delivery = { credential: 'mail', timeoutMs: 10_000, signal }

async function failureOf(sending: Promise<unknown>): Promise<MailError> {
  const thrown = await sending.then(
    () => new Error('It was sent'),
    (error: unknown) => error,
  )
  if (thrown instanceof MailError) return thrown
  throw thrown
}

/** Sends to a server with these fields of the credential. */
const send = (fields: Record<string, unknown>, mail = makeMail(), client: MailClient = mailClientOf()) =>
  client.send(credentialsOf(mailCredential(fields)), mail, delivery)

describe('a mail server', () => {
  for (const tls of ['implicit', 'starttls', 'none'] as const) {
    test(`receives a message with the encryption ${tls}`, async () => {
      await using peer = await SmtpPeer.start({ secure: tls === 'implicit', plain: tls === 'none' })
      const sent = await send({ port: peer.port, tls })
      expect(sent).toEqual({ messageId: '<1@example.com>', accepted: ['bob@example.com'], rejected: [] })
      const [message] = peer.received
      expect(message).toMatchObject({ from: 'ada@example.com', to: ['bob@example.com'], user: 'ada' })
      expect(message!.isSecure).toBe(tls !== 'none')
      expect(message!.text).toContain('Message-ID: <1@example.com>')
    })
  }

  test('receives the envelope of all recipients, and a text without Bcc', async () => {
    await using peer = await SmtpPeer.start()
    const named = (address: string) => [{ name: '', address }]
    const mail = makeMail({
      cc: named('cy@example.com'),
      bcc: named('di@example.com'),
      replyTo: named('el@example.com'),
    })
    await send({ port: peer.port, tls: 'starttls' }, mail)
    expect(peer.received[0]!.to).toEqual(['bob@example.com', 'cy@example.com', 'di@example.com'])
    expect(peer.received[0]!.text).not.toContain('di@example.com')
    expect(peer.received[0]!.text).toContain('Reply-To: el@example.com')
  })

  test('receives attachments as they are', async () => {
    await using peer = await SmtpPeer.start()
    const content = new Uint8Array(1_000_000).map((_, at) => (at * 31) % 256)
    const mail = makeMail({
      attachments: [{ name: 'Zahlen é.bin', type: 'application/octet-stream', content: new Blob([content]) }],
    })
    await send({ port: peer.port, tls: 'starttls' }, mail)
    const [, encoded = ''] = /base64\r\n[\s\S]*?\r\n\r\n([A-Za-z0-9+/=\r\n]+)/.exec(peer.received[0]!.text) ?? []
    expect(Buffer.from(encoded, 'base64').equals(Buffer.from(content))).toBe(true)
  })

  test('that refuses some recipients gets the message for the others', async () => {
    await using peer = await SmtpPeer.start()
    const to = ['bob', 'nobody'].map((name) => ({ name: '', address: `${name}@example.com` }))
    const sent = await send({ port: peer.port, tls: 'starttls' }, makeMail({ to }))
    expect(sent).toMatchObject({ accepted: ['bob@example.com'], rejected: ['nobody@example.com'] })
  })

  test('that refuses all recipients gets nothing', async () => {
    await using peer = await SmtpPeer.start()
    const mail = makeMail({ to: [{ name: '', address: 'nobody@example.com' }] })
    const error = await failureOf(send({ port: peer.port, tls: 'starttls' }, mail))
    expect(error).toMatchObject({ code: 'MESSAGE_REFUSED', status: 550, mayRepeat: false })
    expect(error.message).toContain('There is no mailbox nobody@example.com')
  })

  test('that accepts no message now may be asked again', async () => {
    await using peer = await SmtpPeer.start()
    peer.deferred = 1
    const error = await failureOf(send({ port: peer.port, tls: 'starttls' }))
    expect(error).toMatchObject({ code: 'MESSAGE_REFUSED', status: 451, mayRepeat: true })
  })

  test('that refuses the password is not asked again', async () => {
    await using peer = await SmtpPeer.start()
    const used: number[] = []
    const client = mailClientOf({ used: (_, status) => void used.push(status) })
    const credential = mailCredential({ port: peer.port, tls: 'starttls' }, { secrets: { password: 'wrong' } })
    const error = await failureOf(client.send(credentialsOf(credential), makeMail(), delivery))
    expect(error).toMatchObject({ code: 'LOGIN_FAILED', status: 535, mayRepeat: false })
    expect(used).toEqual([401])
    expect(peer.received).toEqual([])
  })

  test('that does not offer STARTTLS receives neither password nor message', async () => {
    await using peer = await SmtpPeer.start({ plain: true })
    const error = await failureOf(send({ port: peer.port, tls: 'starttls' }))
    expect(error.message).toContain('127.0.0.1')
    expect(peer.logins).toEqual([])
    expect(peer.received).toEqual([])
  })

  test('whose certificate nobody signed, or that is for another name, receives nothing', async () => {
    await using peer = await SmtpPeer.start({ secure: true })
    await using second = await SmtpPeer.start()
    for (const fields of [
      { port: peer.port, authority: '' },
      { port: peer.port, host: 'localhost' },
      { port: second.port, host: 'localhost', tls: 'starttls' },
    ]) {
      const error = await failureOf(send(fields))
      expect(error).toMatchObject({ code: 'CONNECTION_FAILED', mayRepeat: false })
      expect(error.message).toContain('certificate')
    }
    expect([...peer.logins, ...second.logins]).toEqual([])
  })

  test('at a refused address gets no connection', async () => {
    await using peer = await SmtpPeer.start()
    const client = mailClientOf({ connect: connectBy(tcpTargets({ allow: allowList([]) })) })
    const error = await failureOf(send({ port: peer.port }, makeMail(), client))
    expect(error.code).toBe('ADDRESS_REFUSED')
    expect(peer.connections).toBe(0)
  })
})

describe('a login with OAuth 2', () => {
  const bearer = (hosts: string[]) => mailCredential({}, { kind: 'oauth2_client_credentials', name: 'mailbox', hosts })

  test('sends the token, and another one when the server refuses it', async () => {
    await using peer = await SmtpPeer.start({ tokens: new Set(['second']) })
    const tokens = ['first', 'second']
    const client = mailClientOf({
      tokens: { tokenOf: async () => tokens[0]!, refused: async () => tokens.shift() !== undefined },
    })
    const credential = mailCredential({ port: peer.port, tls: 'starttls', auth: 'mailbox' }, { secrets: {} })
    await client.send(credentialsOf(credential, bearer(['127.0.0.1'])), makeMail(), delivery)
    expect(peer.logins).toEqual(['XOAUTH2 ada', 'XOAUTH2 ada'])
    expect(peer.received).toHaveLength(1)
  })

  test('fails when there is no other token', async () => {
    await using peer = await SmtpPeer.start({ tokens: new Set(['second']) })
    const client = mailClientOf({ tokens: { tokenOf: async () => 'first', refused: async () => false } })
    const credential = mailCredential({ port: peer.port, tls: 'starttls', auth: 'mailbox' })
    const sending = client.send(credentialsOf(credential, bearer([`127.0.0.1:${peer.port}`])), makeMail(), delivery)
    expect((await failureOf(sending)).code).toBe('LOGIN_FAILED')
  })

  test('keeps the token from servers that its credential does not name', async () => {
    await using peer = await SmtpPeer.start({ tokens: new Set(['first']) })
    const client = mailClientOf({ tokens: { tokenOf: async () => 'first', refused: async () => false } })
    const credential = mailCredential({ port: peer.port, tls: 'starttls', auth: 'mailbox' })
    const sending = client.send(credentialsOf(credential, bearer(['api.example.com'])), makeMail(), delivery)
    expect((await failureOf(sending)).code).toBe('CREDENTIAL_HOST')
    expect(peer.connections).toBe(0)
  })
})

/** A server that does with each connection what a test says. */
class OddServer implements Disposable {
  readonly sockets = new Set<Socket>()
  readonly #server: Server

  private constructor(serve: (socket: Socket) => void) {
    this.#server = createServer((socket) => {
      this.sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => this.sockets.delete(socket))
      serve(socket)
    })
  }

  static async start(serve: (socket: Socket) => void): Promise<OddServer> {
    const server = new OddServer(serve)
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve))
    return server
  }

  get fields() {
    return { port: (this.#server.address() as { port: number }).port, tls: 'none', user: '' }
  }

  [Symbol.dispose](): void {
    for (const socket of this.sockets) socket.destroy()
    this.#server.close()
  }
}

/** Speaks SMTP until a command begins with `until`. */
function politeUntil(until: string, then: (socket: Socket) => void) {
  return (socket: Socket) => {
    socket.write('220 odd ESMTP\r\n')
    let text = ''
    let isMessage = false
    socket.on('data', (data) => {
      text += data.toString('latin1')
      for (;;) {
        const end = text.indexOf('\r\n')
        if (end === -1) return
        const line = text.slice(0, end)
        text = text.slice(end + 2)
        if (line.startsWith(until)) return then(socket)
        if (!isMessage) socket.write(line === 'DATA' ? '354 go\r\n' : '250 ok\r\n')
        isMessage ||= line === 'DATA'
      }
    })
  }
}

describe('an odd mail server', () => {
  test('that closes the connection before the message may be asked again', async () => {
    using server = await OddServer.start(politeUntil('RCPT', (socket) => socket.destroy()))
    const error = await failureOf(send(server.fields))
    expect(error).toMatchObject({ code: 'CONNECTION_FAILED', mayRepeat: true })
  })

  test('that closes the connection after the message is not asked again', async () => {
    using server = await OddServer.start(politeUntil('.', (socket) => socket.destroy()))
    const error = await failureOf(send(server.fields))
    expect(error).toMatchObject({ code: 'CONNECTION_FAILED', mayRepeat: false })
    expect(error.message).toContain('may have accepted the message')
  })

  test('that says nothing is left after the timeout', async () => {
    using server = await OddServer.start(() => undefined)
    const client = mailClientOf()
    const short = { ...delivery, timeoutMs: 100 }
    const error = await failureOf(client.send(credentialsOf(mailCredential(server.fields)), makeMail(), short))
    expect(error).toMatchObject({ code: 'TIMEOUT', mayRepeat: true })
    while (server.sockets.size > 0) await Bun.sleep(5)
  })

  test('is left as soon as the message is cancelled', async () => {
    const reached = Promise.withResolvers<void>()
    using server = await OddServer.start(politeUntil('MAIL', () => reached.resolve()))
    const controller = new AbortController()
    const sending = mailClientOf().send(credentialsOf(mailCredential(server.fields)), makeMail(), {
      ...delivery,
      signal: controller.signal,
    })
    await reached.promise
    controller.abort()
    expect((await failureOf(sending)).code).toBe('CANCELLED')
    while (server.sockets.size > 0) await Bun.sleep(5)
  })

  test.each([
    ['an endless greeting', '220-hello\r\n'],
    ['an endless line', 'x'.repeat(1_000)],
    ['replies that nobody asked for', '250 ok\r\n'],
  ])('that sends %s is left, and takes little memory', async (_, piece) => {
    let sent = 0
    using server = await OddServer.start((socket) => {
      const flood = () => {
        for (let more = true; more && !socket.destroyed; sent += piece.length * 100)
          more = socket.write(piece.repeat(100))
      }
      socket.on('drain', flood)
      flood()
    })
    const error = await failureOf(send(server.fields))
    expect(['MAIL_ERROR', 'CONNECTION_FAILED']).toContain(error.code)
    expect(error.message.length).toBeLessThan(1_000)
    expect(sent).toBeLessThan(50_000_000)
    while (server.sockets.size > 0) await Bun.sleep(5)
  })

  test('that is not a mail server is named', async () => {
    using server = await OddServer.start((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'))
    expect((await failureOf(send(server.fields))).message).toContain('127.0.0.1')
  })
})
