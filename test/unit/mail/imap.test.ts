import { describe, expect, test } from 'bun:test'
import { createServer, type Server, type Socket } from 'node:net'
import { MailError } from '../../../src/domain/mail/mail.ts'
import { connectBy } from '../../../src/mail/connect.ts'
import { loginByImap, openMailbox } from '../../../src/mail/imap.ts'
import { mimeReader } from '../../../src/mail/mime.ts'
import { tcpTargets } from '../../../src/outbound/tcp-target.ts'
import { allowList } from '../../support/outbound/peers.ts'

const connect = connectBy(tcpTargets({ allow: allowList(['loopback']) }))
const readMime = mimeReader()

async function failureOf(work: Promise<unknown>): Promise<MailError> {
  const thrown = await work.then(
    () => new Error('It worked'),
    (error: unknown) => error,
  )
  if (thrown instanceof MailError) return thrown
  throw thrown
}

/** A server that does with each connection what a test says. */
class OddServer implements Disposable {
  readonly sockets = new Set<Socket>()
  sent = 0
  readonly #server: Server

  private constructor(serve: (socket: Socket, server: OddServer) => void) {
    this.#server = createServer((socket) => {
      this.sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => this.sockets.delete(socket))
      serve(socket, this)
    })
  }

  static async start(serve: (socket: Socket, server: OddServer) => void): Promise<OddServer> {
    const server = new OddServer(serve)
    await new Promise<void>((resolve) => server.#server.listen(0, '127.0.0.1', resolve))
    return server
  }

  get account() {
    const { port } = this.#server.address() as { port: number }
    return { host: '127.0.0.1', port, tls: 'none' as const, user: 'ada', password: 'open sesame' }
  }

  /** Sends a piece again and again for as long as somebody reads. */
  flood(socket: Socket, piece: string): void {
    const more = () => {
      for (let isRead = true; isRead && !socket.destroyed; this.sent += piece.length) isRead = socket.write(piece)
    }
    socket.on('drain', more)
    more()
  }

  [Symbol.dispose](): void {
    for (const socket of this.sockets) socket.destroy()
    this.#server.close()
  }
}

/** Answers commands as a server with one mailbox does, except those that begin with `odd`. */
function politeExcept(odd: string, then: (socket: Socket, tag: string) => void) {
  return (socket: Socket) => {
    socket.write('* OK [CAPABILITY IMAP4rev1 IDLE AUTH=PLAIN SASL-IR] ready\r\n')
    let text = ''
    socket.on('data', (data) => {
      text += data.toString('latin1')
      for (;;) {
        const end = text.indexOf('\r\n')
        if (end === -1) return
        const [tag = '', ...words] = text.slice(0, end).split(' ')
        text = text.slice(end + 2)
        const command = words.join(' ').toUpperCase()
        if (command.startsWith(odd)) then(socket, tag)
        else if (command.startsWith('SELECT') || command.startsWith('EXAMINE'))
          socket.write(
            `* 1 EXISTS\r\n* OK [UIDVALIDITY 7] ok\r\n* OK [UIDNEXT 2] ok\r\n${tag} OK [READ-WRITE] done\r\n`,
          )
        else if (command.startsWith('LIST')) socket.write(`* LIST () "/" INBOX\r\n${tag} OK done\r\n`)
        else if (tag !== 'DONE') socket.write(`${tag} OK done\r\n`)
      }
    })
  }
}

const inTime = () => AbortSignal.timeout(4_000)

describe('an odd IMAP server', () => {
  test('that says nothing is left after the timeout', async () => {
    using server = await OddServer.start(() => undefined)
    const error = await failureOf(loginByImap(server.account, { connect, signal: AbortSignal.timeout(100) }))
    expect(error.message.length).toBeGreaterThan(0)
    while (server.sockets.size > 0) await Bun.sleep(5)
  })

  test('that closes the connection is named', async () => {
    using server = await OddServer.start((socket) => socket.end('* BYE no\r\n'))
    const error = await failureOf(loginByImap(server.account, { connect, signal: inTime() }))
    expect(error.message).toContain('127.0.0.1')
  })

  test.each([
    ['an endless line', 'x'.repeat(10_000)],
    ['an endless greeting', '* OK hello\r\n'.repeat(1_000)],
    ['a literal of 4 GB', `* OK {4294967295}\r\n${'x'.repeat(10_000)}`],
  ])('that sends %s is left', async (_, piece) => {
    using server = await OddServer.start((socket, own) => own.flood(socket, piece))
    const error = await failureOf(loginByImap(server.account, { connect, signal: AbortSignal.timeout(1_500) }))
    expect(error.message.length).toBeLessThan(1_000)
    while (server.sockets.size > 0) await Bun.sleep(5)
    expect(server.sent).toBeLessThan(200_000_000)
  })

  test('that floods the answer to a search is left', async () => {
    const gone = Promise.withResolvers<void>()
    using server = await OddServer.start((socket) => {
      socket.on('close', () => gone.resolve())
      politeExcept('UID SEARCH', (to) => server.flood(to, `* SEARCH ${'1 '.repeat(50_000)}\r\n`))(socket)
    })
    const mailbox = await openMailbox(server.account, 'INBOX', { connect, signal: inTime(), readMime })
    await failureOf(mailbox.uidsAfter(0, {}, 10))
    await gone.promise
    expect(server.sent).toBeLessThan(500_000_000)
  }, 20_000)

  test('that says a message is larger than it is gets no more memory than the limit', async () => {
    using server = await OddServer.start(
      politeExcept('UID FETCH', (socket, tag) => {
        socket.write(`* 1 FETCH (UID 1 RFC822.SIZE 10 BODY[]<0> {3000000000}\r\n`)
        server.flood(socket, 'x'.repeat(10_000))
        void tag
      }),
    )
    const mailbox = await openMailbox(server.account, 'INBOX', { connect, signal: inTime(), readMime })
    await failureOf(mailbox.read(1, true))
    while (server.sockets.size > 0) await Bun.sleep(5)
    expect(server.sent).toBeLessThan(100_000_000)
  }, 20_000)
})
