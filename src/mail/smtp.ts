import type SMTPConnection from 'nodemailer/lib/smtp-connection/index.js'
import { type Mail, MailError, type SentMail } from '../domain/mail/mail.ts'
import { OutboundError } from '../domain/outbound-request.ts'
import { type ComposedMail, composeMail } from './compose.ts'
import type { ConnectTo } from './connect.ts'
import type { MailServer } from './mail-server.ts'
import { type SmtpFailure, smtpErrorOf } from './smtp-errors.ts'

export type SmtpOptions = {
  connect: ConnectTo
  /** Aborts with the error of a message that was cancelled or took too long. */
  signal: AbortSignal
  /** Epoch milliseconds, for the header `Date`. */
  now: number
}

/** Sends a message over a connection of its own. Rejects with `MailError`. */
export async function sendBySmtp(server: MailServer, mail: Mail, options: SmtpOptions): Promise<SentMail> {
  const composed = await composeMail(mail, options.now)
  const session = await openSession(server, options)
  try {
    const { accepted, rejected } = await session.send(composed)
    return { messageId: mail.messageId, accepted, rejected }
  } finally {
    session.close()
  }
}

/** Connects and logs in, to see whether that works. Rejects with `MailError`. */
export async function loginBySmtp(server: MailServer, options: Omit<SmtpOptions, 'now'>): Promise<void> {
  const session = await openSession(server, options)
  session.close()
}

/** A token may have ended early. Then the login is tried once more with another one. */
async function openSession(server: MailServer, options: Omit<SmtpOptions, 'now'>): Promise<SmtpSession> {
  const token = await server.token?.()
  const session = await SmtpSession.open(server, options)
  try {
    await session.login(token)
    return session
  } catch (error) {
    session.close()
    const isRefused = error instanceof MailError && error.code === 'LOGIN_FAILED' && token !== undefined
    if (!isRefused || !(await server.tokenRefused?.(token))) throw error
  }
  const other = await server.token?.()
  const second = await SmtpSession.open(server, options)
  try {
    await second.login(other)
    return second
  } catch (error) {
    second.close()
    throw error
  }
}

/** One connection to a server. */
class SmtpSession {
  readonly #server: MailServer
  readonly #connection: SMTPConnection
  readonly #signal: AbortSignal
  readonly #ended = Promise.withResolvers<never>()
  readonly #abort = () => this.#fail(this.#signal.reason)

  private constructor(server: MailServer, connection: SMTPConnection, signal: AbortSignal) {
    this.#server = server
    this.#connection = connection
    this.#signal = signal
    this.#ended.promise.catch(() => {})
    connection.on('error', (error) => this.#ended.reject(error))
    connection.on('end', () => this.#ended.reject(new Error('The connection was closed')))
    signal.addEventListener('abort', this.#abort, { once: true })
    if (signal.aborted) this.#abort()
  }

  /** Resolves after the greeting, and after the change to TLS. */
  static async open(server: MailServer, { connect, signal }: Omit<SmtpOptions, 'now'>): Promise<SmtpSession> {
    const { host, port, tls, authority } = server
    const socket = await connect({ host, port }, signal)
    const { default: Connection } = await import('nodemailer/lib/smtp-connection/index.js')
    const connection = new Connection({
      ...{ host, port, connection: socket, socketCloseTimeout, maxResponseSize: replyBytesMax },
      ...{ secure: tls === 'implicit', requireTLS: tls === 'starttls', ignoreTLS: tls === 'none' },
      // The signal limits the time of everything.
      ...{ connectionTimeout: forever, greetingTimeout: forever, socketTimeout: forever },
      tls: { rejectUnauthorized: true, minVersion: 'TLSv1.2', ...(authority === undefined ? {} : { ca: authority }) },
    })
    const session = new SmtpSession(server, connection, signal)
    try {
      await session.#step('the greeting', (done) => connection.connect(done))
      return session
    } catch (error) {
      session.close()
      socket.destroy()
      throw error
    }
  }

  async login(token: string | undefined): Promise<void> {
    const { user, password } = this.#server
    if (user === undefined) return
    const auth =
      token === undefined ? { credentials: { user, pass: password ?? '' } } : { oauth2: bearerOf(user, token) }
    await this.#step('the login', (done) => this.#connection.login(auth as never, done))
  }

  async send({ envelope, open }: ComposedMail): Promise<{ accepted: string[]; rejected: string[] }> {
    const { readable, close } = open()
    let isSending = false
    const started = () => {
      isSending = true
    }
    // The library begins to read when the server has accepted the recipients.
    readable.once('resume', started)
    try {
      const info = await this.#step('the message', (done) => this.#connection.send(envelope, readable, done), {
        isUnsure: () => isSending,
      })
      const { accepted, rejected } = info as { accepted: string[]; rejected: string[] }
      return { accepted, rejected }
    } finally {
      readable.removeListener('resume', started)
      close()
    }
  }

  close(): void {
    this.#signal.removeEventListener('abort', this.#abort)
    this.#connection.quit()
    this.#connection.close()
  }

  /** Does one step of the conversation. `isUnsure`: whether the server may have accepted the message. */
  async #step<Result>(
    step: SmtpFailure['step'],
    work: (done: (error?: Error | null, result?: Result) => void) => void,
    { isUnsure = () => false }: { isUnsure?: () => boolean } = {},
  ): Promise<Result | undefined> {
    const result = new Promise<Result | undefined>((resolve, reject) => {
      work((error, value) => (error ? reject(error) : resolve(value)))
    })
    try {
      return await Promise.race([result, this.#ended.promise])
    } catch (error) {
      result.catch(() => {})
      const cause = this.#signal.aborted ? this.#signal.reason : error
      throw smtpErrorOf(cause, { server: this.#server, step, isUnsure: isUnsure() })
    }
  }

  #fail(reason: unknown): void {
    this.#ended.reject(reason instanceof Error ? reason : new OutboundError('CANCELLED', 'The message was cancelled'))
    this.#connection.close()
  }
}

/** XOAUTH2, in the form that the library expects. It asks for one token only. */
function bearerOf(user: string, token: string) {
  return {
    getToken: (isAgain: boolean, done: (error: Error | null, token?: string) => void) =>
      isAgain ? done(new Error('The server refused the token')) : done(null, token),
    buildXOAuth2Token: (sent: string) =>
      Buffer.from(`user=${user}\u0001auth=Bearer ${sent}\u0001\u0001`).toString('base64'),
  }
}

const socketCloseTimeout = 2_000
const replyBytesMax = 65_536
/** Timers end after that. */
const forever = 2_147_483_647
