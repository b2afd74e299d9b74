import type { Clock } from '../../domain/clock.ts'
import type { OpenMailbox, ReceivedFile } from '../../domain/mail/mailbox.ts'
import type { PollPlace, PollRow } from '../../domain/poll/poll.ts'
import type { FileOwner, RunFile } from '../../domain/run/file.ts'
import type { TriggerInput } from '../../domain/run/input.ts'
import type { Store } from '../../store/store.ts'

/** The part of the row of a trigger that a commit sets. */
export type MailResult = Pick<PollRow, 'dueAt' | 'state' | 'polledAt' | 'succeededAt' | 'failures' | 'error'>

/** The mailbox and the messages that a trigger watches. */
export type MailSource = {
  credential: string
  mailbox: string
  from?: string
  subject?: string
  markSeen: boolean
  attachments: boolean
}

/** See `Jobs.acceptPolled`. */
export type AcceptMail = (starts: {
  poll: PollPlace
  starts: readonly { executionId: string; request: MailRequest }[]
  known: readonly string[]
  whole: MailResult
  part: MailResult
  admit(): boolean
}) => Promise<{ taken: number } | undefined>

export type MailRequest = {
  workflowId: string
  workspaceId: string
  version: number
  trigger: 'email'
  input: TriggerInput
}

export type MailboxesOptions<Account> = {
  store: Pick<Store, 'listPollsOfKind' | 'listPolls' | 'notePolls'>
  clock: Clock
  /** 0 ≤ n < 1. */
  random(): number
  newExecutionId(): string
  /** Undefined when the version or its trigger does not exist any more. */
  sourceOf(row: PollRow): Promise<MailSource | undefined>
  /** Connects, logs in and opens a mailbox. Rejects with `MailError`. */
  open(access: { workspaceId: string; credential: string; mailbox: string }, signal: AbortSignal): Promise<OpenMailbox>
  accept: AcceptMail
  /** Keeps an attachment for the run. */
  storeFile(owner: FileOwner, file: ReceivedFile): Promise<RunFile>
  /** Deletes the attachments of a run that did not start. */
  removeFiles(owner: FileOwner): Promise<void>
  limits: {
    account(ownerId: string): Account | Promise<Account>
    isWithinUsage(account: Account): boolean
    take(kind: 'async', account: Account): { allowed: boolean }
  }
  /** Hides secrets of a workspace in an error. */
  redact(workspaceId: string, text: string): Promise<string>
  /** Mailboxes that are watched at the same time: altogether, and of one workspace. */
  connectionsMax: number
  perWorkspaceMax: number
  /** Called when the store cannot be read. It is tried again some seconds later. */
  onTrouble(error: unknown): void
  /** Whether this process watches mailboxes: only one does. */
  isLeader(): boolean
}
