import type { Clock } from '../../domain/clock.ts'
import { FairShare } from '../../domain/fair-share.ts'
import { siteOf } from '../../domain/network.ts'
import { RateLimiter, type RateWindow } from '../rate-limit.ts'

/** Clients that one site, and all sites together, may register in an hour. */
const perSite = 60
const inTotal = 600
/** With this factor, ten sites that register all they may leave more than ten places. */
const shareFactor = 4

/**
 * Limits the registrations of clients, which need no account. Sites share the total fairly, so that a few of them
 * cannot keep others from registering. Kept in memory, so that a refusal causes no write.
 */
export class RegistrationLimits {
  readonly #clock: Clock
  readonly #sites: RateLimiter
  #hour: { share: FairShare; resetAt: number } | undefined

  constructor(clock: Clock) {
    this.#clock = clock
    this.#sites = new RateLimiter({ clock, windowMs: hourMs })
  }

  /** Counts a registration. A refused one does not count for others. */
  take(address: string): RateWindow {
    const site = siteOf(address)
    const { share, resetAt } = this.#current()
    if (!share.hasRoom(site)) return { allowed: false, limit: inTotal, remaining: 0, resetAt }
    const window = this.#sites.take(site, perSite)
    if (window.allowed) share.take(site)
    return window
  }

  /** The open hour. One that ends too far ahead began before the clock was set back. */
  #current(): { share: FairShare; resetAt: number } {
    const now = this.#clock.now()
    const known = this.#hour
    if (known && now < known.resetAt && known.resetAt - now <= hourMs) return known
    this.#hour = { share: new FairShare({ total: inTotal, factor: shareFactor }), resetAt: now + hourMs }
    return this.#hour
  }
}

const hourMs = 3_600_000
