import { type Clock, systemClock, type Timer } from '../domain/clock.ts'
import {
  OutboundError,
  type OutboundFailure,
  type OutboundPost,
  type OutboundPosted,
} from '../domain/outbound-request.ts'
import { type AllowList, isAllowed, kindOf, literalAddress, refusalOf } from './addresses.ts'
import { BrokenAnswer } from './answer-parser.ts'
import { failureOf, neverConnected, wasReset } from './failures.ts'
import { type Lookup, resolve, systemLookup } from './resolve.ts'
import { nameOf, parseTarget, type Target } from './target.ts'
import { Callers, TimeLimit } from './time-limit.ts'
import { type Destination, Wire } from './wire.ts'

export type PosterOptions = {
  allow: AllowList
  /** The service's own version, for the `User-Agent`. */
  version: string
  lookup?: Lookup
  clock?: Clock
}

/**
 * Sends short messages to addresses that users choose, under the same rules as every other request: addresses are found
 * and judged for each, the connection goes to the one that was judged, certificates are checked for the name. It bounds
 * nothing: how many are under way is the caller's to decide. Connections are kept for the next message for half a minute.
 */
export class Poster {
  readonly #allow: AllowList
  readonly #userAgent: string
  readonly #clock: Clock
  readonly #lookup: Lookup
  /** Connections without a request, by where they go; the one used last is at the end. */
  readonly #idle = new Map<string, Wire[]>()
  #idleCount = 0
  readonly #callers = new Callers()
  /** URLs that were read before: most requests go where others went. */
  readonly #targets = new Map<string, Target>()
  #sweep: Timer | undefined
  #isStopped = false

  constructor({ allow, version, lookup = systemLookup, clock = systemClock }: PosterOptions) {
    this.#allow = allow
    this.#userAgent = `Millrace/${version}`
    this.#clock = clock
    this.#lookup = lookup
  }

