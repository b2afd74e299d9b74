import type { Socket } from 'node:net'
import { connect as connectTls } from 'node:tls'
import type { ImapFlow } from 'imapflow'
import { messageOf } from '../domain/errors.ts'
import { MailError } from '../domain/mail/mail.ts'
import { type MailboxFilter, type OpenMailbox, type ReceivedMail, receivedBounds } from '../domain/mail/mailbox.ts'
import { OutboundError } from '../domain/outbound-request.ts'
import type { ConnectTo } from './connect.ts'
import type { MailServer } from './mail-server.ts'
import type { ReadMime } from './mime.ts'

export type ImapOptions = {
  connect: ConnectTo
  /** Aborts with an error when connecting and logging in take too long. */
  signal: AbortSignal
}

/** Connects and logs in, to see whether that works. Rejects with `MailError`. */
export async function loginByImap(server: MailServer, options: ImapOptions): Promise<void> {
  const { client } = await openClient(server, options)
  client.close()
}

/** Opens a mailbox. Rejects with `MailError`. */
export async function openMailbox(
  server: MailServer,
  name: string,
  { readMime, ...options }: ImapOptions & { readMime: ReadMime },
): Promise<OpenMailbox> {
  const connection = await openClient(server, options)
  const { client } = connection
  try {
    const { uidValidity } = await ended(connection, client.mailboxOpen(name))
    return new ImapMailbox(connection, { name, readMime, uidValidity: String(uidValidity) })
  } catch (error) {
    client.close()
    if (error instanceof MailError && error.code === 'MAIL_ERROR')
      throw new MailError('MAILBOX_FAILED', `The mailbox "${name.slice(0, 200)}" could not be opened: ${error.message}`)
    throw error
  }
}

/** `bytesRead`: how many the server has sent so far. */
type ImapConnection = { client: ImapFlow; server: MailServer; bytesRead(): number }

/** A token may have ended early. Then the login is tried once more with another one. */
async function openClient(server: MailServer, options: ImapOptions): Promise<ImapConnection> {
  const token = await server.token?.()
  try {
    return await loggedIn(server, token, options)
  } catch (error) {
    const isRefused = error instanceof MailError && error.code === 'LOGIN_FAILED' && token !== undefined
    if (!isRefused || !(await server.tokenRefused?.(token))) throw error
  }
  return await loggedIn(server, await server.token?.(), options)
}

async function loggedIn(server: MailServer, token: string | undefined, { connect, signal }: ImapOptions) {
  const { host, port, tls, user = '', password = '', authority } = server
  const socket = await connect({ host, port }, signal)
  // Loaded on first use, because few workflows read mail.
  const { ImapFlow: Client } = await import('imapflow')
  let current: Socket = socket
  const secured = (raw: Socket, servername: string | undefined, onSecure: () => void) => {
    current = connectTls(
      {
        ...{ socket: raw, host, rejectUnauthorized: true, minVersion: 'TLSv1.2' as const },
        ...(servername === undefined ? {} : { servername }),
        ...(authority === undefined ? {} : { ca: authority }),
      },
      onSecure,
    )
    return current
  }
  const client = new Client({
    ...{ host, port, secure: tls === 'implicit', doSTARTTLS: tls === 'starttls', logger: false, emitLogs: false },
    auth: { user, ...(token === undefined ? { pass: password } : { accessToken: token }) },
    transport: {
      connect({ secure, servername }, onConnect) {
        if (secure) return secured(socket, servername, onConnect)
        setImmediate(onConnect)
        return socket
      },
      upgrade: (raw, { servername }, onSecure) => secured(raw as Socket, servername, onSecure),
    },
    ...{ disableCompression: true, autoIdleDelay: 200, maxIdleTime: idleMsMax, socketTimeout: silentMsMax },
    ...{ maxLineLength: lineBytesMax, maxLiteralSize: literalBytesMax, maxResponseSize: responseBytesMax },
    maxResponseTokens: 100_000,
  } as ConstructorParameters<typeof Client>[0])
  client.on('error', () => undefined)
  const connection = { client, server, bytesRead: () => current.bytesRead }
  const abort = () => client.close()
  signal.addEventListener('abort', abort, { once: true })
  try {
    signal.throwIfAborted()
    await ended(connection, client.connect())
    return connection
  } catch (error) {
    client.close()
    socket.destroy()
    throw signal.aborted ? imapErrorOf(signal.reason, server) : error
  } finally {
    signal.removeEventListener('abort', abort)
  }
}

