import type { Clock, Timer } from '../domain/clock.ts'
import { literalAddress } from './addresses.ts'
import { neverConnected, wasClosedBefore } from './failures.ts'
import type { Target } from './target.ts'
import type { TimeLimit } from './time-limit.ts'
import { type Way, Wire, type WireReceiver, type WireRequest } from './wire.ts'

/** The way to an address that was judged. */
export function wayTo({ host, port, secure }: Target, address: string): Way {
  // A connection that was secured for one name is not used for another.
  const key = secure ? `${address} ${port} ${host}` : `${address} ${port}`
  return { address, port, secure, name: host, isLiteral: literalAddress(host) !== undefined, key }
}

/** Who reads an answer; made anew for each time that its request is sent. */
type MakeReceiver<Answer> = (
  resolve: (answer: Answer) => void,
  reject: (error: unknown) => void,
  wire: Wire,
) => WireReceiver

/** Connections for requests that go over sockets of their own. Those without a request are kept for half a minute. */
export class Wires {
  readonly #clock: Clock
  /** Connections without a request, by where they go; the one used last is at the end. */
  readonly #idle = new Map<string, Wire[]>()
  #idleCount = 0
  #sweep: Timer | undefined
  #isStopped = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Goes the ways in turn until one leads to a connection. The limit ends the request, also when its answer has resolved
   * and more of it comes. Rejects with what went wrong on the way, or the limit's reason.
   */
  async send<Answer>(
    request: WireRequest,
    ways: readonly Way[],
    limit: TimeLimit,
    receiver: MakeReceiver<Answer>,
  ): Promise<Answer> {
    for (const way of ways) {
      const kept = this.#takeIdle(way)
      if (kept) {
        const startedAt = this.#clock.monotonic()
        try {
          return await exchange(kept, request, limit, receiver)
        } catch (error) {
          // The peer had closed the connection in the meantime: then it has not read the request.
          const isStale = !kept.hasAnswered && wasClosedBefore(error, this.#clock.monotonic() - startedAt)
          if (!isStale || limit.reason) throw error
        }
      }
      try {
        return await exchange(await this.#connected(way, limit), request, limit, receiver)
      } catch (error) {
        if (limit.reason || !neverConnected(error) || way === ways.at(-1)) throw error
      }
    }
    throw new Error('No address to connect to')
  }

  /** Closes idle connections; those in use go with their requests. */
  stop(): void {
    this.#isStopped = true
    this.#sweep?.cancel()
    for (const wires of this.#idle.values()) for (const wire of wires) wire.close()
    this.#idle.clear()
  }

  /** A connection whose caller has given up is closed, at the latest when it comes. */
  async #connected(way: Way, limit: TimeLimit): Promise<Wire> {
    const wire = new Wire(way, this.#keep)
    const ended = Promise.withResolvers<never>()
    limit.onEnd = (reason) => {
      wire.close()
      ended.reject(reason)
    }
    if (limit.reason) limit.onEnd(limit.reason)
    await Promise.race([wire.connect(), ended.promise])
    return wire
  }

  #takeIdle({ key }: Way): Wire | undefined {
    const wires = this.#idle.get(key)
    for (let wire = wires?.pop(); wire; wire = wires?.pop()) {
      this.#idleCount -= 1
      if (wire.isOpen) return wire
    }
    return undefined
  }

  #keep = (wire: Wire): void => {
    const { key } = wire.way
    const wires = this.#idle.get(key) ?? []
    if (this.#isStopped || wires.length >= idlePerPlaceMax || this.#idleCount >= idleMax) {
      wire.close()
      return
    }
    wire.usedAt = this.#clock.monotonic()
    wires.push(wire)
    this.#idle.set(key, wires)
    this.#idleCount += 1
    this.#sweep ??= this.#clock.setTimer(idleMs / 2, () => this.#closeOld())
  }

  #closeOld(): void {
    this.#sweep = undefined
    const before = this.#clock.monotonic() - idleMs
    for (const [key, wires] of this.#idle) {
      const young = wires.filter((wire) => wire.isOpen && wire.usedAt > before)
      for (const wire of wires) if (wire.usedAt <= before) wire.close()
      this.#idleCount -= wires.length - young.length
      if (young.length > 0) this.#idle.set(key, young)
      else this.#idle.delete(key)
    }
    if (this.#idle.size > 0 && !this.#isStopped) this.#sweep = this.#clock.setTimer(idleMs / 2, () => this.#closeOld())
  }
}

function exchange<Answer>(
  wire: Wire,
  request: WireRequest,
  limit: TimeLimit,
  receiver: MakeReceiver<Answer>,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const waiting = receiver(resolve, reject, wire)
    limit.onEnd = abandoning(wire, waiting)
    if (limit.reason) wire.close(limit.reason)
    wire.send(request, waiting)
  })
}

/** By itself: it lives as long as the answer, and beside the request it would keep that. */
function abandoning(wire: Wire, receiver: WireReceiver): TimeLimit['onEnd'] {
  return (reason) => wire.abandon(receiver, reason)
}

const idleMs = 30_000
/** Many names may lead to one place. */
const idlePerPlaceMax = 100
const idleMax = 2_000
