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
import { knownAddresses, type Lookup, resolve, systemLookup } from './resolve.ts'
import { nameOf, parseTarget, type Target } from './target.ts'
import { type TimeLimit, TimeLimits } from './time-limit.ts'
import { type Destination, Wire, type WireRequest } from './wire.ts'

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
  readonly #limits: TimeLimits
  /** URLs that were read before: most requests go where others went. */
  readonly #addressees = new Map<string, Addressee>()
  #sweep: Timer | undefined
  #isStopped = false

  constructor({ allow, version, lookup = systemLookup, clock = systemClock }: PosterOptions) {
    this.#allow = allow
    this.#userAgent = `Millrace/${version}`
    this.#clock = clock
    this.#lookup = lookup
    this.#limits = new TimeLimits(clock)
  }

  /** Never throws: what goes wrong is an outcome. */
  readonly post = async (request: OutboundPost): Promise<OutboundPosted> => {
    const limit = this.#limits.begin(request.timeoutMs, request.signal)
    try {
      if (limit.reason) throw limit.reason
      return await this.#post(request, this.#addresseeOf(request.url), limit)
    } catch (error) {
      return failed(error)
    } finally {
      this.#limits.lift(limit, request.signal)
    }
  }

  /** Closes idle connections; those in use go with their requests. */
  stop(): void {
    this.#isStopped = true
    this.#sweep?.cancel()
    this.#limits.stop()
    for (const wires of this.#idle.values()) for (const wire of wires) wire.close()
    this.#idle.clear()
  }

  async #post(request: OutboundPost, addressee: Addressee, limit: TimeLimit): Promise<OutboundPosted> {
    const { target, head } = addressee
    const wireRequest = wireRequestOf(head, request)
    try {
      const ways = addressee.ways ?? (await this.#findWays(target, limit))
      limit.phase = 'an answer'
      return await this.#send(wireRequest, request.answerBytes, ways, limit)
    } catch (error) {
      if (limit.reason) throw limit.reason
      if (!(error instanceof BrokenAnswer)) throw failureOf(error, target)
      throw new OutboundError('INVALID_RESPONSE', `${nameOf(target)} sent ${error.message}`, error)
    }
  }

  #addresseeOf(url: string): Addressee {
    const known = this.#addressees.get(url)
    if (known) return known
    const target = parseTarget(url)
    const addresses = knownAddresses(target.host)
    const addressee = {
      target,
      head: headOf(target, this.#userAgent),
      ways: addresses && this.#judged(target, addresses),
    }
    if (this.#addressees.size >= addresseesMax) this.#addressees.clear()
    this.#addressees.set(url, addressee)
    return addressee
  }

  async #findWays(target: Target, limit: TimeLimit): Promise<Way[]> {
    const { host } = target
    return this.#judged(target, await resolve(host, { lookup: this.#lookup, clock: this.#clock }, limit.signal))
  }

  /** Those of a name's addresses that may be called. */
  #judged(target: Target, addresses: readonly string[]): Way[] {
    const { host, port } = target
    const ways = addresses
      .filter((address) => isAllowed(this.#allow, host, port, address))
      .map((address) => wayTo(target, address))
    if (ways.length > 0) return ways
    throw new OutboundError('ADDRESS_REFUSED', refusalOf(host, port, kindOf(addresses[0]!)))
  }

  /** Tries the addresses in turn until one takes the connection. */
  async #send(
    request: WireRequest,
    answerBytes: number,
    ways: readonly Way[],
    limit: TimeLimit,
  ): Promise<OutboundPosted> {
    for (const way of ways) {
      const kept = this.#takeIdle(way)
      if (kept) {
        const startedAt = this.#clock.monotonic()
        try {
          return await this.#exchange(kept, request, answerBytes, way, limit)
        } catch (error) {
          // The peer had closed the connection in the meantime: then it has not read the request.
          const isStale = wasReset(error) && !kept.hasAnswered && this.#clock.monotonic() - startedAt < staleMsMax
          if (!isStale || limit.reason) throw error
        }
      }
      try {
        return await this.#exchange(await connected(way, limit), request, answerBytes, way, limit)
      } catch (error) {
        if (limit.reason || !neverConnected(error) || way === ways.at(-1)) throw error
      }
    }
    throw new Error('No address to connect to')
  }

  async #exchange(
    wire: Wire,
    request: WireRequest,
    answerBytes: number,
    way: Way,
    limit: TimeLimit,
  ): Promise<OutboundPosted> {
    if (limit.reason) wire.close(limit.reason)
    limit.onEnd = (reason) => wire.close(reason)
    const { status, retryAfter, body } = await wire.send(request, answerBytes)
    if (wire.isOpen) this.#keep(wire, way)
    return { ok: true, status, retryAfter, answer: body }
  }

  #takeIdle({ key }: Way): Wire | undefined {
    const wires = this.#idle.get(key)
    for (let wire = wires?.pop(); wire; wire = wires?.pop()) {
      this.#idleCount -= 1
      if (wire.isOpen) return wire
    }
    return undefined
  }

  #keep(wire: Wire, { key }: Way): void {
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

/** Where requests to one URL go; `ways`: where nobody has to be asked for them, and so nothing changes from one to the next. */
type Addressee = { target: Target; head: string; ways: readonly Way[] | undefined }

/** `key`: what kept connections are found by. */
type Way = Destination & { key: string }

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

function wayTo({ host, port, secure }: Target, address: string): Way {
  // A connection that was secured for one name is not used for another.
  const key = secure ? `${address} ${port} ${host}` : `${address} ${port}`
  return { address, port, secure, name: host, isLiteral: literalAddress(host) !== undefined, key }
}

/** What the requests to one URL begin with. */
function headOf({ url, authorization }: Target, userAgent: string): string {
  const head = `POST ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\nUser-Agent: ${userAgent}\r\nAccept: */*\r\n`
  return authorization === undefined ? head : `${head}Authorization: ${authorization}\r\n`
}

function wireRequestOf(begin: string, { headers, body }: OutboundPost): WireRequest {
  let lines = ''
  for (const [name, value] of headers) {
    // Nothing that users write comes here; this keeps it so.
    if (/[^\t\x20-\x7e]/.test(value) || /[^!-9;-~]/.test(name))
      throw new OutboundError('INVALID_REQUEST', `The header ${name} cannot be sent`)
    lines += `${name}: ${value}\r\n`
  }
  const bodyBytes = Buffer.byteLength(body)
  const head = `${begin}${lines}Content-Length: ${bodyBytes}\r\n\r\n`
  return { text: head + body, bytes: head.length + bodyBytes }
}

function failed(error: unknown): OutboundFailure {
  if (error instanceof OutboundError) return { ok: false, code: error.code, message: error.message }
  return { ok: false, code: 'CONNECTION_FAILED', message: error instanceof Error ? error.message : String(error) }
}

const idleMs = 30_000
const addresseesMax = 1_000
/** Many names may lead to one place. */
const idlePerPlaceMax = 100
const idleMax = 2_000
/** A peer that had closed its end answers with a reset within a round trip; one that resets later has read the request. */
const staleMsMax = 2_000
