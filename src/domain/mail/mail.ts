/** Types for e-mails and for sending them. `mail/` sends them. */

/** `name`: as shown to readers; empty for none. */
export type MailAddress = { name: string; address: string }

/** `content` is read when the message is sent, once per attempt. */
export type MailAttachment = { name: string; type: string; content: Blob }

export type Mail = {
  from: MailAddress
  to: readonly MailAddress[]
  cc: readonly MailAddress[]
  bcc: readonly MailAddress[]
  replyTo: readonly MailAddress[]
  subject: string
  text?: string
  html?: string
  attachments: readonly MailAttachment[]
  /** With its angle brackets. A message that is sent again keeps it, so that servers can recognise a copy. */
  messageId: string
}

/** `accepted`, `rejected`: addresses of recipients. At least one was accepted. */
export type SentMail = { messageId: string; accepted: readonly string[]; rejected: readonly string[] }

/** How a message is sent. `timeoutMs`: for everything, from looking up the address of the server. */
export type MailDelivery = { credential: string; timeoutMs: number; signal: AbortSignal; blockName?: string }

/** Sends a message with a credential of a workspace. Rejects with `MailError`. */
export type SendMail<Access> = (access: Access, mail: Mail, delivery: MailDelivery) => Promise<SentMail>

/**
 * Why a message was not sent, or a mailbox not read. `code`: one of `OutboundFailureCode`, `LOGIN_FAILED`,
 * `MESSAGE_REFUSED` or `MAIL_ERROR`.
 */
export class MailError extends Error {
  readonly code: string
  /** The status with which an SMTP server replied, if it did. */
  readonly status: number | undefined
  /** The server has certainly not accepted the message, and may do so later. */
  readonly mayRepeat: boolean

  constructor(
    code: string,
    message: string,
    { status, mayRepeat = false, cause }: { status?: number | undefined; mayRepeat?: boolean; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'MailError'
    this.code = code
    this.status = status
    this.mayRepeat = mayRepeat
  }
}

export const mailBounds = Object.freeze({
  /** SMTP servers must accept this many recipients of one message (RFC 5321). */
  recipientsMax: 100,
  subjectCharsMax: 2_000,
  /** Characters of `text`, and of `html`. */
  bodyCharsMax: 1_000_000,
  attachmentsMax: 50,
  /** Bytes of all attachments. Most servers accept less than that. */
  attachmentBytesMax: 52_428_800,
})
