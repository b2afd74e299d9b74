import type { DeliverySource, DueDelivery } from '../domain/webhook/delivery.ts'

/** A pending delivery in memory. */
export type QueuedDelivery = DueDelivery & {
  state: 'waiting' | 'ready' | 'busy' | 'dropped'
  /** Its timer while it waits. */
  timer: number
  /** Cancelled while it is busy: after this attempt, no other one follows. */
  isCancelled: boolean
  /** The run that its body is made from, if that is in memory. */
  source: Source | undefined
  /** While the source is being read. If there is none when this resolves, the log entry is gone. */
  reading: Promise<void> | undefined
  /** Monotonic time at which its run was on disk; set only until the first attempt for a run that has just ended. */
  committedAt: number | undefined
}

/** A run, shared by its deliveries. `bodies` by what they include, so that equal bodies are made once. */
export type Source = { run: DeliverySource; bodies: Map<number, Promise<string> | string>; chars: number; uses: number }

export type SubscriptionQueueOptions = {
  subscription: number
  /** Pending deliveries on disk after a position, in order. */
  list(after: Position | null, limit: number): Promise<DueDelivery[]>
  /** Makes a new delivery ready if it is due, and sets a timer otherwise. */
  schedule(item: QueuedDelivery): void
  /** Called before a delivery leaves memory without an attempt. */
  dropped(item: QueuedDelivery): void
  /** Epoch milliseconds. */
  now(): number
}

/** The order in which deliveries are due. */
export type Position = { dueAt: number; sequence: number }

/**
 * The deliveries of one subscription. All of them are on disk. Those that are due first are in memory as well: every
 * pending delivery up to the read-ahead cursor. Deliveries after the cursor are read when they are nearly due. So a
 * receiver that hangs may have a million pending deliveries without using memory.
 */
export class SubscriptionQueue {
  readonly #options: SubscriptionQueueOptions
  /** Deliveries in memory in any state, by their sequence. */
  readonly #items = new Map<number, QueuedDelivery>()
  readonly #ready: QueuedDelivery[] = []
  /** How many entries at the start of `#ready` were taken or removed already. */
  #readyFrom = 0
  /** The read-ahead cursor. Null: every delivery is in memory. */
  #cursor: Position | null
  #refilling: Promise<void> | undefined
  /** Deliveries that changed while the disk was being read: what was read of them may be older. */
  #settled: Set<number> | undefined
  /** How far the cursor was moved back while the disk was being read. */
  #movedTo: Position | undefined

  /** `isEmpty`: the disk holds no deliveries of this subscription except those that will be put in. */
  constructor(options: SubscriptionQueueOptions, isEmpty: boolean) {
    this.#options = options
    this.#cursor = isEmpty ? null : beginning
  }

  get subscription(): number {
    return this.#options.subscription
  }

  get size(): number {
    return this.#items.size
  }

  get readyCount(): number {
    return this.#ready.length - this.#readyFrom
  }

  /** No delivery is left, in memory or on disk. */
  get isEmpty(): boolean {
    return this.#items.size === 0 && this.#cursor === null && this.#refilling === undefined
  }

  /** When the next delivery that is only on disk may be due, epoch milliseconds; undefined when there is none. */
  get cursorDueAt(): number | undefined {
    return this.#cursor?.dueAt
  }

  get(sequence: number): QueuedDelivery | undefined {
    return this.#items.get(sequence)
  }

