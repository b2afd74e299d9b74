import { type Clock, systemClock } from '../domain/clock.ts'
import type { OutboundBody, OutboundPost, OutboundPosted } from '../domain/outbound-request.ts'
import type { AllowList } from './addresses.ts'
import { failedOutcome } from './failures.ts'
import { createOutbound, type Outbound } from './fetch.ts'
import { type Lookup, sharedLookup, systemLookup } from './resolve.ts'

export type WebhookClientOptions = {
  allow: AllowList
  /** The service's own version, for the `User-Agent`. */
  version: string
  lookup?: Lookup
  clock?: Clock
}

/**
 * Sends webhooks under the same rules as every other request, and reads the beginning of each response. Requests for a
 * name share its addresses for a second. The number of requests is not limited here: the dispatcher limits it.
 */
export class WebhookClient {
  readonly #outbound: Outbound

  constructor({ allow, version, lookup = systemLookup, clock = systemClock }: WebhookClientOptions) {
    const unlimited = Number.POSITIVE_INFINITY
    this.#outbound = createOutbound({
      allow,
      version,
      lookup: sharedLookup(lookup, clock),
      clock,
      concurrency: { total: unlimited, perOrigin: unlimited },
    })
  }

  /** Never throws: a failure is an outcome. */
  readonly post = async ({ responseBytesMax, headers, ...request }: OutboundPost): Promise<OutboundPosted> => {
    const opened = await this.#outbound.open({
      ...request,
      // The beginning of a compressed body is of little use.
      headers: [...headers, ['Accept-Encoding', 'identity']],
      method: 'POST',
      followRedirects: 0,
      responseBytesMax: Number.POSITIVE_INFINITY,
    })
    if (!opened.ok) return opened
    const { status, headers: responseHeaders, body } = opened.response
    const beginning = new Beginning(responseBytesMax)
    try {
      await beginning.read(body)
    } catch (error) {
      const failure = failedOutcome(error)
      // The status of a refusal is enough, even if the rest never arrives: proxies often cut the connection after it.
      if (status < 300 || failure.code === 'CANCELLED') return failure
    }
    const retryAfter = responseHeaders['retry-after']
    return { ok: true, status, retryAfter: retryAfter?.toString(), responseStart: beginning.bytes }
  }

  /** Ends the requests in flight and closes idle connections. */
  stop(): void {
    this.#outbound.stop()
  }
}

/** The first bytes of a body. */
class Beginning {
  readonly #bytesMax: number
  readonly #parts: Uint8Array[] = []
  #byteCount = 0

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax
  }

  get bytes(): Uint8Array {
    return Buffer.concat(this.#parts).subarray(0, this.#bytesMax)
  }

  /** Closes the body as soon as there are enough bytes. */
  async read(body: OutboundBody): Promise<void> {
    while (this.#byteCount < this.#bytesMax) {
      const part = await body.read()
      if (!part) return
      this.#parts.push(part)
      this.#byteCount += part.byteLength
    }
    body.close()
  }
}
