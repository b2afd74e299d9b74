import type { DeliverySource, DueDelivery } from '../domain/webhook/delivery.ts'

/** A pending delivery in memory. */
export type Item = DueDelivery & {
  state: 'waiting' | 'ready' | 'busy' | 'dropped'
  /** Its timer while it waits. */
  timer: number
  /** Cancelled while it is busy: what is being tried is not tried again. */
  isCancelled: boolean
  /** What its body is made of, when that is in memory: of a run that has just ended. */
  source: Source | undefined
  /** While it is being read, with that of others; a source that is not there when this resolves is gone. */
  reading: Promise<void> | undefined
  /** Reading of a monotonic clock when its run was on disk; undefined for all but the first attempt of such a one. */
  committedAt: number | undefined
}

/** A run that just ended, shared by its deliveries: bodies that are alike are made once. */
export type Source = { run: DeliverySource; bodies: Map<number, Promise<string> | string>; chars: number; uses: number }

export type LaneOptions = {
  subscription: number
  /** Pending deliveries on disk behind a position, in order. */
  list(after: Position | null, limit: number): Promise<DueDelivery[]>
  /** A delivery that came in from the disk, or from a run: makes it ready when it is due, and waiting until then. */
  schedule(item: Item): void
  /** One that is not in memory any more, and was not attempted; called before its state says so. */
  dropped(item: Item): void
  /** Epoch milliseconds. */
  now(): number
}

/** The order in which deliveries are due. */
export type Position = { dueAt: number; sequence: number }

/**
 * The deliveries of one subscription. All of them are on disk; here are the first by the time at which they are due, as
 * many as are soon needed. Up to the horizon every pending one is in memory; what lies behind it is on disk only, and is
 * read when its time comes near. So a receiver that hangs may have a million waiting without anybody's memory.
 */
export class Lane {
  readonly #options: LaneOptions
  /** Those in memory, whatever their state, by their sequence. */
  readonly #items = new Map<number, Item>()
  readonly #ready: Item[] = []
  /** Of `#ready`, those taken or withdrawn already. */
  #readyFrom = 0
  /** Null: everything is in memory. */
  #horizon: Position | null
  #refilling: Promise<void> | undefined
  /** Those that were settled while the disk was being read: what was read may be older. */
  #settled: Set<number> | undefined
  /** How far the horizon was drawn back meanwhile. */
  #drawnTo: Position | undefined

