import type { Timer } from '../../domain/clock.ts'
import type { PollAnswer, PolledItem } from '../../domain/poll/answer.ts'
import type { PollRow } from '../../domain/poll/poll.ts'
import { divide, memoryOf, stateOf } from './poll-memory.ts'
import { PollNotes } from './poll-notes.ts'
import { beyondLimits, beyondUsage, resultOf, shortened } from './poll-result.ts'
import { dueAfterFailure, nextDue } from './poll-times.ts'
import { PollTurns } from './poll-turns.ts'
import { type Polled, PollWindow } from './poll-window.ts'
import type { PollerOptions, PollReport, PollResult, PollSource } from './poller-options.ts'

/**
 * Polls lists and feeds when they are due, and starts a run for each new item. The polls that are due first are in
 * memory, the others in the store, and one timer waits for the earliest.
 *
 * One commit stores the items that a poll has seen and the runs that they start. The store refuses it if the poll has
 * changed since it was read (`PollCommit`). So no item is lost or starts two runs, even after a crash or with several
 * processes, and a poll in flight starts nothing after its workflow was deployed again or undeployed. The poller stores
 * results without new items a few seconds later, several at once.
 */
export class Poller<Account> {
  readonly #options: PollerOptions<Account>
  readonly #window: PollWindow
  readonly #turns: PollTurns
  readonly #notes: PollNotes
  readonly #inFlight = new Set<Promise<void>>()
  #timer: Timer | undefined
  #turn: Promise<void> | undefined
  #again = false
  /** The store has nothing due before this time. */
  #fillAfter = 0
  #stopped = false
  #isOpen = false
  /** Whether the last attempt failed and the failure was reported. */
  #isTroubled = false

  constructor(options: PollerOptions<Account>) {
    this.#options = options
    const { store, windowMax = 2_000 } = options
    this.#window = new PollWindow({ store, sizeMax: windowMax })
    this.#turns = new PollTurns(options.turns)
    this.#notes = new PollNotes({ ...options, onTrouble: (error) => this.#tell(error) })
  }

  /** Loads the registered polls. Retries while the store cannot be read. */
  open(): void {
    this.#isOpen = true
    this.#wake()
  }

  /** Call when this process has become the leader, or is no longer. A new leader starts like a new process. */
  leaderChanged(): void {
    this.#timer?.cancel()
    this.#window.clear()
    this.#fillAfter = 0
    this.#wake()
  }

