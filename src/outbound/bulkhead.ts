import { OutboundError } from '../domain/outbound-request.ts'

/** How many requests may be in flight: in all and to one host name; and how many more may wait for a slot. */
export type Concurrency = { total: number; perHost: number; waiting: number }

/** A slot for one request in flight. Releasing it twice has no effect. */
export type Slot = { release(): void }

/**
 * Prevents slow hosts from taking all slots. A request waits in the queue of its host. A free slot goes to the next
 * host in turn that has waiting requests and is below its own limit, however many requests wait for the others.
 */
export class Bulkhead {
  #bounds: Concurrency
  #hosts = new Map<string, Host>()
  /** Hosts that could use a free slot, in the order of their turns. */
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

  /** Takes a slot that is free now; undefined when there is none. */
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
        this.#stopWaiting(host, waiter)
        reject(signal.reason)
      }
      const waiter = () => {
        signal.removeEventListener('abort', abort)
        const slot = this.#take(host)
        this.#stopWaiting(host, waiter)
        resolve(slot)
      }
      signal.addEventListener('abort', abort, { once: true })
      host.waiters.add(waiter)
      this.#waiting++
      this.#offerTurn(host)
    })
  }

  #hostOf(name: string): Host {
    return this.#hosts.get(name) ?? { name, running: 0, waiters: new Set() }
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
    this.#offerTurn(host)
    this.#serve()
    this.#forget(host)
  }

  #serve(): void {
    for (const host of this.#turns) {
      if (this.#running >= this.#bounds.total) return
      // Moved to the end: the host's next turn comes after those of all others.
      this.#turns.delete(host)
      const [waiter] = host.waiters
      waiter?.()
      this.#offerTurn(host)
    }
  }

  #stopWaiting(host: Host, waiter: () => void): void {
    host.waiters.delete(waiter)
    this.#waiting--
    if (host.waiters.size === 0) this.#turns.delete(host)
    this.#forget(host)
  }

  #offerTurn(host: Host): void {
    if (host.waiters.size > 0 && host.running < this.#bounds.perHost) this.#turns.add(host)
  }

  #forget(host: Host): void {
    if (host.running === 0 && host.waiters.size === 0) this.#hosts.delete(host.name)
  }

  #full(name: string): OutboundError {
    const { total, waiting } = this.#bounds
    const message = `${name} was not called: ${total} requests are in flight and ${waiting} more wait for a slot`
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

type Host = { name: string; running: number; waiters: Set<() => void> }
