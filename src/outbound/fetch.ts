import { type Clock, systemClock } from '../domain/clock.ts'
import {
  type OutboundBody,
  OutboundError,
  type OutboundFetch,
  type OutboundOpen,
  type OutboundRequest,
  type OutboundStream,
  type OutboundStreamRequest,
} from '../domain/outbound-request.ts'
import type { AllowList } from './addresses.ts'
import { allowedAddresses } from './allowed-addresses.ts'
import { Bulkhead, type Concurrency, type Place } from './bulkhead.ts'
import { Deadline } from './deadline.ts'
import { Exchange } from './exchange.ts'
import { failedOutcome, failureOf } from './failures.ts'
import { requestHeaders } from './headers.ts'
import { Connector, type Open, type Opened } from './open.ts'
import { type Hop, hopTo, redirectOf } from './redirects.ts'
import { type Lookup, type ResolveOptions, resolve, systemLookup } from './resolve.ts'
import { parseTarget, type Target } from './target.ts'
import { WireOpener } from './wire-opener.ts'

export type OutboundOptions = {
  allow: AllowList
  /** The service's own version, for the `User-Agent` of requests that have none. */
  version: string
  /** Routes of the service itself that may be called although its address is not public. */
  samples?: Samples
  concurrency?: Partial<Concurrency>
  lookup?: Lookup
  clock?: Clock
}

/** `host` as it stands in URLs; a `GET` of exactly one of `paths` is let through, with any query. */
export type Samples = { host: string; port: number; paths: readonly string[] }

export type Outbound = {
  fetch: OutboundFetch
  open: OutboundOpen
  /** Requests on their way, and those that wait for a place. */
  load(): { running: number; waiting: number }
  /** Refuses further requests, ends those in flight and closes idle connections. */
  stop(): void
}

/** The one way out of the service for requests to addresses that users choose. */
export function createOutbound(options: OutboundOptions): Outbound {
  const requests = new Requests(options)
  return {
    fetch: (request) => requests.fetch(request),
    open: (request) => requests.open(request),
    load: () => requests.load(),
    stop: () => requests.stop(),
  }
}

/** Below Bun's own cap of 256; see fetch-cap.ts for how to have more. */
const concurrencyDefault: Concurrency = { total: 200, perHost: 50, waiting: 10_000 }

class Requests {
  #samples: Samples | undefined
  #allow: AllowList
  #resolving: ResolveOptions
  #userAgent: string
  #connector: Connector
  #wires: WireOpener
  #bulkhead: Bulkhead
  readonly #underWay = new Set<Deadline>()
  #isStopped = false

  constructor(options: OutboundOptions) {
    const { allow, version, samples, concurrency, lookup = systemLookup, clock = systemClock } = options
    this.#samples = samples
    this.#allow = allow
    this.#resolving = { lookup, clock }
    this.#userAgent = `Millrace/${version}`
    this.#connector = new Connector(clock)
    this.#wires = new WireOpener(clock)
    this.#bulkhead = new Bulkhead({ ...concurrencyDefault, ...concurrency })
  }

  async fetch(request: OutboundRequest): ReturnType<OutboundFetch> {
    const begun = await this.#begin(request, this.#connector.open)
    if (!begun.ok) return begun
    const { status, headers, url, body } = begun.answer
    try {
      return { ok: true, answer: { status, headers, url, body: joined(await partsOf(body)) } }
    } catch (error) {
      return { ...failedOutcome(error), status, headers }
    }
  }

  open(request: OutboundStreamRequest): ReturnType<OutboundOpen> {
    return this.#begin(request, this.#wires.open)
  }

  load(): ReturnType<Outbound['load']> {
    const { running, waiting } = this.#bulkhead
    return { running, waiting }
  }

