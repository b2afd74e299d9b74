import { type Clock, systemClock } from '../domain/clock.ts'
import { defaultLimits } from '../domain/limits.ts'
import {
  type OutboundBody,
  OutboundError,
  type OutboundFetch,
  type OutboundOpen,
  type OutboundRequest,
  type OutboundStream,
} from '../domain/outbound-request.ts'
import type { ResolveTcp } from '../domain/tcp-target.ts'
import type { AllowList } from './addresses.ts'
import { allowedAddresses } from './allowed-addresses.ts'
import { Authorizer } from './authorizer.ts'
import { Bulkhead, type Concurrency, type Slot } from './bulkhead.ts'
import { Deadline } from './deadline.ts'
import { failedOutcome, failureOf } from './failures.ts'
import { FetchTransport, type Opened } from './fetch-transport.ts'
import { requestHeaders } from './headers.ts'
import { Pacer } from './pace.ts'
import { type Hop, hopTo, redirectOf, refuseSecretBody } from './redirects.ts'
import { type Lookup, type ResolveOptions, resolve, systemLookup } from './resolve.ts'
import { ResponseBody } from './response-body.ts'
import { parseTarget, type Target } from './target.ts'
import { tcpTargets } from './tcp-target.ts'

export type OutboundOptions = {
  allow: AllowList
  /** The service's own version, for the `User-Agent` of requests that have none. */
  version: string
  /** Routes of the service itself that workflows may call although its address is not public. */
  samples?: Samples
  concurrency?: Partial<Concurrency>
  lookup?: Lookup
  clock?: Clock
}

/** `host` as in URLs. A `GET` of exactly one of `paths` is allowed, with any query. */
export type Samples = { host: string; port: number; paths: readonly string[] }

export type Outbound = {
  fetch: OutboundFetch
  open: OutboundOpen
  /** For connections of other protocols than HTTP. */
  resolveTcp: ResolveTcp
  /** Requests in flight, and requests that wait for a slot. */
  load(): { running: number; waiting: number }
  /** Refuses further requests, ends those in flight and closes idle connections. */
  stop(): void
}

/** Sends every request to an address that users choose; no other part of the service may. */
export function createOutbound(options: OutboundOptions): Outbound {
  const requests = new Requests(options)
  return {
    fetch: (request) => requests.fetch(request),
    open: (request) => requests.open(request),
    resolveTcp: tcpTargets(options),
    load: () => requests.load(),
    stop: () => requests.stop(),
  }
}

const { shareFactor } = defaultLimits
const concurrencyDefault: Concurrency = { total: 200, perOrigin: 50, waiting: 10_000, shareFactor }

class Requests {
  #samples: Samples | undefined
  #allow: AllowList
  #resolving: ResolveOptions
  #userAgent: string
  #transport: FetchTransport
  #bulkhead: Bulkhead
  #pacer: Pacer
  readonly #underWay = new Set<Deadline>()
  #isStopped = false

  constructor(options: OutboundOptions) {
    const { allow, version, samples, concurrency, lookup = systemLookup, clock = systemClock } = options
    this.#samples = samples
    this.#allow = allow
    this.#resolving = { lookup, clock }
    this.#userAgent = `Millrace/${version}`
    this.#transport = new FetchTransport(clock)
    this.#pacer = new Pacer(clock)
    this.#bulkhead = new Bulkhead({ ...concurrencyDefault, ...concurrency })
  }

  async fetch(request: OutboundRequest): ReturnType<OutboundFetch> {
    const opened = await this.open(request)
    if (!opened.ok) return opened
    const { status, headers, url, body } = opened.response
    try {
      return { ok: true, response: { status, headers, url, body: await readAll(body) } }
    } catch (error) {
      return { ...failedOutcome(error), status, headers }
    }
  }

