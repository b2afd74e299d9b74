import type { Clock, Timer } from '../domain/clock.ts'
import { type Pace, SlotGroup } from './slot-group.ts'

/** The queue of a subscription. All of its deliveries go to one origin: scheme, host name and port. */
export type OriginQueue = { readonly subscription: number; origin: string }

export type FairSchedulerOptions<Queue> = {
  /** Attempts in flight at once. */
  total: number
  /** Attempts in flight at once to one origin; a host name may have four times as many. */
  perOrigin: number
  /** Characters of long bodies in flight at once. Each takes two bytes of memory, and more for a moment. */
  charsMax?: number
  /** Characters of the body that a queue sends next. */
  charsOf(queue: Queue): number
  clock: Pick<Clock, 'monotonic' | 'setTimer'>
  /** Called when receivers may have become slow, which leaves more slots for others. */
  onRoom(): void
}

/**
 * Selects the queue that sends next. Host names take turns, and so do the origins of a host name and the subscriptions
 * of an origin: however many deliveries wait for one subscription, a free slot goes to another. Subscriptions without a
 * slot come first.
 *
 * Subscriptions whose receivers hang must not fill all slots. `Pace` says how fast a receiver responds. A subscription
 * has at most half of its origin's slots, and the last quarter of them is for fast ones; the same holds for the origins
 * of a host name (`SlotGroup`). Of all slots together, slow and unknown subscriptions take at most half, which the slow
 * host names share, and at most three quarters if the slot goes to an unknown subscription whose host has none. The
 * last quarter is for receivers that respond.
 *
 * Long bodies also take turns for memory. Subscriptions that are not fast have half of it. A long body without room
 * holds back the long ones behind it, because it might wait forever otherwise; short ones pass it.
 */
export class FairScheduler<Queue extends OriginQueue> {
  readonly #options: FairSchedulerOptions<Queue>
  readonly #all: SlotGroup<Host<Queue>>
  readonly #hosts = new Map<string, Host<Queue>>()
  readonly #origins = new Map<string, Origin<Queue>>()
  /** By subscription. A lane outlives its queue, because it remembers the pace. */
  readonly #lanes = new Map<number, Lane<Queue>>()
  /** Slots in use; the oldest is first. */
  readonly #slots = new Map<Slot, { lane: Lane<Queue>; startedAt: number }>()
  /** Characters of long bodies in flight: all, and those of subscriptions that are not fast. */
  #chars = 0
  #doubtfulChars = 0
  #look: Timer | undefined

  constructor(options: FairSchedulerOptions<Queue>) {
    this.#options = options
    this.#all = new SlotGroup(options.total)
  }

  get running(): number {
    return this.#slots.size
  }

