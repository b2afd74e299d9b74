import { OutboundError } from '../domain/outbound-request.ts'

/** How many requests may be in flight: in all, to one host name, and how many more may wait for a place. */
export type Concurrency = { total: number; perHost: number; waiting: number }

/** A place among the requests in flight; giving it back twice does nothing. */
export type Slot = { release(): void }

/**
 * Keeps slow hosts from taking all the places. A request waits in the line of its own host; a place that gets free goes
 * to the next host in turn that has a line and is below its own bound, however long the lines of the others are.
 */
export class Bulkhead {
  #bounds: Concurrency
  #hosts = new Map<string, Host>()
  /** Hosts that could use a free place, in the order of their turns. */
  #turns = new Set<Host>()
  #running = 0
  #waiting = 0

  constructor(bounds: Concurrency) {
    this.#bounds = bounds
  }

  get running(): number {
    return this.#running
  }

  get waiting(): number {
    return this.#waiting
  }

  /** Host names with a request in flight or waiting. */
  get hosts(): number {
    return this.#hosts.size
  }

  /** A place that is free now; undefined when one would have to be waited for. */
  take(name: string): Slot | undefined {
    const host = this.#hostOf(name)
    return this.#hasFreeSlot(host) ? this.#take(host) : undefined
  }

  /** Rejects with the signal's reason when it aborts first, and with `CONNECTION_FAILED` when too many wait. */
  acquire(name: string, signal: AbortSignal): Promise<Slot> {
    return new Promise((resolve, reject) => {
      if (signal.aborted) return reject(signal.reason)
      const host = this.#hostOf(name)
      if (this.#hasFreeSlot(host)) return resolve(this.#take(host))
      if (this.#waiting >= this.#bounds.waiting) return reject(this.#full(name))
      this.#hosts.set(name, host)
      const abort = () => {
        this.#leave(host, waiter)
        reject(signal.reason)
      }
      const waiter = () => {
        signal.removeEventListener('abort', abort)
        const place = this.#take(host)
        this.#leave(host, waiter)
        resolve(place)
      }
      signal.addEventListener('abort', abort, { once: true })
      host.line.add(waiter)
      this.#waiting++
      this.#queue(host)
    })
  }

  #hostOf(name: string): Host {
    return this.#hosts.get(name) ?? { name, running: 0, line: new Set() }
  }

  #hasFreeSlot(host: Host): boolean {
    return this.#running < this.#bounds.total && host.running < this.#bounds.perHost
  }

  #take(host: Host): Slot {
    this.#hosts.set(host.name, host)
    host.running++
    this.#running++
    return new HeldSlot(host, this.#release)
  }

  #release = (host: Host): void => {
    host.running--
    this.#running--
    this.#queue(host)
    this.#serve()
    this.#forget(host)
  }

  #serve(): void {
    for (const host of this.#turns) {
      if (this.#running >= this.#bounds.total) return
      // Out and in again at the end: the host's next turn comes after everyone else's.
      this.#turns.delete(host)
      const [waiter] = host.line
      waiter?.()
      this.#queue(host)
    }
  }

  #leave(host: Host, waiter: () => void): void {
    host.line.delete(waiter)
    this.#waiting--
    if (host.line.size === 0) this.#turns.delete(host)
    this.#forget(host)
  }

  #queue(host: Host): void {
    if (host.line.size > 0 && host.running < this.#bounds.perHost) this.#turns.add(host)
  }

  #forget(host: Host): void {
    if (host.running === 0 && host.line.size === 0) this.#hosts.delete(host.name)
  }

  #full(name: string): OutboundError {
    const { total, waiting } = this.#bounds
    const message = `${name} was not called: ${total} requests are in flight and ${waiting} more wait for a place`
    return new OutboundError('CONNECTION_FAILED', message)
  }
}

class HeldSlot implements Slot {
  readonly #release: (host: Host) => void
  #host: Host | undefined

  constructor(host: Host, release: (host: Host) => void) {
    this.#host = host
    this.#release = release
  }

  release(): void {
    const host = this.#host
    this.#host = undefined
    if (host) this.#release(host)
  }
}

type Host = { name: string; running: number; line: Set<() => void> }