  stop(): void {
    this.#isStopped = true
    for (const deadline of [...this.#underWay]) deadline.cancel()
    this.#connector.close()
    this.#wires.close()
  }

  async #begin(request: OutboundRequest, open: Open): ReturnType<OutboundOpen> {
    const deadline = new Deadline(request.timeoutMs, request.signal, this.#underWay, this.#resolving.clock)
    if (this.#isStopped) deadline.cancel()
    try {
      return { ok: true, answer: await this.#follow(request, open, deadline) }
    } catch (error) {
      deadline.lift()
      return failedOutcome(error)
    }
  }

  async #follow(request: OutboundRequest, open: Open, deadline: Deadline): Promise<OutboundStream> {
    let hop = firstHop(request, this.#userAgent)
    for (let followed = 0; ; followed++) {
      const place = await this.#placeFor(hop.target, deadline)
      try {
        const { target } = hop
        const opened = await this.#open(hop, open, deadline)
        const next = request.followRedirects > 0 ? redirectOf(hop, opened) : undefined
        if (!next) {
          const { status, headers, body, finished } = opened
          const { answerBytesMax } = request
          const { host, port, name, url } = target
          const named = { host, port, name }
          const exchange = new Exchange({ named, body, finished, place, deadline, answerBytesMax })
          return { status, headers, url: url.href, body: exchange }
        }
        opened.body.cancel()
        place.release()
        if (followed === request.followRedirects) throw tooManyRedirects(request.followRedirects, target)
        hop = next
      } catch (error) {
        place.release()
        throw deadline.reason ?? failureOf(error, hop.target)
      }
    }
  }

  async #placeFor({ host }: Target, deadline: Deadline): Promise<Place> {
    deadline.phase = 'a free place'
    if (deadline.reason) throw deadline.reason
    return this.#bulkhead.take(host) ?? (await this.#bulkhead.acquire(host, deadline.signal))
  }

  /** One request of a chain: its addresses are found and judged here, so that no redirect leads around the rules. */
  async #open(hop: Hop, open: Open, deadline: Deadline): Promise<Opened> {
    const { target } = hop
    deadline.phase = 'the address'
    const addresses = await resolve(target.host, this.#resolving, deadline)
    const allowed = this.#isSample(hop) ? addresses : allowedAddresses(this.#allow, target, addresses)
    deadline.phase = 'an answer'
    const opened = await open(hop, allowed, deadline)
    const { status } = opened
    // The answer and the end of the request may have come in the same moment.
    if (!deadline.reason && status >= 200 && status <= 599) return opened
    opened.body.cancel()
    if (deadline.reason) throw deadline.reason
    throw new OutboundError('INVALID_RESPONSE', `${target.name} answered with ${status}, which is no status`)
  }

  #isSample({ target, method }: Hop): boolean {
    const samples = this.#samples
    if (!samples || method !== 'GET' || target.secure) return false
    return samples.host === target.host && samples.port === target.port && samples.paths.includes(target.url.pathname)
  }
}

function firstHop(request: OutboundRequest, userAgent: string): Hop {
  const { method, body } = request
  if (!/^[A-Z]{1,32}$/.test(method) || method === 'CONNECT' || method === 'TRACE')
    throw new OutboundError('INVALID_REQUEST', `${JSON.stringify(method.slice(0, 40))} is no method that can be sent`)
  if (body !== undefined && (method === 'GET' || method === 'HEAD'))
    throw new OutboundError('INVALID_REQUEST', `A ${method} request can't have a body`)
  return hopTo(parseTarget(request.url), method, requestHeaders(request.headers, userAgent), body)
}

function tooManyRedirects(allowed: number, target: Target): OutboundError {
  const message = `${target.name} redirects again after the ${allowed} redirects that are followed`
  return new OutboundError('TOO_MANY_REDIRECTS', message)
}

function partsOf(body: OutboundBody): Promise<Uint8Array<ArrayBuffer>[]> {
  return new Promise((resolve, reject) => {
    const parts: Uint8Array<ArrayBuffer>[] = []
    body.flow({ part: (part) => parts.push(part), ended: () => resolve(parts), failed: reject })
  })
}

function joined(parts: readonly Uint8Array<ArrayBuffer>[]): Uint8Array<ArrayBuffer> {
  if (parts.length === 1) return parts[0]!
  const whole = new Uint8Array(parts.reduce((bytes, part) => bytes + part.byteLength, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.byteLength
  }
  return whole
}
