import type { MailAddress } from './mail.ts'

/** Types for reading a mailbox. `mail/` reads it, and a trigger starts a run for each new message. */

/** The messages that a trigger reads. Texts are parts of the header; the server compares them without case. */
export type MailboxFilter = { from?: string; subject?: string }

/** A message as workflows read it. `problem`: why parts of it are missing; null if none are. */
export type ReceivedMail = {
  from: MailAddress | undefined
  to: readonly MailAddress[]
  cc: readonly MailAddress[]
  replyTo: readonly MailAddress[]
  subject: string
  /** Epoch milliseconds. */
  date: number | undefined
  messageId: string
  inReplyTo: string
  text: string
  html: string
  attachments: readonly ReceivedFile[]
  problem: string | null
}

export type ReceivedFile = { name: string; type: string; content: Uint8Array }

/**
 * A mailbox on a server, opened on a connection of its own. Rejects with `MailError`. UIDs rise with each message; with
 * another `uidValidity`, they name other messages.
 */
export interface OpenMailbox {
  readonly uidValidity: string
  /** The UID of the newest message; 0 for none. */
  lastUid(): Promise<number>
  /** UIDs of messages after `uid` that fit, the oldest first; at most `max`. */
  uidsAfter(uid: number, filter: MailboxFilter, max: number): Promise<number[]>
  /** Undefined when the message is gone. `withFiles`: whether its attachments are wanted. */
  read(uid: number, withFiles: boolean): Promise<ReceivedMail | undefined>
  markSeen(uid: number): Promise<void>
  /** Resolves when there may be new messages, at the latest after `timeoutMs`. */
  wait(timeoutMs: number, signal: AbortSignal): Promise<void>
  close(): void
}

export const receivedBounds = Object.freeze({
  /** Only the beginning of a larger message is read, without its attachments. */
  messageBytesMax: 31_457_280,
  cutBytes: 1_048_576,
  attachmentsMax: 100,
  /** Characters of the text, and of the HTML. The rest is cut off. */
  bodyCharsMax: 1_000_000,
  addressesMax: 1_000,
  parseMsMax: 20_000,
})
