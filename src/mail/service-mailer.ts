import { type Clock, sleep } from '../domain/clock.ts'
import { FairShare } from '../domain/fair-share.ts'
import { type Mail, MailError, type SentMail } from '../domain/mail/mail.ts'
import type { Mailer, ServiceMail } from '../domain/mail/mailer.ts'
import { createRedactor, type Redactor, redactText } from '../domain/redaction/redactor.ts'
import { MailAttempts } from './attempts.ts'
import type { ConnectTo } from './connect.ts'
import type { MailServer } from './mail-server.ts'
import { loginBySmtp, sendBySmtp } from './smtp.ts'

export type ServiceMailerOptions = {
  server: MailServer
  /** The address of the sender. */
  from: Mail['from']
  connect: ConnectTo
  clock: Clock
  /** A new random text. */
  newKey(): string
  /** Called when a message in the background is given up. `attempts`: how many there were. */
  onLost(error: MailError, attempts: number): void
}

/** Sends e-mails of the service itself. One message at a time, so that a burst does not look like spam. */
export class ServiceMailer implements Mailer {
  readonly #options: ServiceMailerOptions
  readonly #attempts: MailAttempts
  readonly #ending = new AbortController()
  readonly #redactor: Redactor | undefined
  readonly #ofWorkspaces = new FairShare({ total: workspacePlaces, factor: 1 })
  /** Shared between recipients. No workspace can use these places, so people can always sign in. */
  readonly #ofAccounts = new FairShare({ total: accountPlaces, factor: 1 })
  #last: Promise<unknown> = Promise.resolve()

  constructor(options: ServiceMailerOptions) {
    this.#options = options
    this.#attempts = new MailAttempts(options.clock)
    const { password = '' } = options.server
    this.#redactor = createRedactor([{ name: 'MILLRACE_SMTP_URL', value: password }])
  }

  send(mail: ServiceMail, signal?: AbortSignal): Promise<SentMail> {
    const { server, from, connect, clock, newKey } = this.#options
    const message = messageOf(mail, from, newKey)
    const work = (ending: AbortSignal) => sendBySmtp(server, message, { connect, signal: ending, now: clock.now() })
    const turn = this.#inTurn(() => this.#redacted(this.#attempts.run(timeoutMs, signal, work)))
    return signal ? untilCancelled(turn, signal) : turn
  }

  post(mail: ServiceMail, workspaceId?: string): void {
    const { onLost, newKey } = this.#options
    const places = workspaceId === undefined ? this.#ofAccounts : this.#ofWorkspaces
    const owner = workspaceId ?? mail.to.join()
    if (!places.hasRoom(owner)) {
      const whose = workspaceId === undefined ? 'to accounts' : `of the workspace ${workspaceId}`
      onLost(new MailError('OVERLOADED', `Too many e-mails ${whose} wait to be sent.`), 0)
      return
    }
    places.take(owner)
    const repeated = { ...mail, key: mail.key ?? newKey() }
    void this.#deliver(repeated).finally(() => places.release(owner))
  }

  /** Connects and logs in. Rejects with `MailError` when that fails. */
  test(): Promise<void> {
    const { server, connect } = this.#options
    return this.#redacted(
      this.#attempts.run(timeoutMs, undefined, (signal) => loginBySmtp(server, { connect, signal })),
    )
  }

  /** Ends what is under way, and gives up what waits. */
  stop(): void {
    this.#ending.abort(new MailError('CANCELLED', 'The service stops.'))
    this.#attempts.stop()
  }

  async #deliver(mail: ServiceMail): Promise<void> {
    const { clock, onLost } = this.#options
    for (let attempt = 1; ; attempt += 1) {
      try {
        await this.send(mail)
        return
      } catch (error) {
        const failure = error instanceof MailError ? error : new MailError('MAIL_ERROR', String(error))
        const delayMs = delaysMs[attempt - 1]
        const isOver = !failure.mayRepeat || delayMs === undefined || this.#ending.signal.aborted
        if (isOver || !(await waited(clock, delayMs, this.#ending.signal))) return onLost(failure, attempt)
      }
    }
  }

  /** A server may repeat the password in its reply. */
  async #redacted<Result>(work: Promise<Result>): Promise<Result> {
    try {
      return await work
    } catch (error) {
      if (!(error instanceof MailError)) throw error
      const { code, message, status, mayRepeat } = error
      throw new MailError(code, redactText(message, this.#redactor), { status, mayRepeat })
    }
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const turn = this.#last.then(work)
    this.#last = turn.catch(() => undefined)
    return turn
  }
}

const timeoutMs = 120_000
/** Messages in the background that wait or are tried again. One workspace alone gets at most half of the places. */
const workspacePlaces = 800
const accountPlaces = 200
const minuteMs = 60_000
/** Mail servers that defer messages of unknown senders accept them after some minutes. */
const delaysMs = [minuteMs, 5 * minuteMs, 15 * minuteMs, 60 * minuteMs, 180 * minuteMs]

function waited(clock: Clock, delayMs: number, signal: AbortSignal): Promise<boolean> {
  return sleep(clock, delayMs, signal).then(
    () => true,
    () => false,
  )
}

/** Rejects at once when the signal aborts, even while earlier messages are sent. The attempt itself also ends. */
function untilCancelled<Result>(turn: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const cancel = () => reject(new MailError('CANCELLED', 'The e-mail was cancelled.'))
    signal.addEventListener('abort', cancel, { once: true })
    if (signal.aborted) cancel()
    turn.then(resolve, reject).finally(() => signal.removeEventListener('abort', cancel))
  })
}

function messageOf({ to, subject, text, html, key }: ServiceMail, from: Mail['from'], newKey: () => string): Mail {
  const domain = from.address.slice(from.address.lastIndexOf('@') + 1)
  return {
    ...{ from, to: to.map((address) => ({ name: '', address })), cc: [], bcc: [], replyTo: [], attachments: [] },
    ...{ subject: subject.replaceAll(/\p{Cc}+/gu, ' '), text, ...(html === undefined ? {} : { html }) },
    messageId: `<${key ?? newKey()}@${domain}>`,
  }
}
