import { type Clock, systemClock } from '../domain/clock.ts'
import { messageOf } from '../domain/errors.ts'
import {
  OutboundError,
  type OutboundFailure,
  type OutboundFetch,
  type OutboundOpen,
  type OutboundRequest,
} from '../domain/outbound-request.ts'
import { type AllowList, isAllowed, kindOf, refusalOf } from './addresses.ts'
import { Bulkhead, type Concurrency } from './bulkhead.ts'
import { Deadline } from './deadline.ts'
import { Exchange } from './exchange.ts'
import { failureOf } from './failures.ts'
import { requestHeaders } from './headers.ts'
import { Connector, type Opened } from './open.ts'
import { type Hop, hopTo, redirectOf } from './redirects.ts'
import { type Lookup, type ResolveOptions, resolve, systemLookup } from './resolve.ts'
import { nameOf, parseTarget, type Target } from './target.ts'

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
  #options: OutboundOptions
  #resolving: ResolveOptions
  #userAgent: string
  #connector: Connector
  #bulkhead: Bulkhead
  #life = new AbortController()

  constructor(options: OutboundOptions) {
    const clock = options.clock ?? systemClock
    this.#options = options
    this.#resolving = { clock, lookup: options.lookup ?? systemLookup }
    this.#userAgent = `Millrace/${options.version}`
    this.#connector = new Connector(clock)
    this.#bulkhead = new Bulkhead({ ...concurrencyDefault, ...options.concurrency })
  }

  async fetch(request: OutboundRequest): ReturnType<OutboundFetch> {
    const begun = await this.#begin(request)
    if (!(begun instanceof Exchange)) return begun
    const { status, headers, url } = begun
    const parts: Uint8Array<ArrayBuffer>[] = []
    try {
      for (let part = await begun.read(); part; part = await begun.read()) parts.push(part)
    } catch (error) {
      return { ...failed(error), status, headers }
    }
    return { ok: true, answer: { status, headers, url, body: joined(parts) } }
  }

  async open(request: OutboundRequest): ReturnType<OutboundOpen> {
    const begun = await this.#begin(request)
    if (!(begun instanceof Exchange)) return begun
    const { status, headers, url } = begun
    const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
      async pull(controller) {
        const part = await begun.read()
        if (part) controller.enqueue(part)
        else controller.close()
      },
      cancel: () => begun.close(),
    })
    return { ok: true, answer: { status, headers, url, body } }
  }

  load(): ReturnType<Outbound['load']> {
    const { running, waiting } = this.#bulkhead
    return { running, waiting }
  }

  stop(): void {
    this.#life.abort()
    this.#connector.close()
  }

  async #begin(request: OutboundRequest): Promise<Exchange | OutboundFailure> {
    const signals = [request.signal, this.#life.signal]
    const deadline = new Deadline(request.timeoutMs, signals, this.#resolving.clock)
    try {
      return await this.#follow(request, deadline)
    } catch (error) {
      deadline.lift()
      return failed(error)
    }
  }

  async #follow(request: OutboundRequest, deadline: Deadline): Promise<Exchange> {
    let hop = firstHop(request, this.#userAgent)
    for (let followed = 0; ; followed++) {
      deadline.phase = 'a free place'
      const place = await this.#bulkhead.acquire(hop.target.host, deadline.signal)
      try {
        const { target } = hop
        const opened = await this.#open(hop, deadline)
        const next = request.followRedirects > 0 ? redirectOf(hop, opened.response) : undefined
        if (!next) return new Exchange({ target, opened, place, deadline, answerBytesMax: request.answerBytesMax })
        discard(opened)
        place.release()
        if (followed === request.followRedirects) throw tooManyRedirects(request.followRedirects, target)
        hop = next
      } catch (error) {
        place.release()
        throw deadline.signal.aborted ? deadline.signal.reason : failureOf(error, hop.target)
      }
    }
  }

  /** One request of a chain: its addresses are found and judged here, so that no redirect leads around the rules. */
  async #open(hop: Hop, deadline: Deadline): Promise<Opened> {
    const { target } = hop
    deadline.phase = 'the address'
    const addresses = await resolve(target.host, this.#resolving, deadline.signal)
    const { allow } = this.#options
    const allowed = this.#isSample(hop)
      ? addresses
      : addresses.filter((address) => isAllowed(allow, target.host, target.port, address))
    if (allowed.length === 0)
      throw new OutboundError('ADDRESS_REFUSED', refusalOf(target.host, target.port, kindOf(addresses[0]!)))
    deadline.phase = 'an answer'
    const opened = await this.#connector.open(hop, allowed, deadline.signal)
    // The answer and the end of the request may have come in the same moment.
    if (deadline.signal.aborted) {
      discard(opened)
      throw deadline.signal.reason
    }
    const { status } = opened.response
    if (status >= 200 && status <= 599) return opened
    discard(opened)
    throw new OutboundError('INVALID_RESPONSE', `${nameOf(target)} answered with ${status}, which is no status`)
  }

  #isSample({ target, method }: Hop): boolean {
    const { samples } = this.#options
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

/** Closes the connection, however much the server would still send. */
function discard({ response }: Opened): void {
  response.body?.cancel().catch(() => {})
}

function failed(error: unknown): OutboundFailure {
  if (error instanceof OutboundError) return { ok: false, code: error.code, message: error.message }
  return { ok: false, code: 'CONNECTION_FAILED', message: messageOf(error) }
}

function tooManyRedirects(allowed: number, target: Target): OutboundError {
  const message = `${nameOf(target)} redirects again after the ${allowed} redirects that are followed`
  return new OutboundError('TOO_MANY_REDIRECTS', message)
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