type Details = { name: string; uidValidity: string; readMime: ReadMime }

class ImapMailbox implements OpenMailbox {
  readonly uidValidity: string
  readonly #client: ImapFlow
  readonly #connection: ImapConnection
  readonly #details: Details
  #hasNews = true
  #onNews: (() => void) | undefined

  constructor(connection: ImapConnection, details: Details) {
    const { client } = connection
    this.#client = client
    this.#connection = connection
    this.#details = details
    this.uidValidity = details.uidValidity
    const news = () => {
      this.#hasNews = true
      this.#onNews?.()
    }
    client.on('exists', news)
    client.on('close', news)
  }

  async lastUid(): Promise<number> {
    const status = await this.#ended(this.#client.status(this.#details.name, { uidNext: true }))
    return status ? Number(status.uidNext ?? 1) - 1 : 0
  }

  async uidsAfter(uid: number, { from, subject }: MailboxFilter, max: number): Promise<number[]> {
    // Messages that arrive during the search count as new, so the next wait ends at once.
    this.#hasNews = false
    const query = { uid: `${uid + 1}:*`, ...(from ? { from } : {}), ...(subject ? { subject } : {}) }
    const found = await this.#ended(this.#client.search(query, { uid: true }))
    // The range includes the newest message even if it is before its start.
    const later = (found || []).filter((each) => each > uid).sort((one, other) => one - other)
    if (later.length > max) this.#hasNews = true
    return later.slice(0, max)
  }

  async read(uid: number, withFiles: boolean): Promise<ReceivedMail | undefined> {
    const { messageBytesMax, cutBytes } = receivedBounds
    const facts = await this.#ended(
      this.#client.fetchOne(String(uid), { uid: true, size: true, internalDate: true }, { uid: true }),
    )
    if (!facts) return undefined
    const isLarge = (facts.size ?? 0) > messageBytesMax
    const source = { start: 0, maxLength: isLarge ? cutBytes : messageBytesMax }
    const message = await this.#ended(this.#client.fetchOne(String(uid), { uid: true, source }, { uid: true }))
    const bytes = message ? message.source : undefined
    if (!bytes) return undefined
    const mail = await this.#details.readMime(bytes, withFiles && !isLarge)
    const received = new Date(facts.internalDate ?? Number.NaN).getTime()
    const problem = isLarge
      ? `The message has more than ${messageBytesMax} bytes. Its attachments were not read.`
      : null
    return {
      ...mail,
      date: mail.date ?? (Number.isNaN(received) ? undefined : received),
      problem: mail.problem ?? problem,
    }
  }

  async markSeen(uid: number): Promise<void> {
    await this.#ended(this.#client.messageFlagsAdd(String(uid), ['\\Seen'], { uid: true }))
  }

  wait(timeoutMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (this.#hasNews || signal.aborted) return resolve()
      const guard = guarded(this.#connection, idleBytesMax, () => this.#client.close())
      const done = () => {
        clearTimeout(timer)
        clearInterval(guard)
        signal.removeEventListener('abort', done)
        this.#onNews = undefined
        resolve()
      }
      const timer = setTimeout(done, timeoutMs)
      signal.addEventListener('abort', done, { once: true })
      this.#onNews = done
    })
  }

  close(): void {
    this.#client.close()
  }

  async #ended<Result>(work: Promise<Result>): Promise<Result> {
    const result = await ended(this.#connection, work)
    // On a connection that has ended, some commands have no result instead of an error.
    if (!this.#client.usable) throw lostConnection(this.#connection.server)
    return result
  }
}

