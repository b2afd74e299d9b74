import { sleep } from '../../domain/clock.ts'
import { AppError } from '../../domain/errors.ts'
import type { OpenMailbox, ReceivedMail } from '../../domain/mail/mailbox.ts'
import type { PollRow } from '../../domain/poll/poll.ts'
import type { FileOwner, RunFile } from '../../domain/run/file.ts'
import { cursorOf, stateOf } from './mail-cursor.ts'
import { mailInput } from './mail-input.ts'
import type { MailboxesOptions, MailResult, MailSource } from './mailboxes-options.ts'

/** A trigger and what it watches. */
export type WatchedTrigger = { row: PollRow; source: MailSource }

export type WatchedMailbox = { workspaceId: string; credential: string; mailbox: string }

/** Called when the trigger has changed since it was read: its workflow was deployed again, or undeployed. */
export type OnChanged = (workflowId: string) => void

/**
 * Watches one mailbox over one connection for all triggers with the same credential, and connects again when that ends.
 *
 * A message is taken in this order: its attachments are stored, and then one commit moves the cursor of the trigger and
 * accepts the run. A crash before the commit leaves attachments without a run, which the sweep deletes, and the message
 * is read again. After the commit, it is not read any more.
 */
export class MailboxWatch<Account> {
  readonly triggers = new Map<number, WatchedTrigger>()
  readonly #mailbox: WatchedMailbox
  readonly #options: MailboxesOptions<Account>
  readonly #onChanged: OnChanged
  readonly #ending = new AbortController()
  #waking = new AbortController()
  #failures = 0
  readonly #ended: Promise<void>

  constructor(mailbox: WatchedMailbox, options: MailboxesOptions<Account>, onChanged: OnChanged) {
    this.#mailbox = mailbox
    this.#options = options
    this.#onChanged = onChanged
    this.#ended = this.#watch()
  }

  /** Call when its triggers have changed: it looks at once, and connects again if it was waiting for that. */
  wake(): void {
    this.#failures = 0
    this.#waking.abort()
  }

  /** Closes the connection. Resolves when a commit in progress has ended. */
  async stop(): Promise<void> {
    this.#ending.abort()
    this.#waking.abort()
    await this.#ended
  }

