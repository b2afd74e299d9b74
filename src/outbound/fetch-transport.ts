import type { Clock } from '../domain/clock.ts'
import { forgetOldest } from '../domain/forget-oldest.ts'
import { literalAddress } from './addresses.ts'
import { type BodyReader, bodyReaderOf } from './body-reader.ts'
import { neverConnected, wasClosedBefore } from './failures.ts'
import { responseHeaders } from './headers.ts'
import type { Hop } from './redirects.ts'

/** A response whose body is still arriving. */
export type Opened = {
  status: number
  /** Lower-case names; repeated ones joined by `, `, `set-cookie` a list. */
  headers: Record<string, string | string[]>
  body: BodyReader
  /** To be called when the body was read to its end. Then the connection can be used again. */
  finished(): void
}

const idleS = 30
/** Bun closes an idle connection up to two of its 4-second steps late. */
const idleMsMax = (idleS + 8) * 1000
const warmOriginsMax = 1_000

/**
 * Sends single requests to checked addresses, and to nothing else: `fetch` gets an address in place of the name, so no
 * second lookup can lead elsewhere, and the name travels in `Host` and in the TLS handshake.
 */
export class FetchTransport {
  #session = new Bun.FetchSession({ keepAlive: { idleTimeout: idleS } })
  /** How many idle connections each origin may have, and until when. */
  #warm = new Map<string, { count: number; until: number }>()
  #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Tries the addresses in turn until one accepts the connection. Throws what `fetch` throws, or the signal's reason.
   */
  async open(hop: Hop, addresses: readonly string[], signal: AbortSignal): Promise<Opened> {
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
    const pinned = pinnedUrl(hop, address)
    const init = initOf(hop, signal)
    // Bun's pool tells connections apart by the same parts.
    const origin = new URL(pinned).origin + (hop.target.secure ? ` ${hop.target.host}` : '')
    const startedAt = this.#clock.monotonic()
    const warm = this.#takeWarm(origin, startedAt)
    try {
      const response = await this.#session.fetch(pinned, init)
      const kept = response.headers.get('connection')?.toLowerCase() !== 'close'
      return openedOf(response, () => kept && this.#keepWarm(origin))
    } catch (error) {
      // The peer may have closed an idle connection in the meantime. Bun resends a GET by itself, but never a POST.
      const stale = warm && wasClosedBefore(error, this.#clock.monotonic() - startedAt)
      if (!stale || signal.aborted) throw error
      // `keepalive: false` opens a new connection: the other idle ones of this origin may be closed, too.
      return openedOf(await this.#session.fetch(pinned, { ...init, keepalive: false }), () => {})
    }
  }

  /**
   * Whether a request probably reuses a connection. Each request takes one off the count. Without that, the first
   * request on a new connection would be resent as well when its peer reads it and resets the connection.
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
    forgetOldest(this.#warm, warmOriginsMax)
  }
}

function initOf({ target, method, headers: written, body, tls }: Hop, signal: AbortSignal): BunFetchRequestInit {
  const headers = new Headers(written)
  headers.set('host', target.url.host)
  return {
    method,
    headers,
    redirect: 'manual',
    // By default, `fetch` would use HTTP_PROXY (the proxy resolves the name again), obey NODE_TLS_REJECT_UNAUTHORIZED,
    // and close a connection that is silent for five minutes, even if the request has a longer timeout.
    proxy: false,
    tls: { rejectUnauthorized: true, ...(literalAddress(target.host) ? {} : { serverName: target.host }), ...tls },
    // A connection that a certificate has authenticated must not serve requests without it.
    ...(tls === undefined ? {} : { keepalive: false }),
    timeout: false,
    decompress: false,
    signal,
    ...(body === undefined ? {} : { body }),
  }
}

function openedOf(response: Response, finished: () => void): Opened {
  const { status } = response
  return { status, headers: responseHeaders(response.headers), body: bodyReaderOf(response), finished }
}

function pinnedUrl({ target }: Hop, address: string): string {
  const { url } = target
  const host = address.includes(':') ? `[${address}]` : address
  return `${url.protocol}//${host}:${target.port}${url.pathname}${url.search}`
}
