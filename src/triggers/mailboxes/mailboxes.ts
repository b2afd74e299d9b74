import type { PollRow } from '../../domain/poll/poll.ts'
import { MailboxWatch } from './mailbox-watch.ts'
import type { MailboxesOptions, MailSource } from './mailboxes-options.ts'

/**
 * Watches the mailboxes of the e-mail triggers of all active versions, in the one process that leads. Triggers of a
 * workspace with the same credential and mailbox share one connection.
 */
export class Mailboxes<Account> {
  readonly #options: MailboxesOptions<Account>
  /** By workspace, credential and mailbox. */
  readonly #watches = new Map<string, Watched<Account>>()
  readonly #ending = new Set<Promise<void>>()
  #work: Promise<void> = Promise.resolve()
  #isOpen = false
  #stopped = false

  constructor(options: MailboxesOptions<Account>) {
    this.#options = options
  }

  /** Mailboxes that are watched. */
  get size(): number {
    return this.#watches.size
  }

  open(): void {
    this.#isOpen = true
    this.leaderChanged()
  }

  /** Call when this process has become the leader, or is no longer. */
  leaderChanged(): void {
    this.#then(async () => {
      for (const key of [...this.#watches.keys()]) this.#end(key)
      await Promise.all(this.#ending)
      if (!this.#mayWatch) return
      for (let after: number | undefined; ; ) {
        const rows = await this.#options.store.listPollsOfKind('email', pageSize, after)
        for (const row of rows) await this.#add(row)
        after = rows.at(-1)?.number
        if (rows.length < pageSize) return
      }
    })
  }

  /** Call after a workflow was deployed, undeployed or deleted. */
  changed(workflowId: string): void {
    if (!this.#mayWatch) return
    this.#then(async () => {
      const rows = await this.#options.store.listPolls(workflowId)
      if (!this.#mayWatch) return
      for (const { watch } of this.#watches.values())
        for (const [number, { row }] of watch.triggers) if (row.workflowId === workflowId) watch.triggers.delete(number)
      for (const row of rows) if (row.kind === 'email') await this.#add(row)
      for (const [key, { watch }] of this.#watches) if (watch.triggers.size === 0) this.#end(key)
    })
  }

  /** Closes all connections, and waits for the commits in progress. */
  async stop(): Promise<void> {
    this.#stopped = true
    await this.#work
    for (const key of [...this.#watches.keys()]) this.#end(key)
    await Promise.all(this.#ending)
  }

  get #mayWatch(): boolean {
    return this.#isOpen && !this.#stopped && this.#options.isLeader()
  }

  async #add(row: PollRow): Promise<void> {
    const { sourceOf, store } = this.#options
    const source = await sourceOf(row)
    if (!source) return
    const key = keyOf(row, source)
    const known = this.#watches.get(key)
    if (known) {
      known.watch.triggers.set(row.number, { row, source })
      known.watch.wake()
      return
    }
    const refusal = this.#refusalOf(row.workspaceId)
    if (refusal !== undefined) {
      const { number, revision, dueAt, state, polledAt, succeededAt, failures } = row
      await store.notePolls([{ number, revision, dueAt, state, polledAt, succeededAt, failures, error: refusal }])
      return
    }
    const { workspaceId } = row
    const { credential, mailbox } = source
    const watch = new MailboxWatch({ workspaceId, credential, mailbox }, this.#options, (id) => this.changed(id))
    watch.triggers.set(row.number, { row, source })
    this.#watches.set(key, { watch, workspaceId })
  }

  #refusalOf(workspaceId: string): string | undefined {
    const { connectionsMax, perWorkspaceMax } = this.#options
    const own = [...this.#watches.values()].filter((each) => each.workspaceId === workspaceId).length
    if (own >= perWorkspaceMax)
      return `A workspace can watch at most ${perWorkspaceMax} mailboxes. Deploy fewer triggers.`
    if (this.#watches.size < connectionsMax) return undefined
    return `The service watches ${connectionsMax} mailboxes, the most that it can.`
  }

  #end(key: string): void {
    const ended = this.#watches.get(key)?.watch.stop()
    this.#watches.delete(key)
    if (!ended) return
    this.#ending.add(ended)
    void ended.finally(() => this.#ending.delete(ended))
  }

  /** One change after the other. */
  #then(work: () => Promise<void>): void {
    const { clock, onTrouble } = this.#options
    this.#work = this.#work.then(work).catch((error: unknown) => {
      if (this.#stopped) return
      onTrouble(error)
      clock.setTimer(retryMs, () => this.leaderChanged())
    })
  }
}

type Watched<Account> = { watch: MailboxWatch<Account>; workspaceId: string }

function keyOf({ workspaceId }: PollRow, { credential, mailbox }: MailSource): string {
  return JSON.stringify([workspaceId, credential, mailbox])
}

const pageSize = 500
const retryMs = 5_000
