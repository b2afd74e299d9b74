import type { Clock, Timer } from '../domain/clock.ts'

/** A queue whose deliveries go to one host. */
export type HostQueue = { host: string }

export type FairSchedulerOptions<Queue> = {
  /** Attempts in flight at once. */
  total: number
  /** Attempts in flight at once to one host. */
  perHost: number
  /** Characters of long bodies in flight at once. Each takes two bytes of memory, and more for a moment. */
  charsMax?: number
  /** Characters of the body that a queue sends next. */
  charsOf(queue: Queue): number
  clock: Pick<Clock, 'monotonic' | 'setTimer'>
  /** Called when hosts may have become slow, which leaves more slots for others. */
  onRoom(): void
}

/**
 * Selects the queue that sends next. Hosts take turns, and so do the queues of one host: however many deliveries wait
 * for one host, a free slot goes to another.
 *
 * Hosts that hang must not fill all slots. A host is *fast* if its last response came within a second. It is *slow* if
 * the response took longer or an attempt has been in flight for longer, and *unknown* before its first response. Slow
 * and unknown hosts together take at most half of all slots, which the slow ones share, and at most three quarters if
 * the slot goes to an unknown host that has none. The last quarter is for hosts that respond.
 *
 * Long bodies also take turns for memory. Hosts that are not fast have half of it. A long body without room holds back
 * the long ones behind it, because it might wait forever otherwise; short ones pass it.
 */
export class FairScheduler<Queue extends HostQueue> {
  readonly #options: FairSchedulerOptions<Queue>
  readonly #hosts = new Map<string, Host<Queue>>()
  /** Hosts with waiting queues, by their class, in the order of their turns. */
  readonly #turns: Record<Class, Set<Host<Queue>>> = { fast: new Set(), unknown: new Set(), slow: new Set() }
  #running = 0
  /** Attempts in flight to hosts that are not fast. */
  #doubtful = 0
  /** Characters of long bodies in flight: all, and those to hosts that are not fast. */
  #chars = 0
  #doubtfulChars = 0
  #look: Timer | undefined

  constructor(options: FairSchedulerOptions<Queue>) {
    this.#options = options
  }

  get running(): number {
    return this.#running
  }

  /** Adds a queue that has something to send. */
  wait(queue: Queue): void {
    const host = this.#hostOf(queue.host)
    host.queues.add(queue)
    this.#enqueue(host)
  }

  /** Removes a queue that has nothing more to send, or sends to another host now. */
  leave(queue: Queue): void {
    const host = this.#hosts.get(queue.host)
    host?.queues.delete(queue)
    if (host?.queues.size === 0) this.#turns[host.class].delete(host)
  }

  /** Takes a slot for the queue whose turn it is; undefined when none may send now. The queue has to `wait` again. */
  take(): { queue: Queue; slot: Slot } | undefined {
    const { total } = this.#options
    if (this.#running >= total) return undefined
    const isHalf = this.#doubtful >= Math.ceil(total * 0.5)
    const isMost = this.#doubtful >= Math.ceil(total * 0.75)
    return (
      this.#takeOf('fast', total) ??
      (isMost ? undefined : this.#takeOf('unknown', isHalf ? 1 : 2)) ??
      (isHalf ? undefined : this.#takeOf('slow', this.#slowShare))
    )
  }

  stop(): void {
    this.#look?.cancel()
  }

  /** Looks for hosts that have become slow, as long as attempts are in flight. */
  #lookSoon(): void {
    this.#look ??= this.#options.clock.setTimer(lookMs, () => {
      this.#look = undefined
      this.#findSlow()
      if (this.#running > 0) this.#lookSoon()
      this.#options.onRoom()
    })
  }

  #findSlow(): void {
    const before = this.#options.clock.monotonic() - slowMs
    for (const host of this.#hosts.values()) {
      const [oldest] = host.startedAt.values()
      if (oldest !== undefined && oldest < before) this.#reclass(host, 'slow')
    }
  }

