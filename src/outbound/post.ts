import { type Clock, systemClock } from '../domain/clock.ts'
import { OutboundError, type OutboundPost, type OutboundPosted } from '../domain/outbound-request.ts'
import type { AllowList } from './addresses.ts'
import { allowedAddresses } from './allowed-addresses.ts'
import { HeadReader } from './answer-parser.ts'
import { AnswerStart, type StartedAnswer } from './answer-start.ts'
import { failedOutcome, failureOf } from './failures.ts'
import { knownAddresses, type Lookup, type ResolveOptions, resolve, sharedLookup, systemLookup } from './resolve.ts'
import { parseTarget, type Target } from './target.ts'
import { type TimeLimit, TimeLimits } from './time-limit.ts'
import type { Way, WireRequest } from './wire.ts'
import { Wires, wayTo } from './wires.ts'

export type PosterOptions = {
  allow: AllowList
  /** The service's own version, for the `User-Agent`. */
  version: string
  lookup?: Lookup
  clock?: Clock
}

/**
 * Sends short messages to addresses that users choose, under the same rules as every other request: addresses are judged for
 * each (they were found a second ago at most), the connection goes to the one that was judged, certificates are checked for the
 * name. It bounds nothing: how many are under way is the caller's to decide. Connections are kept for the next message for half a minute.
 */
export class Poster {
  readonly #allow: AllowList
  readonly #userAgent: string
  readonly #resolving: ResolveOptions
  readonly #wires: Wires
  readonly #limits: TimeLimits
  /** URLs that were read before: most requests go where others went. */
  readonly #addressees = new Map<string, Addressee>()

  constructor({ allow, version, lookup = systemLookup, clock = systemClock }: PosterOptions) {
    this.#allow = allow
    this.#userAgent = `Millrace/${version}`
    this.#resolving = { lookup: sharedLookup(lookup, clock), clock }
    this.#wires = new Wires(clock)
    this.#limits = new TimeLimits(clock)
  }

  /** Never throws: what goes wrong is an outcome. */
  readonly post = async (request: OutboundPost): Promise<OutboundPosted> => {
    const limit = this.#limits.begin(request.timeoutMs, request.signal)
    try {
      if (limit.reason) throw limit.reason
      return await this.#post(request, this.#addresseeOf(request.url), limit)
    } catch (error) {
      return failedOutcome(error)
    } finally {
      this.#limits.lift(limit, request.signal)
    }
  }

  /** Closes idle connections; those in use go with their requests. */
  stop(): void {
    this.#limits.stop()
    this.#wires.stop()
  }

  async #post(request: OutboundPost, addressee: Addressee, limit: TimeLimit): Promise<OutboundPosted> {
    const { target } = addressee
    const wireRequest = wireRequestOf(addressee, request)
    try {
      const ways = addressee.ways ?? (await this.#findWays(target, limit))
      limit.phase = 'an answer'
      const { status, retryAfter, body } = await this.#wires.send<StartedAnswer>(
        wireRequest,
        ways,
        limit,
        (resolve, reject) => new AnswerStart(request.answerBytes, resolve, reject),
      )
      return { ok: true, status, retryAfter, answer: body }
    } catch (error) {
      throw limit.reason ?? failureOf(error, target)
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
      heads: new HeadReader(),
      ways: addresses && this.#judged(target, addresses),
    }
    if (this.#addressees.size >= addresseesMax) this.#addressees.clear()
    this.#addressees.set(url, addressee)
    return addressee
  }

  async #findWays(target: Target, limit: TimeLimit): Promise<Way[]> {
    return this.#judged(target, await resolve(target.host, this.#resolving, limit))
  }

  #judged(target: Target, addresses: readonly string[]): Way[] {
    return allowedAddresses(this.#allow, target, addresses).map((address) => wayTo(target, address))
  }
}

/** Where requests to one URL go; `ways`: where nobody has to be asked for them, and so nothing changes from one to the next. */
type Addressee = { target: Target; head: string; heads: HeadReader; ways: readonly Way[] | undefined }

/** What the requests to one URL begin with. */
function headOf({ url, authorization }: Target, userAgent: string): string {
  const head = `POST ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\nUser-Agent: ${userAgent}\r\nAccept: */*\r\n`
  return authorization === undefined ? head : `${head}Authorization: ${authorization}\r\n`
}

function wireRequestOf({ head: begin, heads }: Addressee, { headers, body }: OutboundPost): WireRequest {
  let lines = ''
  for (const [name, value] of headers) {
    // Nothing that users write comes here; this keeps it so.
    if (/[^\t\x20-\x7e]/.test(value) || /[^!-9;-~]/.test(name))
      throw new OutboundError('INVALID_REQUEST', `The header ${name} cannot be sent`)
    lines += `${name}: ${value}\r\n`
  }
  const bodyBytes = Buffer.byteLength(body)
  const head = `${begin}${lines}Content-Length: ${bodyBytes}\r\n\r\n`
  const bytes = head.length + bodyBytes
  return { method: 'POST', content: bytes > longBytes ? bytesOf(head, body, bytes) : head + body, bytes, heads }
}

/** A long text is written into place: put together, it would be copied, and once more into what the socket has no room for. */
function bytesOf(head: string, body: string, length: number): Uint8Array {
  const content = Buffer.allocUnsafe(length)
  content.write(head, 'latin1')
  content.write(body, head.length)
  return content
}

const addresseesMax = 1_000
const longBytes = 65_536