  /** Adds a queue that has something to send. */
  wait(queue: Queue): void {
    const lane = this.#laneOf(queue)
    lane.queue = queue
    enqueue(this.#all, lane)
  }

  /** Removes a queue that has nothing more to send, or sends to another origin now. */
  leave(queue: Queue): void {
    const lane = this.#lanes.get(queue.subscription)
    if (!lane) return
    dequeue(this.#all, lane)
    this.#forget(lane)
  }

  /** Takes a slot for the queue whose turn it is; undefined when none may send now. The queue has to `wait` again. */
  take(): { queue: Queue; slot: Slot } | undefined {
    const all = this.#all
    if (all.isFull) return undefined
    const { isHalfDoubtful: isHalf } = all
    const unlimited = Number.POSITIVE_INFINITY
    const unknownMost = all.isMostlyDoubtful ? 0 : isHalf ? 1 : unlimited
    const slowMost = isHalf ? 0 : Math.max(1, Math.floor(all.half / Math.max(1, all.waiting.slow.size)))
    return (
      this.#takeOf('unknown', { host: unknownMost, lane: 1 }) ??
      this.#takeOf('slow', { host: slowMost, lane: 1 }) ??
      this.#takeOf('fast', { host: unlimited, lane: unlimited }) ??
      this.#takeOf('unknown', { host: unknownMost, lane: 2 }) ??
      this.#takeOf('slow', { host: slowMost, lane: unlimited })
    )
  }

  stop(): void {
    this.#look?.cancel()
  }

  /** Looks for receivers that have become slow, as long as attempts are in flight. */
  #lookSoon(): void {
    this.#look ??= this.#options.clock.setTimer(lookMs, () => {
      this.#look = undefined
      this.#findSlow()
      if (this.running > 0) this.#lookSoon()
      this.#options.onRoom()
    })
  }

  #findSlow(): void {
    const before = this.#options.clock.monotonic() - slowMs
    for (const { lane, startedAt } of this.#slots.values()) {
      if (startedAt >= before) return
      this.#setPace(lane, 'slow')
    }
  }

  /** `most`: the slots of this pace that a host name and a subscription may hold. */
  #takeOf(pace: Pace, most: { host: number; lane: number }): { queue: Queue; slot: Slot } | undefined {
    if (most.host === 0) return undefined
    let isFull = false
    for (const host of this.#all.waiting[pace]) {
      if (host.heldBy(pace) >= most.host || !host.admits(pace, 0)) continue
      for (const origin of host.waiting[pace]) {
        if (!host.admits(pace, origin.held) || !origin.admits(pace, 0)) continue
        for (const lane of origin.waiting[pace]) {
          if (lane.held >= most.lane || !origin.admits(pace, lane.held)) continue
          const chars = longOf(this.#options.charsOf(lane.queue))
          isFull ||= !this.#hasRoom(pace, chars)
          if (isFull && chars > 0) continue
          passTurn(this.#all, lane)
          return { queue: lane.queue, slot: this.#occupy(lane, chars) }
        }
      }
    }
    return undefined
  }

  /** One body may always be sent, however long it is. */
  #hasRoom(pace: Pace, chars: number): boolean {
    const { charsMax = charsMaxDefault } = this.#options
    const fastChars = this.#chars - this.#doubtfulChars
    const isFirst = (pace === 'fast' ? fastChars : this.#doubtfulChars) === 0
    if (chars === 0 || isFirst) return true
    return this.#chars + chars <= charsMax && (pace === 'fast' || this.#doubtfulChars + chars <= charsMax / 2)
  }

  #occupy(lane: Lane<Queue>, chars: number): Slot {
    const startedAt = this.#options.clock.monotonic()
    const slot: Slot = {
      release: (responded) => {
        if (!this.#slots.delete(slot)) return
        this.#count(lane, -1, -chars)
        if (responded !== undefined) {
          this.#setPace(lane, responded && this.#options.clock.monotonic() - startedAt < slowMs ? 'fast' : 'slow')
        }
        this.#forget(lane)
      },
    }
    this.#slots.set(slot, { lane, startedAt })
    this.#count(lane, 1, chars)
    this.#lookSoon()
    return slot
  }

  #count(lane: Lane<Queue>, slots: number, chars: number): void {
    lane.held += slots
    lane.chars += chars
    for (const group of [lane.origin, lane.origin.host, this.#all]) group.count(lane.pace, slots)
    this.#chars += chars
    if (lane.pace !== 'fast') this.#doubtfulChars += chars
  }

  #setPace(lane: Lane<Queue>, pace: Pace): void {
    if (lane.pace === pace) return
    const { held, chars } = lane
    const wasWaiting = dequeue(this.#all, lane)
    this.#count(lane, -held, -chars)
    lane.pace = pace
    this.#count(lane, held, chars)
    if (wasWaiting) enqueue(this.#all, lane)
  }

  #laneOf(queue: Queue): Lane<Queue> {
    const known = this.#lanes.get(queue.subscription)
    if (known?.origin.name === queue.origin) return known
    const origin = this.#originOf(queue.origin)
    const lane: Lane<Queue> = { queue, origin, pace: 'unknown', held: 0, chars: 0 }
    origin.size += 1
    this.#lanes.set(queue.subscription, lane)
    if (known) this.#forget(known)
    return lane
  }

  #originOf(name: string): Origin<Queue> {
    const known = this.#origins.get(name)
    if (known) return known
    const { perOrigin } = this.#options
    const hostName = URL.parse(name)?.hostname ?? ''
    const host = this.#hosts.get(hostName) ?? new Host<Queue>(hostName, perOrigin * originsPerHost)
    this.#hosts.set(hostName, host)
    host.size += 1
    const origin = new Origin<Queue>(name, host, perOrigin)
    this.#origins.set(name, origin)
    return origin
  }

  /** Forgets an unused lane if its subscription has another origin now, or if there are too many lanes. */
  #forget(lane: Lane<Queue>): void {
    const { queue, origin } = lane
    if (lane.held > 0 || origin.waiting[lane.pace].has(lane)) return
    if (this.#lanes.get(queue.subscription) === lane) {
      if (this.#lanes.size <= lanesMax) return
      this.#lanes.delete(queue.subscription)
    }
    origin.size -= 1
    if (origin.size > 0) return
    this.#origins.delete(origin.name)
    origin.host.size -= 1
    if (origin.host.size === 0) this.#hosts.delete(origin.host.name)
  }
}

/** `responded`: whether the attempt ended before its timeout; undefined when the service itself ended it. */
export type Slot = { release(responded: boolean | undefined): void }

class Host<Queue> extends SlotGroup<Origin<Queue>> {
  readonly name: string

  constructor(name: string, limit: number) {
    super(limit)
    this.name = name
  }
}

class Origin<Queue> extends SlotGroup<Lane<Queue>> {
  readonly name: string
  readonly host: Host<Queue>

  constructor(name: string, host: Host<Queue>, limit: number) {
    super(limit)
    this.name = name
    this.host = host
  }
}

/** A subscription and the pace of its receiver. */
type Lane<Queue> = {
  queue: Queue
  readonly origin: Origin<Queue>
  pace: Pace
  /** Its slots in use. */
  held: number
  /** Characters of its long bodies in flight. */
  chars: number
}

function enqueue<Queue>(all: SlotGroup<Host<Queue>>, lane: Lane<Queue>): void {
  const { origin, pace } = lane
  origin.waiting[pace].add(lane)
  origin.host.waiting[pace].add(origin)
  all.waiting[pace].add(origin.host)
}

/** False when it was not waiting. */
function dequeue<Queue>(all: SlotGroup<Host<Queue>>, lane: Lane<Queue>): boolean {
  const { origin, pace } = lane
  const { host } = origin
  if (!origin.waiting[pace].delete(lane)) return false
  if (origin.waiting[pace].size === 0) host.waiting[pace].delete(origin)
  if (host.waiting[pace].size === 0) all.waiting[pace].delete(host)
  return true
}

/** Removes a lane whose turn it is. Its origin and host have the last turn now. */
function passTurn<Queue>(all: SlotGroup<Host<Queue>>, lane: Lane<Queue>): void {
  dequeue(all, lane)
  const { origin } = lane
  origin.host.moveToEnd(origin)
  all.moveToEnd(origin.host)
}

/** Short bodies are not counted: all slots together hold a few megabytes of them. */
function longOf(chars: number): number {
  return chars > shortCharsMax ? chars : 0
}

const shortCharsMax = 65_536
const charsMaxDefault = 67_108_864

const slowMs = 1_000
const lookMs = 500
/** A host name may have several ports, and each is an origin. */
const originsPerHost = 4
const lanesMax = 10_000