  get #slowShare(): number {
    return Math.max(1, Math.floor((this.#options.total * 0.5) / Math.max(1, this.#turns.slow.size)))
  }

  #takeOf(kind: Class, share: number): { queue: Queue; slot: Slot } | undefined {
    const { perHost, charsOf } = this.#options
    const most = Math.min(perHost, share)
    let isFull = false
    for (const host of this.#turns[kind]) {
      if (host.startedAt.size >= most) {
        // It comes back when one of its attempts has ended.
        if (most === perHost) this.#turns[kind].delete(host)
        continue
      }
      for (const queue of host.queues) {
        const chars = longOf(charsOf(queue))
        isFull ||= !this.#hasRoom(kind, chars)
        if (isFull && chars > 0) continue
        this.#turns[kind].delete(host)
        host.queues.delete(queue)
        const slot = this.#occupy(host, chars)
        this.#enqueue(host)
        return { queue, slot }
      }
    }
    return undefined
  }

  /** One body may always be sent, however long it is. */
  #hasRoom(kind: Class, chars: number): boolean {
    const { charsMax = charsMaxDefault } = this.#options
    const fastChars = this.#chars - this.#doubtfulChars
    const isFirst = (kind === 'fast' ? fastChars : this.#doubtfulChars) === 0
    if (chars === 0 || isFirst) return true
    return this.#chars + chars <= charsMax && (kind === 'fast' || this.#doubtfulChars + chars <= charsMax / 2)
  }

  #occupy(host: Host<Queue>, chars: number): Slot {
    const startedAt = this.#options.clock.monotonic()
    const slot: Slot = {
      release: (responded) => {
        if (!host.startedAt.delete(slot)) return
        this.#count(host, -1, -chars)
        if (responded !== undefined) {
          this.#reclass(host, responded && this.#options.clock.monotonic() - startedAt < slowMs ? 'fast' : 'slow')
        }
        this.#enqueue(host)
        this.#forget(host)
      },
    }
    host.startedAt.set(slot, startedAt)
    this.#count(host, 1, chars)
    this.#lookSoon()
    return slot
  }

  #count(host: Host<Queue>, attempts: number, chars: number): void {
    this.#running += attempts
    this.#chars += chars
    host.chars += chars
    if (host.class === 'fast') return
    this.#doubtful += attempts
    this.#doubtfulChars += chars
  }

  #reclass(host: Host<Queue>, kind: Class): void {
    if (host.class === kind) return
    const wasQueued = this.#turns[host.class].delete(host)
    const sign = Number(host.class === 'fast') - Number(kind === 'fast')
    this.#doubtful += sign * host.startedAt.size
    this.#doubtfulChars += sign * host.chars
    host.class = kind
    if (wasQueued) this.#turns[kind].add(host)
  }

  #enqueue(host: Host<Queue>): void {
    if (host.queues.size > 0 && host.startedAt.size < this.#options.perHost) this.#turns[host.class].add(host)
  }

  #hostOf(name: string): Host<Queue> {
    const known = this.#hosts.get(name)
    if (known) return known
    const host: Host<Queue> = { name, class: 'unknown', queues: new Set(), startedAt: new Map(), chars: 0 }
    this.#hosts.set(name, host)
    return host
  }

  /** Remembers the class of a host as long as there is room. */
  #forget(host: Host<Queue>): void {
    if (this.#hosts.size <= hostsMax || host.queues.size > 0 || host.startedAt.size > 0) return
    this.#hosts.delete(host.name)
  }
}

/** `responded`: whether the attempt ended before its timeout; undefined when the service itself ended it. */
export type Slot = { release(responded: boolean | undefined): void }

type Class = 'fast' | 'unknown' | 'slow'
type Host<Queue> = {
  name: string
  class: Class
  queues: Set<Queue>
  /** When each attempt in flight started; the oldest is first. */
  startedAt: Map<Slot, number>
  /** Characters of the long bodies in flight. */
  chars: number
}

/** Short bodies are not counted: all slots together hold a few megabytes of them. */
function longOf(chars: number): number {
  return chars > shortCharsMax ? chars : 0
}

const shortCharsMax = 65_536
const charsMaxDefault = 67_108_864

const slowMs = 1_000
const lookMs = 500
const hostsMax = 10_000