  async open(request: OutboundRequest): ReturnType<OutboundOpen> {
    // An aborted wait needs no care here: the deadline sees the same signal.
    if (request.pace) await this.#pacer.turn(request).catch(() => undefined)
    const deadline = new Deadline(request.timeoutMs, request.signal, this.#underWay, this.#resolving.clock)
    if (this.#isStopped) deadline.cancel()
    try {
      return { ok: true, response: await this.#follow(request, deadline) }
    } catch (error) {
      deadline.lift()
      return failedOutcome(error)
    }
  }

  load(): ReturnType<Outbound['load']> {
    const { running, waiting } = this.#bulkhead
    return { running, waiting }
  }

  stop(): void {
    this.#isStopped = true
    this.#pacer.stop()
    for (const deadline of [...this.#underWay]) deadline.cancel()
    this.#transport.close()
  }

  async #follow(request: OutboundRequest, deadline: Deadline): Promise<OutboundStream> {
    let hop = firstHop(request, this.#userAgent)
    const authorizer = request.authorization && new Authorizer(request.authorization, hop.target)
    for (let followed = 0; ; followed++) {
      const slot = await this.#slotFor(request, hop.target, deadline)
      try {
        const { target } = hop
        const opened = await this.#openAs(authorizer, hop, deadline)
        const next = request.followRedirects > 0 ? redirectOf(hop, opened) : undefined
        if (!next) return streamOf(request, target, opened, { slot, deadline, clock: this.#resolving.clock })
        opened.body.cancel()
        slot.release()
        if (followed === request.followRedirects) throw tooManyRedirects(request.followRedirects, target)
        await refuseSecretBody(hop, next)
        authorizer?.refuseSecretUrl(next)
        hop = next
      } catch (error) {
        slot.release()
        throw deadline.reason ?? failureOf(error, hop.target)
      }
    }
  }

  async #slotFor(request: OutboundRequest, { host, url }: Target, deadline: Deadline): Promise<Slot> {
    const { workspaceId = '', takesNoSlot } = request
    deadline.phase = 'a free slot'
    if (deadline.reason) throw deadline.reason
    if (takesNoSlot) return noSlot
    const route = { workspace: workspaceId, host, origin: url.origin }
    return this.#bulkhead.take(route) ?? (await this.#bulkhead.acquire(route, deadline.signal))
  }

  /** Sends one request of a chain with the credential, and once more if the credential asks for that. */
  async #openAs(authorizer: Authorizer | undefined, hop: Hop, deadline: Deadline): Promise<Opened> {
    if (!authorizer?.covers(hop)) return await this.#open(hop, deadline)
    deadline.phase = 'the credential'
    const opened = await this.#open(await authorizer.authorized(hop), deadline)
    if (!(await authorizer.repeatsAfter(opened))) return opened
    opened.body.cancel()
    return await this.#openAs(authorizer, hop, deadline)
  }

  /** Sends one request of a chain. It resolves and checks the addresses, so that no redirect leads around the rules. */
  async #open(hop: Hop, deadline: Deadline): Promise<Opened> {
    const { target } = hop
    deadline.phase = 'the address'
    const addresses = await resolve(target.host, this.#resolving, deadline.signal)
    const allowed = this.#isSample(hop) ? addresses : allowedAddresses(this.#allow, target, addresses)
    deadline.phase = 'a response'
    const opened = await this.#transport.open(hop, allowed, deadline.signal)
    const { status } = opened
    // The response and the end of the request may have come in the same moment.
    if (!deadline.reason && status >= 200 && status <= 599) return opened
    opened.body.cancel()
    if (deadline.reason) throw deadline.reason
    throw new OutboundError('INVALID_RESPONSE', `${target.name} responded with ${status}, which is not a valid status`)
  }

  #isSample({ target, method }: Hop): boolean {
    const samples = this.#samples
    if (!samples || method !== 'GET' || target.secure) return false
    return samples.host === target.host && samples.port === target.port && samples.paths.includes(target.url.pathname)
  }
}

const noSlot: Slot = { release: () => {}, lend: () => {} }

/** A stream that holds the target's name only, and not the request's headers and body. */
function streamOf(
  { responseBytesMax, memory }: OutboundRequest,
  { host, port, name, url }: Target,
  { status, headers, body, finished }: Opened,
  held: { slot: Slot; deadline: Deadline; clock: Clock },
): OutboundStream {
  const parts = { ...held, named: { host, port, name }, body, finished, memory, bytesMax: responseBytesMax }
  return { status, headers, url: url.href, body: new ResponseBody(parts) }
}

function firstHop(request: OutboundRequest, userAgent: string): Hop {
  const { method, body, redactor } = request
  if (!/^[A-Z]{1,32}$/.test(method) || method === 'CONNECT' || method === 'TRACE')
    throw new OutboundError(
      'INVALID_REQUEST',
      `${JSON.stringify(method.slice(0, 40))} is not a method that can be sent`,
    )
  if (body !== undefined && (method === 'GET' || method === 'HEAD'))
    throw new OutboundError('INVALID_REQUEST', `A ${method} request cannot have a body`)
  return hopTo(parseTarget(request.url), {
    method,
    headers: requestHeaders(request.headers, userAgent),
    body,
    redactor,
  })
}

function tooManyRedirects(allowed: number, target: Target): OutboundError {
  const message = `${target.name} redirects again after the ${allowed} redirects that are followed`
  return new OutboundError('TOO_MANY_REDIRECTS', message)
}

async function readAll(body: OutboundBody): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array<ArrayBuffer>[] = []
  for (let part = await body.read(); part; part = await body.read()) parts.push(part)
  return parts.length === 1 ? parts[0]! : Bun.concatArrayBuffers(parts, Number.POSITIVE_INFINITY, true)
}