  /** Never throws: what goes wrong is an outcome. */
  readonly post = async (request: OutboundPost): Promise<OutboundPosted> => {
    const limit = new TimeLimit(request.timeoutMs, this.#clock)
    this.#callers.add(request.signal, limit)
    try {
      return await this.#post(request, limit)
    } catch (error) {
      return failed(error)
    } finally {
      limit.lift()
      this.#callers.delete(request.signal, limit)
    }
  }

  /** Closes idle connections; those in use go with their requests. */
  stop(): void {
    this.#isStopped = true
    this.#sweep?.cancel()
    for (const wires of this.#idle.values()) for (const wire of wires) wire.close()
    this.#idle.clear()
  }

  async #post(request: OutboundPost, limit: TimeLimit): Promise<OutboundPosted> {
    if (limit.reason) throw limit.reason
    const target = this.#targetOf(request.url)
    const bytes = Buffer.from(textOf(request, target, this.#userAgent))
    try {
      const addresses = await this.#addressesOf(target, limit)
      limit.phase = 'an answer'
      return await this.#send(bytes, request.answerBytes, target, addresses, limit)
    } catch (error) {
      if (limit.reason) throw limit.reason
      if (!(error instanceof BrokenAnswer)) throw failureOf(error, target)
      throw new OutboundError('INVALID_RESPONSE', `${nameOf(target)} sent ${error.message}`, error)
    }
  }

  #targetOf(url: string): Target {
    const known = this.#targets.get(url)
    if (known) return known
    const target = parseTarget(url)
    if (this.#targets.size >= targetsMax) this.#targets.clear()
    this.#targets.set(url, target)
    return target
  }

  async #addressesOf({ host, port }: Target, limit: TimeLimit): Promise<string[]> {
    const addresses = await resolve(host, { lookup: this.#lookup, clock: this.#clock }, limit.signal)
    const allowed = addresses.filter((address) => isAllowed(this.#allow, host, port, address))
    if (allowed.length > 0) return allowed
    throw new OutboundError('ADDRESS_REFUSED', refusalOf(host, port, kindOf(addresses[0]!)))
  }

  /** Tries the addresses in turn until one takes the connection. */
  async #send(
    bytes: Uint8Array,
    answerBytes: number,
    target: Target,
    addresses: readonly string[],
    limit: TimeLimit,
  ): Promise<OutboundPosted> {
    for (const [index, address] of addresses.entries()) {
      const destination = destinationOf(target, address)
      const kept = this.#takeIdle(destination)
      if (kept) {
        const outcome = await this.#tryKept(kept, bytes, answerBytes, destination, limit)
        if (outcome) return outcome
      }
      try {
        const wire = await connected(destination, limit)
        return await this.#exchange(wire, bytes, answerBytes, destination, limit)
      } catch (error) {
        if (limit.reason || !neverConnected(error) || index === addresses.length - 1) throw error
      }
    }
    throw new Error('No address to connect to')
  }

  /** Undefined when the peer had closed the connection in the meantime: then it has not read the request. */
  async #tryKept(
    wire: Wire,
    bytes: Uint8Array,
    answerBytes: number,
    destination: Destination,
    limit: TimeLimit,
  ): Promise<OutboundPosted | undefined> {
    const startedAt = this.#clock.monotonic()
    try {
      return await this.#exchange(wire, bytes, answerBytes, destination, limit)
    } catch (error) {
      const isStale = wasReset(error) && !wire.hasAnswered && this.#clock.monotonic() - startedAt < staleMsMax
      if (isStale && !limit.reason) return undefined
      throw error
    }
  }

  async #exchange(
    wire: Wire,
    bytes: Uint8Array,
    answerBytes: number,
    destination: Destination,
    limit: TimeLimit,
  ): Promise<OutboundPosted> {
    if (limit.reason) wire.close(limit.reason)
    limit.onEnd = (reason) => wire.close(reason)
    const { status, retryAfter, body } = await wire.send(bytes, answerBytes)
    if (wire.isOpen) this.#keep(wire, destination)
    return { ok: true, status, retryAfter, answer: body }
  }

  #takeIdle(destination: Destination): Wire | undefined {
    const wires = this.#idle.get(keyOf(destination))
    for (let wire = wires?.pop(); wire; wire = wires?.pop()) {
      this.#idleCount -= 1
      if (wire.isOpen) return wire
    }
    return undefined
  }

  #keep(wire: Wire, destination: Destination): void {
    const key = keyOf(destination)
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

/** A connection whose caller has given up is closed when it comes. */
async function connected(destination: Destination, limit: TimeLimit): Promise<Wire> {
  const connecting = Wire.connect(destination)
  const ended = Promise.withResolvers<never>()
  limit.onEnd = (reason) => {
    connecting.then(
      (wire) => wire.close(),
      () => {},
    )
    ended.reject(reason)
  }
  if (limit.reason) limit.onEnd(limit.reason)
  return await Promise.race([connecting, ended.promise])
}

function destinationOf({ host, port, secure }: Target, address: string): Destination {
  return { address, port, secure, name: host, isLiteral: literalAddress(host) !== undefined }
}

/** A connection that was secured for one name is not used for another. */
function keyOf({ address, port, secure, name }: Destination): string {
  return secure ? `${address} ${port} ${name}` : `${address} ${port}`
}

function textOf({ headers, body }: OutboundPost, { url, authorization }: Target, userAgent: string): string {
  let text = `POST ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\nUser-Agent: ${userAgent}\r\nAccept: */*\r\n`
  if (authorization !== undefined) text += `Authorization: ${authorization}\r\n`
  for (const [name, value] of headers) {
    // Nothing that users write comes here; this keeps it so.
    if (/[^\t\x20-\x7e]/.test(name + value))
      throw new OutboundError('INVALID_REQUEST', `The header ${name} cannot be sent`)
    text += `${name}: ${value}\r\n`
  }
  return `${text}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
}

function failed(error: unknown): OutboundFailure {
  if (error instanceof OutboundError) return { ok: false, code: error.code, message: error.message }
  return { ok: false, code: 'CONNECTION_FAILED', message: error instanceof Error ? error.message : String(error) }
}

const idleMs = 30_000
const targetsMax = 1_000
/** Many names may lead to one place. */
const idlePerPlaceMax = 100
const idleMax = 2_000
/** A peer that had closed its end answers with a reset within a round trip; one that resets later has read the request. */
const staleMsMax = 2_000