  async #watch(): Promise<void> {
    // The caller adds the first trigger before that.
    await Promise.resolve()
    while (!this.#ending.signal.aborted) {
      const wait = await this.#connected()
      if (wait === undefined) continue
      await this.#unlessWoken((signal) => sleep(this.#options.clock, wait, signal).catch(() => undefined))
    }
  }

  /** Watches until the connection ends. Returns how long to wait before the next one. */
  async #connected(): Promise<number | undefined> {
    const { open, clock, random } = this.#options
    const deadline = new AbortController()
    const timer = clock.setTimer(connectMsMax, () =>
      deadline.abort(new Error('The mail server did not open the mailbox in time.')),
    )
    let mailbox: OpenMailbox | undefined
    try {
      mailbox = await open(this.#mailbox, AbortSignal.any([deadline.signal, this.#ending.signal]))
      timer.cancel()
      for (;;) {
        if (this.#ending.signal.aborted) return undefined
        const isDone = await this.#look(mailbox)
        this.#failures = 0
        const opened = mailbox
        await this.#unlessWoken((signal) => opened.wait(isDone ? checkMs : fullMs, signal))
      }
    } catch (error) {
      if (this.#ending.signal.aborted) return undefined
      this.#failures += 1
      await this.#noteFailure(error)
      const delay = Math.min(delayMsMax, delayMs * 2 ** Math.min(this.#failures - 1, doublingsMax))
      return Math.round(delay * (0.75 + random() / 2))
    } finally {
      timer.cancel()
      mailbox?.close()
    }
  }

  /** Waits. A call of `wake` ends the wait at once. */
  async #unlessWoken(wait: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const waking = this.#waking
    await wait(waking.signal)
    if (waking.signal.aborted && !this.#ending.signal.aborted) this.#waking = new AbortController()
  }

  /** Takes the new messages for each trigger. False when some must wait. */
  async #look(mailbox: OpenMailbox): Promise<boolean> {
    let isDone = true
    for (const trigger of [...this.triggers.values()]) {
      if (this.#ending.signal.aborted) return false
      isDone = (await this.#take(trigger, mailbox)) && isDone
    }
    return isDone
  }

  async #take(trigger: WatchedTrigger, mailbox: OpenMailbox): Promise<boolean> {
    const { uidValidity } = mailbox
    const { row, source } = trigger
    const cursor = cursorOf(row.state)
    if (cursor?.uidValidity !== uidValidity) {
      // Messages that are there already start nothing, also when the server created the mailbox anew.
      return await this.#commit(trigger, { uidValidity, uid: await mailbox.lastUid() }, [])
    }
    const uids = await mailbox.uidsAfter(cursor.uid, source, messagesMax)
    for (const uid of uids) {
      if (this.#ending.signal.aborted || !this.triggers.has(row.number)) return false
      if (!(await this.#start(trigger, uid, mailbox))) return false
    }
    if (uids.length === 0) await this.#noteSuccess(trigger)
    return uids.length < messagesMax
  }

  /** Starts the run of a message. False when it must wait, or when the trigger has changed. */
  async #start(trigger: WatchedTrigger, uid: number, mailbox: OpenMailbox): Promise<boolean> {
    const { newExecutionId, storeFile, removeFiles } = this.#options
    const { row, source } = trigger
    const { workflowId, workspaceId, version } = row
    const cursor = { uidValidity: mailbox.uidValidity, uid }
    const mail = await mailbox.read(uid, source.attachments)
    if (!mail) return await this.#commit(trigger, cursor, [])
    const executionId = newExecutionId()
    const owner: FileOwner = { workspaceId, workflowId, executionId }
    const files: RunFile[] = []
    let isTaken = false
    try {
      for (const file of mail.attachments) {
        const stored = await storeFile(owner, file).catch(unlessTooLarge)
        if (stored) files.push(stored)
      }
      const problem = problemOf(mail, mail.attachments.length - files.length)
      const input = mailInput({ ...mail, problem }, files)
      const request = { workflowId, workspaceId, version, trigger: 'email' as const, input }
      isTaken = await this.#commit(trigger, cursor, [{ executionId, request }])
    } finally {
      if (!isTaken && files.length > 0) await removeFiles(owner).catch(() => undefined)
    }
    // The message was taken, even if the server lets nobody mark it.
    if (isTaken && source.markSeen) await mailbox.markSeen(uid).catch(() => undefined)
    return isTaken
  }

  async #commit(
    trigger: WatchedTrigger,
    cursor: { uidValidity: string; uid: number },
    starts: Parameters<MailboxesOptions<Account>['accept']>[0]['starts'],
  ): Promise<boolean> {
    const { accept, clock, limits } = this.#options
    const { row } = trigger
    const { number, revision, ownerId } = row
    const account = starts.length > 0 ? await limits.account(ownerId) : undefined
    const isBeyondUsage = account !== undefined && !limits.isWithinUsage(account)
    const now = clock.now()
    const whole: MailResult = {
      ...{ dueAt: null, state: stateOf(cursor), polledAt: now, succeededAt: now, failures: 0, error: null },
    }
    const part = { ...whole, state: row.state }
    const admit = () => account === undefined || (!isBeyondUsage && limits.take('async', account).allowed)
    const outcome = await accept({ poll: { number, revision }, starts, known: [], whole, part, admit })
    if (!outcome) {
      this.triggers.delete(number)
      this.#onChanged(row.workflowId)
      return false
    }
    if (outcome.taken === starts.length) {
      trigger.row = { ...row, ...whole, revision: revision + 1 }
      return true
    }
    await this.#note(trigger, { ...part, error: isBeyondUsage ? beyondUsage : beyondLimits })
    return false
  }

  /** Notes a success, at most once a minute. */
  async #noteSuccess(trigger: WatchedTrigger): Promise<void> {
    const { row } = trigger
    const now = this.#options.clock.now()
    const isKnown = row.error === null && row.polledAt !== null && now - row.polledAt < noteMs
    if (!isKnown)
      await this.#note(trigger, { ...resultOf(row), polledAt: now, succeededAt: now, failures: 0, error: null })
  }

  async #noteFailure(thrown: unknown): Promise<void> {
    const { redact, clock, onTrouble } = this.#options
    const { workspaceId } = this.#mailbox
    const message = thrown instanceof Error ? thrown.message : String(thrown)
    try {
      const error = (await redact(workspaceId, message)).slice(0, errorCharsMax)
      for (const trigger of this.triggers.values()) {
        const failures = trigger.row.failures + 1
        await this.#note(trigger, { ...resultOf(trigger.row), polledAt: clock.now(), failures, error })
      }
    } catch (cause) {
      onTrouble(cause)
    }
  }

  async #note(trigger: WatchedTrigger, result: MailResult): Promise<void> {
    const { number, revision } = trigger.row
    await this.#options.store.notePolls([{ number, revision, ...result }])
    trigger.row = { ...trigger.row, ...result }
  }
}

/** A run starts without an attachment that has no room. Otherwise, one message would stop all later ones. */
function unlessTooLarge(error: unknown): undefined {
  if (!(error instanceof AppError) || error.code !== 'PAYLOAD_TOO_LARGE') throw error
}

function problemOf({ problem }: ReceivedMail, missing: number): string | null {
  if (missing === 0) return problem
  const lost = `${missing} attachments were not kept, because the workspace has no room for their files.`
  return problem === null ? lost : `${problem} ${lost}`
}

function resultOf({ dueAt, state, polledAt, succeededAt, failures, error }: PollRow): MailResult {
  return { dueAt, state, polledAt, succeededAt, failures, error }
}

const beyondUsage =
  'The owner of the workspace has reached the usage limit for this month. Messages wait until the next month.'
const beyondLimits = 'Messages wait, because the limits of the workspace or the workflow allow no further run now.'

/** Messages of one search. */
const messagesMax = 50
const errorCharsMax = 1_000
const connectMsMax = 60_000
/** How often to look even if the server says nothing. */
const checkMs = 10 * 60_000
/** How long messages wait when the limits allow no run. */
const fullMs = 10_000
const noteMs = 60_000
const delayMs = 5_000
const delayMsMax = 15 * 60_000
const doublingsMax = 20