  /**
   * Whether a delivery that was just written stays on disk for now, because others are ready and the cursor is before
   * it.
   */
  leavesOnDisk(position: Position): boolean {
    if (this.#cursor === null || this.readyCount === 0 || !isBefore(this.#cursor, position)) return false
    this.expect(position)
    return true
  }

  /**
   * Adds a delivery that was just written to disk. False when `source` is not needed: the delivery stays on disk for
   * now, or it was read from disk already, and its source will be, too.
   */
  put(delivery: DueDelivery, source?: Source, committedAt?: number): boolean {
    if (this.#items.has(delivery.sequence)) return false
    const isBehind = this.#cursor !== null && isBefore(this.#cursor, delivery)
    if (isBehind || this.#items.size >= itemsMax) {
      this.expect(delivery)
      return false
    }
    this.#add(delivery, source, committedAt)
    return true
  }

  /** The next delivery that is due. */
  get next(): QueuedDelivery | undefined {
    for (;;) {
      const item = this.#ready[this.#readyFrom]
      if (!item) {
        this.#ready.length = 0
        this.#readyFrom = 0
        return undefined
      }
      // A removed delivery stays in `#ready` until its turn.
      if (item.state === 'ready' && this.#items.get(item.sequence) === item) return item
      this.#pass()
    }
  }

  /** Takes the next delivery that is due. It is busy until it is settled or made ready again. */
  take(): QueuedDelivery | undefined {
    const item = this.next
    if (!item) return undefined
    this.#pass()
    item.state = 'busy'
    return item
  }

  #pass(): void {
    this.#readyFrom += 1
    if (this.#readyFrom < compactAt) return
    this.#ready.splice(0, compactAt)
    this.#readyFrom = 0
  }

  /** The deliveries without a source from `distance` turns on; none if the one at that distance has a source. */
  unread(distance: number): QueuedDelivery[] {
    const from = this.#readyFrom + distance
    const first = this.#ready[from]
    if (!first || first.source || first.reading) return []
    const next = this.#ready.slice(from, from + readTogether)
    return next.filter((item) => item.state === 'ready' && !item.source && !item.reading)
  }

  /** The delivery is due now, or its attempt could not be made. */
  becomeReady(item: QueuedDelivery): void {
    item.state = 'ready'
    this.#ready.push(item)
  }

  /** The outcome of an attempt is on disk: the delivery has ended (null), or is due again at `dueAt`. */
  settle(item: QueuedDelivery, dueAt: number | null): void {
    this.#items.delete(item.sequence)
    this.#settled?.add(item.sequence)
    if (dueAt === null) return
    const { sequence, subscription, include, attemptsBefore } = item
    this.put({ sequence, subscription, include, attempts: item.attempts + 1, attemptsBefore, dueAt })
  }

  /** Removes a delivery from memory because a user changes it; false when it is busy. */
  remove(sequence: number): boolean {
    const item = this.#items.get(sequence)
    if (item?.state === 'busy') return false
    if (item) this.#drop(item)
    this.#settled?.add(sequence)
    return true
  }

  /** A delivery on disk may be due before those in memory. */
  expect({ dueAt, sequence }: Position): void {
    this.#moveBack({ dueAt, sequence: sequence - 1 })
  }

  /** Reads all deliveries of the subscription from disk again. */
  rereadAll(): void {
    this.#moveBack(beginning)
  }

  get busy(): QueuedDelivery[] {
    return [...this.#items.values()].filter(({ state }) => state === 'busy')
  }

  /** Forgets all deliveries, because this process has lost its claims. Those that it still has are read again. */
  forgetAll(): void {
    for (const item of [...this.#items.values()]) {
      // After the attempt in progress, it is read again.
      if (item.state === 'busy') item.isCancelled = true
      else this.#drop(item)
    }
    this.rereadAll()
  }

  /** Whether the disk should be read now. `lookaheadMs`: how long before they are due deliveries are in memory. */
  needsRefill(lookaheadMs: number): boolean {
    const cursor = this.#cursor
    if (cursor === null || this.#refilling || this.readyCount >= readyMin) return false
    const aheadMs = cursor.dueAt - this.#options.now()
    // A cursor further ahead than any delivery can be due means that the system clock was set back.
    if (aheadMs >= lookaheadMs && aheadMs <= dueMsMax) return false
    if (this.#items.size >= itemsMax) this.#forgetAfter(cursor)
    return this.#items.size < itemsMax
  }

  /** Reads the next deliveries from disk. Concurrent calls share one read. */
  refill(): Promise<void> {
    this.#refilling ??= this.#refill().finally(() => {
      this.#refilling = undefined
      this.#settled = undefined
      if (this.#movedTo) this.#moveBack(this.#movedTo)
      this.#movedTo = undefined
    })
    return this.#refilling
  }

  async #refill(): Promise<void> {
    const from = this.#cursor
    if (from === null) return
    const settled = new Set<number>()
    this.#settled = settled
    const read = await this.#options.list(from === beginning ? null : from, readAtOnce)
    for (const delivery of read) {
      if (!this.#items.has(delivery.sequence) && !settled.has(delivery.sequence)) this.#add(delivery)
    }
    const last = read.length === readAtOnce ? read.at(-1) : undefined
    this.#cursor = last ? { dueAt: last.dueAt, sequence: last.sequence } : null
  }

  /** Moves the cursor back. A read that is under way may miss the delivery, so the move is repeated after it. */
  #moveBack(to: Position): void {
    if (this.#cursor === null || isBefore(to, this.#cursor)) this.#cursor = to
    if (this.#refilling && (!this.#movedTo || isBefore(to, this.#movedTo))) this.#movedTo = to
  }

  #add(delivery: DueDelivery, source?: Source, committedAt?: number): void {
    const item: QueuedDelivery = {
      ...delivery,
      state: 'ready',
      timer: -1,
      isCancelled: false,
      source,
      reading: undefined,
      committedAt,
    }
    this.#items.set(item.sequence, item)
    this.#options.schedule(item)
  }

  /** Makes room: deliveries that are due later are on disk as well. */
  #forgetAfter(cursor: Position): void {
    for (const item of this.#items.values()) {
      if (item.state === 'waiting' && isBefore(cursor, item)) this.#drop(item)
    }
  }

  #drop(item: QueuedDelivery): void {
    this.#options.dropped(item)
    item.state = 'dropped'
    this.#items.delete(item.sequence)
  }
}

/** A queue and what the dispatcher knows about it. */
export type SubscriptionState = {
  readonly queue: SubscriptionQueue
  readonly subscription: number
  /** Scheme, host name and port that its deliveries go to; empty until its receiver is known. */
  origin: string
  /** Whether its receiver is being looked up. */
  isFinding: boolean
  /** The timer that wakes it to read more from disk; -1 when there is none. */
  wakeTimer: number
  /** Monotonic time. */
  wakeAt: number
}

const beginning: Position = { dueAt: Number.NEGATIVE_INFINITY, sequence: 0 }

function isBefore(one: Position, other: Position): boolean {
  return one.dueAt < other.dueAt || (one.dueAt === other.dueAt && one.sequence < other.sequence)
}

/** The longest time until a delivery is due: the longest backoff and its tenth. */
export const dueMsMax = 660_000
/** Deliveries of one subscription in memory; for a moment, there may be a few more. */
const itemsMax = 2_000
/** The disk is read when fewer deliveries than this are ready. */
const readyMin = 250
const readAtOnce = 500
/** Deliveries whose runs are read from the log together. */
const readTogether = 128
const compactAt = 1_000
