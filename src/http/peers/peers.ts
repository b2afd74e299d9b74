import type { Server } from 'bun'
import type { Clock } from '../../domain/clock.ts'
import { AppError, messageOf } from '../../domain/errors.ts'
import type { Peer } from '../../store/process-store.ts'
import type { Logger } from '../../telemetry/logger.ts'
import { addressOf, allowSilence, type ServerPort } from '../access/connection.ts'
import { errorResponse } from '../errors.ts'
import { passedOn, passedThrough } from './passed-headers.ts'
import { PeerSignatures, peerHeader } from './peer-signature.ts'

/** A thing in the memory of one process. The ID of an editor is that of its workflow, a colon, and its own. */
export type HeldThing = {
  kind: 'run' | 'recent-run' | 'rerun' | 'rerun-of-workspace' | 'listener' | 'editor' | 'mcp-call'
  id: string
}

export type PeersOptions = {
  /** The other processes of the installation. */
  others(): readonly Peer[]
  /** See `PeerSignatures`. */
  keys(): readonly Uint8Array[]
  /** Whether this process has a thing. */
  holds(thing: HeldThing): Promise<boolean>
  clock: Clock
  logger: Pick<Logger, 'warn'>
}

/** A request as its route has it. */
export type PeerCall = { request: Request; server: ServerPort | null; set: { headers: Record<string, unknown> } }

export type ForwardOptions = {
  /** The body, if the route has read it already. */
  body?: unknown
  /** Whether the request fails when a process that may have the thing does not answer. Otherwise it is ignored. */
  isVital?: boolean
}

/**
 * The other processes of the installation, for requests about something that only one process has in its memory: a run
 * in flight, a test address. The process that got the request asks all others who has the thing, and passes the request
 * on to that one as it is, with the caller's own credentials. What the other process responds goes back to the caller,
 * also a stream. A request is passed on once at most.
 */
export class Peers {
  readonly #options: PeersOptions
  readonly #signatures: PeerSignatures
  /** Requests that other processes passed on, with the addresses of their callers. */
  readonly #admitted = new WeakMap<Request, string>()
  /** Whether a route has a thing in memory of its own, by kind. */
  readonly #kept = new Map<string, (id: string) => boolean>()
  /** Processes that did not answer when they were asked last. */
  readonly #silent = new Set<string>()

  constructor(options: PeersOptions) {
    this.#options = options
    this.#signatures = new PeerSignatures(options)
  }

  /** To be called with each request before it is handled. Returns the refusal of one with a forged signature. */
  admit(request: Request): Response | undefined {
    const header = request.headers.get(peerHeader)
    if (header === null) return undefined
    const signed = this.#signatures.verify(header, { method: request.method, path: pathAndQueryOf(request.url) })
    if (!signed) return errorResponse(forged(), { 'x-request-id': crypto.randomUUID() })
    // Workflows see the headers of requests.
    request.headers.delete(peerHeader)
    this.#admitted.set(request, signed.address)
    return undefined
  }

  /** The server as handlers use it: a request that another process passed on has the address of its caller. */
  seenThrough(server: Server<unknown>): Server<unknown> {
    const seen: ServerPort = {
      timeout: (request, seconds) => server.timeout(request, seconds),
      requestIP: (request) => {
        const address = this.#admitted.get(request)
        return address === undefined ? server.requestIP(request) : { address }
      },
    }
    return seen as unknown as Server<unknown>
  }

  /** Whether there are other processes now. */
  get exist(): boolean {
    return this.#options.others().length > 0
  }

  /** Whether another process sent this request. */
  isFromPeer(request: Request): boolean {
    return this.#admitted.has(request)
  }

  /** Call this for a kind that a route keeps in memory of its own. */
  keep(kind: HeldThing['kind'], has: (id: string) => boolean): void {
    this.#kept.set(kind, has)
  }

  /** Whether this process has a thing; for the others. */
  async holds(thing: HeldThing): Promise<boolean> {
    const has = this.#kept.get(thing.kind)
    return has ? has(thing.id) : await this.#options.holds(thing)
  }

