import type { Clock } from '../domain/clock.ts'
import type { OpenCredential } from '../domain/credential/open-credential.ts'
import { type Mail, type MailDelivery, MailError, type SentMail } from '../domain/mail/mail.ts'
import type { OpenMailbox } from '../domain/mail/mailbox.ts'
import { MailAttempts } from './attempts.ts'
import type { ConnectTo } from './connect.ts'
import { loginByImap, openMailbox } from './imap.ts'
import { type MailServer, type MailServerOptions, mailServerOf } from './mail-server.ts'
import { mimeReader } from './mime.ts'
import { loginBySmtp, sendBySmtp } from './smtp.ts'

export type MailClientOptions = {
  connect: ConnectTo
  /** Waits for a place among the connections of the workspace to the server. */
  acquire(route: { workspace: string; host: string; origin: string }, signal: AbortSignal): Promise<{ release(): void }>
  tokens: MailServerOptions['tokens']
  clock: Pick<Clock, 'now' | 'setTimer'>
  /** Called after a login with a credential. `status`: 200, or 401 if the server refused it. */
  used(credential: OpenCredential, status: number): void
}

/** The credentials of a workspace. */
export type WorkspaceCredentials = { workspaceId: string; find: MailServerOptions['find'] }

type Attempt = Pick<MailDelivery, 'credential' | 'timeoutMs' | 'signal'>

/** Sends messages over the servers that credentials describe. Each message has a connection of its own. */
export class MailClient {
  readonly #options: MailClientOptions
  readonly #attempts: MailAttempts
  readonly #readMime = mimeReader()

  constructor(options: MailClientOptions) {
    this.#options = options
    this.#attempts = new MailAttempts(options.clock)
  }

  /** Rejects with `MailError`. */
  async send(credentials: WorkspaceCredentials, mail: Mail, delivery: MailDelivery): Promise<SentMail> {
    const { connect, clock } = this.#options
    return await this.#connected('smtp', credentials, delivery, (server, signal) =>
      sendBySmtp(server, mail, { connect, signal, now: clock.now() }),
    )
  }

  /** Connects and logs in. Rejects with `MailError` when that fails. */
  async test(kind: 'smtp' | 'imap', credentials: WorkspaceCredentials, attempt: Attempt): Promise<void> {
    const { connect } = this.#options
    const login = kind === 'smtp' ? loginBySmtp : loginByImap
    await this.#connected(kind, credentials, attempt, (server, signal) => login(server, { connect, signal }))
  }

  /** Opens a mailbox. The caller closes it. Rejects with `MailError`. */
  async openMailbox(credentials: WorkspaceCredentials, mailbox: string, attempt: Attempt): Promise<OpenMailbox> {
    const { connect } = this.#options
    const readMime = this.#readMime
    return await this.#connected('imap', credentials, attempt, (server, signal) =>
      openMailbox(server, mailbox, { connect, signal, readMime }),
    )
  }

  /** Refuses further messages, and ends those on their way. */
  stop(): void {
    this.#attempts.stop()
  }

  async #connected<Result>(
    kind: 'smtp' | 'imap',
    { workspaceId, find }: WorkspaceCredentials,
    { credential: name, timeoutMs, signal }: Attempt,
    work: (server: MailServer, signal: AbortSignal) => Promise<Result>,
  ): Promise<Result> {
    const { acquire, tokens, used } = this.#options
    return await this.#attempts.run(timeoutMs, signal, async (ending) => {
      const credential = await find(name)
      if (!credential) throw unknownCredential(name)
      const server = await mailServerOf(credential, kind, { find, tokens })
      const { host, port } = server
      const slot = await acquire({ workspace: workspaceId, host, origin: `${host}:${port}` }, ending)
      try {
        const result = await work(server, ending)
        used(credential, 200)
        return result
      } catch (error) {
        if (error instanceof MailError && error.code === 'LOGIN_FAILED') used(credential, 401)
        throw error
      } finally {
        slot.release()
      }
    })
  }
}

function unknownCredential(name: string): MailError {
  const message = `The workspace has no credential "${name.slice(0, 100)}". Create it, or correct the name.`
  return new MailError('UNKNOWN_CREDENTIAL', message)
}
