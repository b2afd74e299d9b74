import type { SentMail } from './mail.ts'

/** A message of the service itself, such as an alert. */
export type ServiceMail = {
  /** Addresses; at least one. All see each other. */
  to: readonly string[]
  subject: string
  text: string
  html?: string
  /** The same for each attempt to send the same message, so that mail servers can recognise a copy. */
  key?: string
}

/** Sends e-mails of the service over the operator's mail server (MILLRACE_SMTP_URL). */
export interface Mailer {
  /**
   * Sends a message now, once. Rejects with a `MailError`; its `mayRepeat` says whether another attempt makes sense.
   * Durable queues use this.
   */
  send(mail: ServiceMail, signal?: AbortSignal): Promise<SentMail>
  /**
   * Sends a message in the background, and tries again for some hours. It is lost when the process ends: for messages
   * that people can ask for again, or that the dashboard shows as well. `workspaceId`: the workspace that causes it.
   * Without one, it is a message of the service to an account, such as a sign-in link.
   */
  post(mail: ServiceMail, workspaceId?: string): void
}