  /** Call after a workflow was deployed, undeployed or deleted, or when one of its polls is due now. */
  changed(workflowId: string): void {
    if (!this.#mayPoll) return
    this.#notes
      .flush()
      .then(() => this.#window.reload(workflowId))
      .catch((error: unknown) => {
        // Everything is read again.
        this.#window.clear()
        this.#tell(error)
      })
      .finally(() => this.#wake())
  }

  /** Writes the results that are in memory only. */
  flush(): Promise<void> {
    return this.#notes.flush()
  }

  /** Polls nothing more, gives up the requests in progress, and waits for the commits. */
  async stop(): Promise<void> {
    this.#stopped = true
    this.#timer?.cancel()
    await this.#turn
    this.#window.clear()
    await Promise.all(this.#inFlight)
    await this.#notes.flush()
  }

  get #mayPoll(): boolean {
    return this.#isOpen && !this.#stopped && (this.#options.isLeader?.() ?? true)
  }

  #wake(): void {
    if (!this.#mayPoll) return
    this.#again = true
    this.#turn ??= this.#takeTurn()
      .catch((error: unknown) => this.#tell(error))
      .finally(() => {
        this.#turn = undefined
        this.#arm()
      })
  }

  async #takeTurn(): Promise<void> {
    const { clock } = this.#options
    while (this.#again && this.#mayPoll) {
      this.#again = false
      const now = clock.now()
      for (const entry of this.#window.all()) if (entry.fireAt <= now) this.#begin(entry)
      if (now < Math.max(this.#window.loadedTo, this.#fillAfter)) continue
      this.#fillAfter = now + lookMs
      await this.#notes.flush()
      await this.#window.fill()
      this.#isTroubled = false
      for (const { fireAt } of this.#window.all()) if (fireAt <= now) this.#again = true
    }
  }

  /** Sets one timer for the earliest poll; none when nothing is registered. */
  #arm(): void {
    this.#timer?.cancel()
    if (!this.#mayPoll) return
    const { clock } = this.#options
    const now = clock.now()
    let nearest = Math.max(this.#window.loadedTo, this.#fillAfter)
    for (const { fireAt } of this.#window.all()) nearest = Math.min(nearest, fireAt)
    if (nearest === Number.POSITIVE_INFINITY && this.#window.size === 0) return
    // Not more often: many polls may be due within a second. Not less often: the system clock may jump, and polls in
    // progress will have a due time.
    const delay = Math.min(lookMs, Math.max(tickMs, nearest - now))
    this.#timer = clock.setTimer(delay, () => this.#wake())
  }

  #begin(entry: Polled): void {
    entry.fireAt = Number.POSITIVE_INFINITY
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#inFlight.add(promise)
    const ended = () => {
      this.#inFlight.delete(promise)
      resolve()
    }
    const prepared = this.#options.sourceOf(entry.row)
    prepared.then(
      (source) => {
        if (!source || !this.#isCurrent(entry)) return ended()
        const { workspaceId } = entry.row
        this.#turns.add({ workspaceId, origin: source.origin, run: () => this.#serve(entry, source).finally(ended) })
      },
      (error: unknown) => {
        this.#tryLater(entry, error)
        ended()
      },
    )
  }

  #isCurrent(entry: Polled): boolean {
    return this.#mayPoll && this.#window.has(entry)
  }

  /** One poll. Never rejects. */
  async #serve(entry: Polled, source: PollSource): Promise<void> {
    if (!this.#isCurrent(entry)) return
    const { row } = entry
    const { clock, onPolled } = this.#options
    const late = Math.max(0, clock.now() - (row.dueAt ?? clock.now()))
    try {
      const memory = memoryOf(row.state)
      const answer = await source.send(memory?.validators ?? {}, entry.abort.signal)
      if (!this.#isCurrent(entry)) return
      onPolled({ row, late, ...(await this.#handle(entry, source, answer)) })
      this.#isTroubled = false
    } catch (error) {
      this.#tryLater(entry, error)
    } finally {
      this.#wakeSoon(entry)
    }
  }

  async #handle(entry: Polled, source: PollSource, answer: PollAnswer): Promise<Handled> {
    const { row } = entry
    const { clock, random, store } = this.#options
    const now = clock.now()
    if (answer.kind === 'failed') {
      const failures = row.failures + 1
      const { retryAfter } = answer
      const dueAt = dueAfterFailure({ ...row, failures }, { now, random: random(), retryAfter })
      this.#note(entry, { ...resultOf(row), dueAt, polledAt: now, failures, error: shortened(answer.message) })
      return { outcome: 'failed', started: 0 }
    }
    const succeeded = { dueAt: nextDue(row, now), polledAt: now, succeededAt: now, failures: 0 }
    if (answer.kind === 'unchanged') {
      this.#note(entry, { ...resultOf(row), ...succeeded })
      return { outcome: 'unchanged', started: 0 }
    }
    const { items, validators, problem } = answer
    const state = stateOf(validators, items)
    const whole: PollResult = { ...succeeded, state, error: problem && shortened(problem) }
    const before = memoryOf(row.state)
    if (before && before.listed === memoryOf(state)?.listed) {
      this.#note(entry, whole)
      return { outcome: 'unchanged', started: 0 }
    }
    const hashes = items.map(({ hash }) => hash)
    const seen = await store.findSeen(row, hashes)
    if (!seen) return await this.#refused(row)
    const { known, starts } = divide(items, new Set(seen), before ? undefined : source.first)
    // Nothing is new. The first poll is committed all the same: later ones must not count as the first.
    if (before && starts.length === 0) {
      this.#note(entry, whole)
      return { outcome: 'unchanged', started: 0 }
    }
    return await this.#commit(entry, { known, starts, whole })
  }

  /** Starts a run for each new item, in commits of a limited size. */
  async #commit(entry: Polled, { known, starts, whole }: Division): Promise<Handled> {
    const { accept, limits, clock } = this.#options
    const { row } = entry
    const { number, workflowId, workspaceId, version, ownerId, kind } = row
    const trigger = kind === 'rss' ? 'rss' : 'poll'
    // The next poll looks at the rest, even if the process dies before that.
    const part: PollResult = { ...resultOf(row), polledAt: whole.polledAt, succeededAt: whole.succeededAt, error: null }
    const owner = starts.length === 0 ? undefined : await limits.account(ownerId)
    const isBeyondUsage = owner !== undefined && !limits.isWithinUsage(owner)
    const admit = () => owner !== undefined && !isBeyondUsage && limits.take('async', owner).allowed
    let { revision } = row
    let [at, started] = [0, 0]
    for (;;) {
      const rest = starts.slice(at).map(({ hash, item }) => {
        const input = { input: { item }, fields: { item } }
        return { hash, request: { workflowId, workspaceId, version, trigger, input } as const }
      })
      const taken = await accept({
        poll: { number, revision },
        starts: rest,
        known: at === 0 ? known : [],
        whole,
        part,
        admit,
      })
      if (!taken) return await this.#refused(row)
      at += taken.taken
      started += taken.started.length
      if (taken.taken > 0 || rest.length === 0) revision += 1
      if (at >= starts.length) {
        this.#window.move(entry, { ...row, ...whole, revision })
        return { outcome: starts.length > 0 ? 'new' : 'unchanged', started }
      }
      if (!taken.isFull && taken.taken > 0) continue
      entry.row = { ...row, revision }
      const error = isBeyondUsage ? beyondUsage : beyondLimits(starts.length - at)
      this.#note(entry, { ...part, dueAt: clock.now() + fullMs, failures: 0, error })
      return { outcome: 'new', started }
    }
  }

  /** The poll has changed since it was read, so its result is dropped. */
  async #refused({ workflowId }: PollRow): Promise<Handled> {
    await this.#window.reload(workflowId)
    return { outcome: 'refused', started: 0 }
  }

  #note(entry: Polled, result: PollResult): void {
    const { number, revision } = entry.row
    this.#notes.add({ number, revision, ...result })
    this.#window.move(entry, { ...entry.row, ...result })
  }

  /** The service itself could not poll or start runs. The poll is read again, because a commit may have happened. */
  #tryLater(entry: Polled, error: unknown): void {
    if (!this.#isCurrent(entry)) return
    this.#tell(error)
    const { clock } = this.#options
    clock.setTimer(retryMs, () => {
      if (this.#isCurrent(entry)) this.changed(entry.row.workflowId)
    })
  }

  #wakeSoon(entry: Polled): void {
    if (!this.#turn && entry.fireAt - this.#options.clock.now() < lookMs) this.#arm()
  }

  #tell(error: unknown): void {
    if (!this.#stopped && !this.#isTroubled) this.#options.onTrouble(error)
    this.#isTroubled = true
  }
}

type Handled = Pick<PollReport, 'outcome' | 'started'>
type Division = { known: readonly string[]; starts: readonly PolledItem[]; whole: PollResult }

/** How often to look at the clock and, while polls are waiting to be loaded, at the store. */
const lookMs = 1_000
/** How often to begin polls, at most. */
const tickMs = 100
const retryMs = 5_000
/** How long items wait when the limits allow no run. */
const fullMs = 10_000