/** Waits for a command, but not forever: a server may answer without an end. */
async function ended<Result>(connection: ImapConnection, work: Promise<Result>): Promise<Result> {
  const { client, server } = connection
  const ending = Promise.withResolvers<never>()
  const end = (error: OutboundError) => {
    ending.reject(error)
    client.close()
  }
  const timer = setTimeout(() => {
    end(new OutboundError('TIMEOUT', `${server.host} did not finish its answer within ${commandMsMax} ms.`))
  }, commandMsMax)
  const guard = guarded(connection, responseBytesMax, () => {
    end(
      new OutboundError('RESPONSE_TOO_LARGE', `${server.host} sent an answer of more than ${responseBytesMax} bytes.`),
    )
  })
  try {
    return await Promise.race([work, ending.promise])
  } catch (error) {
    work.catch(() => undefined)
    throw imapErrorOf(error, server)
  } finally {
    clearTimeout(timer)
    clearInterval(guard)
  }
}

/** Calls `onMore` once the server has sent more than `bytesMax` from now on. */
function guarded({ bytesRead }: ImapConnection, bytesMax: number, onMore: () => void): ReturnType<typeof setInterval> {
  const from = bytesRead()
  const guard = setInterval(() => {
    if (bytesRead() - from <= bytesMax) return
    clearInterval(guard)
    onMore()
  }, guardMs)
  return guard
}

function imapErrorOf(thrown: unknown, { host, port }: MailServer): MailError {
  if (thrown instanceof MailError) return thrown
  if (thrown instanceof OutboundError)
    return new MailError(thrown.code, thrown.message, { mayRepeat: true, cause: thrown })
  const { authenticationFailed, responseText, code, serverResponseCode } = thrown as Partial<Record<string, unknown>>
  const said = typeof responseText === 'string' && responseText !== '' ? shortened(responseText) : ''
  if (authenticationFailed === true)
    return new MailError('LOGIN_FAILED', `The login at ${host} failed${said && `: ${said}`}.`, { cause: thrown })
  const name = String(code ?? '')
  if (/CERT|SELF_SIGNED|UNABLE_TO|ALTNAME|SSL|CRL/.test(name))
    return new MailError('CONNECTION_FAILED', `The certificate of ${host} was not accepted: ${name}.`, {
      cause: thrown,
    })
  if (said !== '' || serverResponseCode !== undefined)
    return new MailError('MAIL_ERROR', `${host} refused a command: ${said || String(serverResponseCode)}.`, {
      cause: thrown,
    })
  const reason = shortened(messageOf(thrown))
  return new MailError('CONNECTION_FAILED', `The connection to ${host}:${port} ended: ${reason}.`, {
    ...{ mayRepeat: true, cause: thrown },
  })
}

function lostConnection({ host, port }: MailServer): MailError {
  return new MailError('CONNECTION_FAILED', `${host}:${port} closed the connection.`, { mayRepeat: true })
}

function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim().replace(/\.$/, '')
  return line.length > 300 ? `${line.slice(0, 300)}…` : line
}

/** Servers end an IDLE after 30 minutes; proxies on the way end silent connections earlier. */
const idleMsMax = 5 * 60_000
/** A connection that is silent for longer is dead: each IDLE begins again before that. */
const silentMsMax = 7 * 60_000
const commandMsMax = 120_000
const guardMs = 100
/** Bytes that a server may send without a request. */
const idleBytesMax = 4_194_304
const lineBytesMax = 1_048_576
const literalBytesMax = receivedBounds.messageBytesMax + 65_536
const responseBytesMax = literalBytesMax + lineBytesMax
