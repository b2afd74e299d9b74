import type { Clock, Timer } from '../domain/clock.ts'

/** A lane of deliveries to one host, as far as places go. */
export type Waiting = { host: string }

export type PlacesOptions<Lane> = {
  /** Attempts in flight at once. */
  total: number
  /** The same to one host. */
  perHost: number
  /** Characters of long bodies that are on their way at once; each takes two bytes of memory, and more for a moment. */
  charsMax?: number
  /** Those of the body that a lane sends next. */
  charsOf(lane: Lane): number
  clock: Pick<Clock, 'monotonic' | 'setTimer'>
  /** Called when hosts may have become slow, which leaves more room for others. */
  onRoom(): void
}

/**
 * Who may be called next: one host after the other, and one lane of a host after the other, so that however many wait for
 * one, another has the next place that gets free.
 *
 * Hosts that hang must not fill all the places. A host is *fast* when its last answer came within a second, *slow* when
 * it did not or something has been on its way to it for longer, and *unknown* before it has answered. What is on its way
 * to slow and unknown hosts together takes half of all places at most, shared between the slow ones, and three quarters
 * when a place goes to an unknown one that has none. The last quarter is for those that answer.
 *
 * Long bodies take their turns for memory as well, of which hosts that are not fast have half. One that there is no room
 * for holds up those behind it that are long, too, or it might wait forever; short ones pass.
 */
export class Places<Lane extends Waiting> {
  readonly #options: PlacesOptions<Lane>
  readonly #hosts = new Map<string, Host<Lane>>()
  /** Hosts with lanes that wait, by their class, in the order of their turns. */
  readonly #turns: Record<Class, Set<Host<Lane>>> = { fast: new Set(), unknown: new Set(), slow: new Set() }
  #running = 0
  /** Of these, to hosts that are not fast. */
  #doubtful = 0
  /** Characters of long bodies on their way, and of these, to hosts that are not fast. */
  #chars = 0
  #doubtfulChars = 0
  #look: Timer | undefined

  constructor(options: PlacesOptions<Lane>) {
    this.#options = options
  }

  get running(): number {
    return this.#running
  }

  /** A lane that has something to send. */
  wait(lane: Lane): void {
    const host = this.#hostOf(lane.host)
    host.lanes.add(lane)
    this.#seat(host)
  }

  /** It has nothing more, or goes to another host. */
  leave(lane: Lane): void {
    const host = this.#hosts.get(lane.host)
    host?.lanes.delete(lane)
    if (host?.lanes.size === 0) this.#turns[host.class].delete(host)
  }

  /** Takes a place for the lane whose turn it is; undefined when nobody may go now. It has to `wait` again. */
  take(): { lane: Lane; place: Place } | undefined {
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

  /** Finds out which hosts have become slow, again and again while anything is on its way. */
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

  #takeOf(kind: Class, share: number): { lane: Lane; place: Place } | undefined {
    const { perHost, charsOf } = this.#options
    const most = Math.min(perHost, share)
    let isFull = false
    for (const host of this.#turns[kind]) {
      if (host.startedAt.size >= most) {
        // It comes back when one of its own is over.
        if (most === perHost) this.#turns[kind].delete(host)
        continue
      }
      for (const lane of host.lanes) {
        const chars = longOf(charsOf(lane))
        isFull ||= !this.#hasRoom(kind, chars)
        if (isFull && chars > 0) continue
        this.#turns[kind].delete(host)
        host.lanes.delete(lane)
        const place = this.#occupy(host, chars)
        this.#seat(host)
        return { lane, place }
      }
    }
    return undefined
  }

  /** However long it is, one may always go. */
  #hasRoom(kind: Class, chars: number): boolean {
    const { charsMax = charsMaxDefault } = this.#options
    const fastChars = this.#chars - this.#doubtfulChars
    const isFirst = (kind === 'fast' ? fastChars : this.#doubtfulChars) === 0
    if (chars === 0 || isFirst) return true
    return this.#chars + chars <= charsMax && (kind === 'fast' || this.#doubtfulChars + chars <= charsMax / 2)
  }

  #occupy(host: Host<Lane>, chars: number): Place {
    const startedAt = this.#options.clock.monotonic()
    const place: Place = {
      release: (answered) => {
        if (!host.startedAt.delete(place)) return
        this.#count(host, -1, -chars)
        if (answered !== undefined) {
          this.#reclass(host, answered && this.#options.clock.monotonic() - startedAt < slowMs ? 'fast' : 'slow')
        }
        this.#seat(host)
        this.#forget(host)
      },
    }
    host.startedAt.set(place, startedAt)
    this.#count(host, 1, chars)
    this.#lookSoon()
    return place
  }

  #count(host: Host<Lane>, attempts: number, chars: number): void {
    this.#running += attempts
    this.#chars += chars
    host.chars += chars
    if (host.class === 'fast') return
    this.#doubtful += attempts
    this.#doubtfulChars += chars
  }

  #reclass(host: Host<Lane>, kind: Class): void {
    if (host.class === kind) return
    const wasSeated = this.#turns[host.class].delete(host)
    const sign = Number(host.class === 'fast') - Number(kind === 'fast')
    this.#doubtful += sign * host.startedAt.size
    this.#doubtfulChars += sign * host.chars
    host.class = kind
    if (wasSeated) this.#turns[kind].add(host)
  }

  #seat(host: Host<Lane>): void {
    if (host.lanes.size > 0 && host.startedAt.size < this.#options.perHost) this.#turns[host.class].add(host)
  }

  #hostOf(name: string): Host<Lane> {
    const known = this.#hosts.get(name)
    if (known) return known
    const host: Host<Lane> = { name, class: 'unknown', lanes: new Set(), startedAt: new Map(), chars: 0 }
    this.#hosts.set(name, host)
    return host
  }

  /** What is known of a host is worth keeping while there is room. */
  #forget(host: Host<Lane>): void {
    if (this.#hosts.size <= hostsMax || host.lanes.size > 0 || host.startedAt.size > 0) return
    this.#hosts.delete(host.name)
  }
}

/** `answered`: whether it was over before its time was up; undefined when the service itself gave up. */
export type Place = { release(answered: boolean | undefined): void }

type Class = 'fast' | 'unknown' | 'slow'
type Host<Lane> = {
  name: string
  class: Class
  lanes: Set<Lane>
  /** Of what is on its way, the first one first. */
  startedAt: Map<Place, number>
  /** Of the long bodies among it. */
  chars: number
}

/** Short bodies are not worth counting: all places together hold few megabytes of them. */
function longOf(chars: number): number {
  return chars > shortCharsMax ? chars : 0
}

const shortCharsMax = 65_536
const charsMaxDefault = 67_108_864

const slowMs = 1_000
const lookMs = 500
const hostsMax = 10_000
