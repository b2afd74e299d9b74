import type { PollRow } from '../../domain/poll/poll.ts'
import type { Store } from '../../store/store.ts'

/** A poll in memory. `fireAt`: when to poll; infinite while it waits for its turn or is in progress. */
export type Polled = { row: PollRow; fireAt: number; readonly abort: AbortController }

export type PollWindowOptions = {
  store: Pick<Store, 'listDuePolls' | 'listPolls'>
  /** Polls that are read at once, those that are due first. */
  sizeMax: number
}

/** The polls that are due first. The others stay in the store. */
export class PollWindow {
  readonly #options: PollWindowOptions
  readonly #entries = new Map<number, Polled>()
  readonly #byWorkflow = new Map<string, Set<number>>()
  /** All polls due before this time are in memory. */
  #loadedTo = Number.NEGATIVE_INFINITY

  constructor(options: PollWindowOptions) {
    this.#options = options
  }

  get loadedTo(): number {
    return this.#loadedTo
  }

  get size(): number {
    return this.#entries.size
  }

  all(): IterableIterator<Polled> {
    return this.#entries.values()
  }

  has(entry: Polled): boolean {
    return this.#entries.get(entry.row.number) === entry
  }

  /** Reads the polls that are due first. Those in progress stay as they are. */
  async fill(): Promise<void> {
    const { store, sizeMax } = this.#options
    const rows = await store.listDuePolls(sizeMax)
    this.#loadedTo = rows.length < sizeMax ? Number.POSITIVE_INFINITY : (rows.at(-1)?.dueAt ?? 0)
    for (const row of rows) {
      const known = this.#entries.get(row.number)
      if (known && (known.row.revision === row.revision || known.fireAt === Number.POSITIVE_INFINITY)) continue
      this.#put(row)
    }
  }

  clear(): void {
    for (const { row } of [...this.#entries.values()]) this.#remove(row)
    this.#loadedTo = Number.NEGATIVE_INFINITY
  }

  /** Reads the polls of one workflow anew. Those in progress are given up. */
  async reload(workflowId: string): Promise<void> {
    const rows = await this.#options.store.listPolls(workflowId)
    for (const number of [...(this.#byWorkflow.get(workflowId) ?? [])]) this.#remove(this.#entries.get(number)!.row)
    for (const row of rows) this.#put(row)
  }

  /** Moves a poll to its next state. */
  move(entry: Polled, row: PollRow): void {
    entry.row = row
    entry.fireAt = row.dueAt ?? Number.POSITIVE_INFINITY
    if (row.dueAt === null || row.dueAt > this.#loadedTo) this.#remove(row)
  }

  #put(row: PollRow): void {
    this.#remove(row)
    // Before the window is first filled, every poll is accepted.
    if (row.dueAt === null || (this.#loadedTo > 0 && row.dueAt > this.#loadedTo)) return
    this.#entries.set(row.number, { row, fireAt: row.dueAt, abort: new AbortController() })
    const numbers = this.#byWorkflow.get(row.workflowId)
    if (numbers) numbers.add(row.number)
    else this.#byWorkflow.set(row.workflowId, new Set([row.number]))
  }

  #remove({ number, workflowId }: PollRow): void {
    this.#entries.get(number)?.abort.abort()
    this.#entries.delete(number)
    const numbers = this.#byWorkflow.get(workflowId)
    numbers?.delete(number)
    if (numbers?.size === 0) this.#byWorkflow.delete(workflowId)
  }
}
