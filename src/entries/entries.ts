import type { Clock, Timer } from '../domain/clock.ts'
import type { EntryOutcome, EntryPage, EntryQuery, EntryRequest, EntryRow } from '../domain/entry/entry.ts'
import type { EntryKey, EntryStore } from '../store/entries/entry-store.ts'
import { Groups } from './groups.ts'

export type EntriesOptions = {
  store: EntryStore
  clock: Clock
  /** The most bytes of the entries of a workspace. */
  bytesMax: number
  /** Called when a step of the upkeep failed; the next round tries again. */
  onFailure(error: unknown): void
}

/** Entries of the store for blocks and routes, and their upkeep. */
export class Entries {
  readonly #options: EntriesOptions
  readonly #changes: Groups<EntryRequest, EntryOutcome>
  readonly #reads: Groups<EntryKey, EntryRow | null>
  #timer: Timer | undefined
  /** The step of the upkeep in progress. */
  #step: Promise<void> = Promise.resolve()
  #stopped = false
  /** When the entries of deleted workflows were last looked for. */
  #deletedAt = Number.NEGATIVE_INFINITY

  constructor(options: EntriesOptions) {
    this.#options = options
    const { store, bytesMax } = options
    this.#changes = new Groups(
      (requests) => store.changeEntries(requests, bytesMax),
      ({ key, change }) => key.length + ('value' in change ? change.value.length : 0) + expectedChars(change),
    )
    this.#reads = new Groups((keys) => store.readEntries(keys))
  }

  get bytesMax(): number {
    return this.#options.bytesMax
  }

  /** Resolves when the change is on disk. */
  readonly change = (request: EntryRequest): Promise<EntryOutcome> => this.#changes.ask(request)

  readonly read = (key: EntryKey): Promise<EntryRow | null> => this.#reads.ask(key)

  readonly list = (query: EntryQuery): Promise<EntryPage> => this.#options.store.listEntries(query)

  /** Bytes of the entries of a workspace. */
  bytesOf(workspaceId: string): Promise<number> {
    return this.#options.store.getEntryBytes(workspaceId)
  }

  /** Begins the upkeep. */
  start(): void {
    this.#after(firstRoundMs)
  }

  /** Resolves when nothing is in progress. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#timer?.cancel()
    await this.#step
    await this.#changes.flush()
    await this.#reads.flush()
  }

  #after(delayMs: number): void {
    if (this.#stopped) return
    this.#timer = this.#options.clock.setTimer(delayMs, () => {
      this.#step = this.#clean()
    })
  }

  async #clean(): Promise<void> {
    const { store, clock, onFailure } = this.#options
    const now = clock.now()
    const looksForDeleted = now - this.#deletedAt >= deletedRoundMs
    try {
      const isDone = await store.cleanEntries({
        ...{ now, changesBefore: now - changesKeptMs },
        ...(looksForDeleted && { workflowsDeletedBefore: now - deletedKeptMs }),
      })
      if (!isDone) return this.#after(stepPauseMs)
      if (looksForDeleted) this.#deletedAt = now
    } catch (error) {
      onFailure(error)
    }
    this.#after(roundMs)
  }
}

function expectedChars(change: EntryRequest['change']): number {
  return change.type === 'compare_and_set' ? (change.expected?.length ?? 0) : 0
}

const firstRoundMs = 2_000
const roundMs = 10_000
/** A step deletes up to a thousand entries, and other writes wait for it. */
const stepPauseMs = 50
const deletedRoundMs = 3_600_000
/** A deleted workflow can be restored together with its entries for this long. */
const deletedKeptMs = 30 * 86_400_000
const changesKeptMs = 3_600_000