  /** `isEmpty`: nothing of it is on disk but what will be put in. */
  constructor(options: LaneOptions, isEmpty: boolean) {
    this.#options = options
    this.#horizon = isEmpty ? null : beginning
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

  /** Nothing is left, in memory or on disk. */
  get isEmpty(): boolean {
    return this.#items.size === 0 && this.#horizon === null && this.#refilling === undefined
  }

  /** When the disk may have one that is due, epoch milliseconds; undefined when it has none. */
  get horizonAt(): number | undefined {
    return this.#horizon?.dueAt
  }

  get(sequence: number): Item | undefined {
    return this.#items.get(sequence)
  }

  /** Whether one that is on disk since this moment stays there, and is read when those are gone that are ready: full lanes. */
  leaves(position: Position): boolean {
    if (this.#horizon === null || this.readyCount === 0 || !isBefore(this.#horizon, position)) return false
    this.expect(position)
    return true
  }

  /**
   * One that is on disk since this moment. False when `source` is not needed: because it stays there for now, or because
   * it was read from there before this was told of it, and then so is what it is made of.
   */
  put(delivery: DueDelivery, source?: Source, committedAt?: number): boolean {
    if (this.#items.has(delivery.sequence)) return false
    const isBehind = this.#horizon !== null && isBefore(this.#horizon, delivery)
    if (isBehind || this.#items.size >= itemsMax) {
      this.expect(delivery)
      return false
    }
    this.#add(delivery, source, committedAt)
    return true
  }

  /** The next that is due. */
  get next(): Item | undefined {
    for (;;) {
      const item = this.#ready[this.#readyFrom]
      if (!item) {
        this.#ready.length = 0
        this.#readyFrom = 0
        return undefined
      }
      // One that was withdrawn leaves its place in the line behind.
      if (item.state === 'ready' && this.#items.get(item.sequence) === item) return item
      this.#pass()
    }
  }

  /** The same; it is busy until it is settled, or put back. */
  take(): Item | undefined {
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

  /** The next whose turns come, when nothing is known of what the one is made of that is `distance` turns away. */
  unread(distance: number): Item[] {
    const from = this.#readyFrom + distance
    const first = this.#ready[from]
    if (!first || first.source || first.reading) return []
    const next = this.#ready.slice(from, from + readTogether)
    return next.filter((item) => item.state === 'ready' && !item.source && !item.reading)
  }

  /** Its time has come; or it was busy, and nothing has come of it. */
  becomeReady(item: Item): void {
    item.state = 'ready'
    this.#ready.push(item)
  }

  /** What an attempt made of it is on disk: it is over, or due again at `dueAt`. */
  settle(item: Item, dueAt: number | null): void {
    this.#items.delete(item.sequence)
    this.#settled?.add(item.sequence)
    if (dueAt === null) return
    const { sequence, subscription, include, attemptsBefore } = item
    this.put({ sequence, subscription, include, attempts: item.attempts + 1, attemptsBefore, dueAt })
  }

  /** Takes out what is not busy, because a user decides about it; false when it is busy. */
  withdraw(sequence: number): boolean {
    const item = this.#items.get(sequence)
    if (item?.state === 'busy') return false
    if (item) this.#drop(item)
    this.#settled?.add(sequence)
    return true
  }

  /** One on disk that may be due before all that is known. */
  expect({ dueAt, sequence }: Position): void {
    this.#drawBack({ dueAt, sequence: sequence - 1 })
  }

  /** Nothing is known of what is on disk. */
  distrust(): void {
    this.#drawBack(beginning)
  }

  /** Whether the disk should be read now. `lookaheadMs`: how far the memory should reach. */
  needsRefill(lookaheadMs: number): boolean {
    const horizon = this.#horizon
    if (horizon === null || this.#refilling || this.readyCount >= readyMin) return false
    const aheadMs = horizon.dueAt - this.#options.now()
    // What is further ahead than anything can be says that the time of day was set back, and nothing of when it is due.
    if (aheadMs >= lookaheadMs && aheadMs <= dueMsMax) return false
    if (this.#items.size >= itemsMax) this.#forgetBehind(horizon)
    return this.#items.size < itemsMax
  }

  /** Reads what comes next. Calls while one is under way share it. */
  refill(): Promise<void> {
    this.#refilling ??= this.#refill().finally(() => {
      this.#refilling = undefined
      this.#settled = undefined
      if (this.#drawnTo) this.#drawBack(this.#drawnTo)
      this.#drawnTo = undefined
    })
    return this.#refilling
  }

  async #refill(): Promise<void> {
    const from = this.#horizon
    if (from === null) return
    const settled = new Set<number>()
    this.#settled = settled
    const read = await this.#options.list(from === beginning ? null : from, readAtOnce)
    for (const delivery of read) {
      if (!this.#items.has(delivery.sequence) && !settled.has(delivery.sequence)) this.#add(delivery)
    }
    const last = read.length === readAtOnce ? read.at(-1) : undefined
    this.#horizon = last ? { dueAt: last.dueAt, sequence: last.sequence } : null
  }

  /** What comes while the disk is being read may not be in what is read: it counts afterwards, too. */
  #drawBack(to: Position): void {
    if (this.#horizon === null || isBefore(to, this.#horizon)) this.#horizon = to
    if (this.#refilling && (!this.#drawnTo || isBefore(to, this.#drawnTo))) this.#drawnTo = to
  }

  #add(delivery: DueDelivery, source?: Source, committedAt?: number): void {
    const item: Item = {
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

  /** Makes room: those that wait for later are on disk, too. */
  #forgetBehind(horizon: Position): void {
    for (const item of this.#items.values()) {
      if (item.state === 'waiting' && isBefore(horizon, item)) this.#drop(item)
    }
  }

  #drop(item: Item): void {
    this.#options.dropped(item)
    item.state = 'dropped'
    this.#items.delete(item.sequence)
  }
}

/** A lane, and where it stands. */
export type Line = {
  readonly lane: Lane
  host: string
  /** Whether its receiver is being found out. */
  isFinding: boolean
  /** Its timer for reading on; -1 when there is none. */
  wakeTimer: number
  /** On the monotonic clock. */
  wakeAt: number
}

const beginning: Position = { dueAt: Number.NEGATIVE_INFINITY, sequence: 0 }

function isBefore(one: Position, other: Position): boolean {
  return one.dueAt < other.dueAt || (one.dueAt === other.dueAt && one.sequence < other.sequence)
}

/** How far ahead a delivery is due at most: the longest delay there is, with its tenth. */
export const dueMsMax = 660_000
/** Deliveries of one subscription in memory, some more for a moment. */
const itemsMax = 2_000
/** Fewer that are due than these, and the disk is read. */
const readyMin = 250
const readAtOnce = 500
/** Deliveries whose runs are read from the log together. */
const readTogether = 128
const compactAt = 1_000
