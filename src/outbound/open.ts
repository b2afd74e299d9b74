import type { Clock } from '../domain/clock.ts'
import { forgetOldest } from '../domain/forget-oldest.ts'
import { literalAddress } from './addresses.ts'
import { type BodyReader, bodyReaderOf } from './body-reader.ts'
import type { Deadline } from './deadline.ts'
import { neverConnected, wasClosedBefore } from './failures.ts'
import { answerHeaders } from './headers.ts'
import type { Hop } from './redirects.ts'

/** An answer that has begun. */
export type Opened = {
  status: number
  /** Lower-case names; repeated ones joined by `, `, `set-cookie` a list. */
  headers: Record<string, string | string[]>
  body: BodyReader
  /** Says that its body was read to the end: the connection may be used again. */
  finished(): void
}

/** Opens single requests to addresses that were checked. Throws what its connections throw, or the deadline's reason. */
export type Open = (hop: Hop, addresses: readonly string[], deadline: Deadline) => Promise<Opened>

const idleS = 30
/** Bun closes an idle connection up to two of its 4-second steps late. */
const idleMsMax = (idleS + 8) * 1000
const warmMax = 1_000

/**
 * Sends single requests to addresses that were checked, and to nothing else: `fetch` sees an address where the name
 * was, so that no second look-up can lead elsewhere, and the name travels in `Host` and in the TLS handshake.
 */
export class Connector {
  #session = new Bun.FetchSession({ keepAlive: { idleTimeout: idleS } })
  /** Where idle connections may be open: how many, and until when. */
  #warm = new Map<string, { count: number; until: number }>()
  #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Tries the addresses in turn until one takes the connection. Throws what `fetch` throws. */
  readonly open: Open = async (hop, addresses, { signal }) => {
    for (const [index, address] of addresses.entries()) {
      try {
        return await this.#send(hop, address, signal)
      } catch (error) {
        if (signal.aborted || !neverConnected(error) || index === addresses.length - 1) throw error
      }
    }
    throw new Error('No address to connect to')
  }

  /** Closes the idle connections. */
  close(): void {
    this.#session.close()
    this.#warm.clear()
  }

  async #send(hop: Hop, address: string, signal: AbortSignal): Promise<Opened> {
    const { target } = hop
    const pinned = pinnedUrl(hop, address)
    // What Bun's pool tells connections apart by.
    const origin = new URL(pinned).origin + (target.secure ? ` ${target.host}` : '')
    const headers = new Headers(hop.headers)
    headers.set('host', target.url.host)
    const init: BunFetchRequestInit = {
      method: hop.method,
      headers,
      redirect: 'manual',
      // Otherwise HTTP_PROXY is used, which resolves the name again; NODE_TLS_REJECT_UNAUTHORIZED is heeded; and
      // a connection that says nothing for five minutes is cut, whatever the author's own limit.
      proxy: false,
      tls: { rejectUnauthorized: true, ...(literalAddress(target.host) ? {} : { serverName: target.host }) },
      timeout: false,
      decompress: false,
      signal,
      ...(hop.body === undefined ? {} : { body: hop.body }),
    }
    const startedAt = this.#clock.monotonic()
    const warm = this.#takeWarm(origin, startedAt)
    try {
      const response = await this.#session.fetch(pinned, init)
      const kept = response.headers.get('connection')?.toLowerCase() !== 'close'
      return openedOf(response, () => kept && this.#keepWarm(origin))
    } catch (error) {
      // A kept connection that the peer had closed in the meantime. Bun sends a GET again by itself, a POST never.
      const stale = warm && wasClosedBefore(error, this.#clock.monotonic() - startedAt)
      if (!stale || signal.aborted) throw error
      // `keepalive: false` is a connection of its own: others kept for this origin may be as dead.
      return openedOf(await this.#session.fetch(pinned, { ...init, keepalive: false }), () => {})
    }
  }

  /**
   * Whether a request goes over a kept connection, as far as can be told: each is counted off when it is taken, or the
   * first request over a new one would be sent twice as well when its peer reads it and goes away.
   */
  #takeWarm(origin: string, now: number): boolean {
    const kept = this.#warm.get(origin)
    if (!kept || kept.until <= now || kept.count === 0) return false
    kept.count -= 1
    return true
  }

  #keepWarm(origin: string): void {
    const now = this.#clock.monotonic()
    const kept = this.#warm.get(origin)
    this.#warm.delete(origin)
    this.#warm.set(origin, { count: kept && kept.until > now ? kept.count + 1 : 1, until: now + idleMsMax })
    forgetOldest(this.#warm, warmMax)
  }
}

function openedOf(response: Response, finished: () => void): Opened {
  return { status: response.status, headers: answerHeaders(response.headers), body: bodyReaderOf(response), finished }
}

function pinnedUrl({ target }: Hop, address: string): string {
  const { url } = target
  const host = address.includes(':') ? `[${address}]` : address
  return `${url.protocol}//${host}:${target.port}${url.pathname}${url.search}`
}