  /** Whether another process has a thing. One that does not answer counts as not having it. */
  async isElsewhere(thing: HeldThing, { request, server }: Pick<PeerCall, 'request' | 'server'>): Promise<boolean> {
    return (await this.#find(thing, request, addressOf(request, server))).peer !== undefined
  }

  /**
   * Passes a request on to the process that has a thing, and returns what that one responds. Undefined when no other
   * process has it. Throws OVERLOADED when a process that may have it does not answer.
   */
  async forward(
    { request, server, set }: PeerCall,
    thing: HeldThing,
    { body, isVital = true }: ForwardOptions = {},
  ): Promise<Response | undefined> {
    const address = addressOf(request, server)
    const { peer, isUnsure } = await this.#find(thing, request, address)
    if (!peer) {
      if (isUnsure && isVital) throw unsure()
      return undefined
    }
    allowSilence(request, server)
    const headers = passedOn(request, body === undefined ? undefined : 'replaced')
    headers.set('x-request-id', String(set.headers['x-request-id']))
    const sent = body === undefined ? request.body : JSON.stringify(body)
    const { method, signal, url } = request
    const signed = { method, path: pathAndQueryOf(url), address }
    try {
      const response = await this.#send(peer, signed, { headers, signal, body: sent })
      const ownCookie = set.headers['set-cookie']
      set.headers = {}
      return passedThrough(response, typeof ownCookie === 'string' ? ownCookie : undefined)
    } catch (cause) {
      throw unsure(cause)
    }
  }

  /** `isUnsure`: some process did not say whether it has the thing. */
  async #find(thing: HeldThing, request: Request, address: string): Promise<{ peer?: Peer; isUnsure: boolean }> {
    const isAsked = !this.#admitted.has(request) && thing.id.length <= idCharsMax
    const others = isAsked ? this.#options.others() : []
    if (others.length === 0) return { isUnsure: false }
    const found = Promise.withResolvers<Peer | undefined>()
    let isUnsure = false
    const asking = others.map(async (peer) => {
      const answer = await this.#ask(peer, thing, address)
      if (answer) found.resolve(peer)
      isUnsure ||= answer === undefined
    })
    void Promise.all(asking).then(() => found.resolve(undefined))
    const peer = await found.promise
    return { ...(peer && { peer }), isUnsure }
  }

  /** Undefined when the process does not say. Never rejects. */
  async #ask(peer: Peer, { kind, id }: HeldThing, address: string): Promise<boolean | undefined> {
    const path = `${peersPath}/${kind}/${encodeURIComponent(id)}`
    try {
      const signal = AbortSignal.timeout(answerMsMax)
      const { status } = await this.#send(peer, { method: 'GET', path, address }, { signal })
      if (status !== 204 && status !== 404) throw new Error(`it responded with status ${status}`)
      this.#silent.delete(peer.id)
      return status === 204
    } catch (cause) {
      this.#report(peer, cause)
      // Nothing listens there any more: the process has ended, and its memory with it.
      return (cause as { code?: unknown }).code === 'ECONNREFUSED' ? false : undefined
    }
  }

  #report({ id, url }: Peer, cause: unknown): void {
    if (this.#silent.has(id)) return
    this.#silent.add(id)
    const reason = messageOf(cause)
    this.#options.logger.warn('another process cannot be asked what it has', { process: id, url, reason })
  }

  /** Only the addresses of processes in the database are called, and no redirect is followed. */
  #send(
    peer: Peer,
    signed: { method: string; path: string; address: string },
    { headers = new Headers(), ...more }: { headers?: Headers; signal: AbortSignal; body?: BodyInit | null },
  ): Promise<Response> {
    // Not `new URL(path, base)`: a path that begins with two slashes would name another server.
    const target = new URL(new URL(peer.url).origin + signed.path)
    headers.set(peerHeader, this.#signatures.sign({ ...signed, path: pathAndQueryOf(target.href) }))
    const options = { method: signed.method, headers, redirect: 'manual' as const, ...more }
    // A stream may be silent for long, and a kept connection may have been closed by the other side.
    const bunOptions = { proxy: false as unknown as string, decompress: false, timeout: false, keepalive: false }
    return fetch(target, { ...options, ...bunOptions })
  }
}

/** Where processes ask one another what they have. */
export const peersPath = '/api/peers'

/** No ID is longer; callers may write anything. */
const idCharsMax = 200

/** A process that answers takes milliseconds. */
const answerMsMax = 1_000

function pathAndQueryOf(url: string): string {
  const { pathname, search } = new URL(url)
  return pathname + search
}

function forged(): AppError {
  return new AppError(
    'INVALID_SIGNATURE',
    `Only another process of this installation may send the header ${peerHeader}, with a signature of the last minute. ` +
      'If one did, the clocks or the secret keys of the two processes differ.',
  )
}

function unsure(cause?: unknown): AppError {
  const message = 'Another process of the service may have this, and does not answer. Try again in a moment.'
  return new AppError('OVERLOADED', message, { retryAfterS: 2, cause })
}
