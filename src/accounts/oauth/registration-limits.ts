import type { Clock } from '../../domain/clock.ts'
import { networkOf } from '../../domain/network.ts'
import { RateLimiter, type RateWindow } from '../rate-limit.ts'

/** Clients that one network, and all networks together, may register in an hour. */
const perNetwork = 60
const inTotal = 600

/** Limits the registrations of clients, which need no account. Kept in memory, so that a refusal causes no write. */
export class RegistrationLimits {
  readonly #networks: RateLimiter
  readonly #total: RateLimiter

  constructor(clock: Clock) {
    this.#networks = new RateLimiter({ clock, windowMs: hourMs })
    this.#total = new RateLimiter({ clock, windowMs: hourMs })
  }

  /** Counts a registration. A refused one does not count for others. */
  take(address: string): RateWindow {
    const window = this.#networks.take(networkOf(address), perNetwork)
    return window.allowed ? this.#total.take('', inTotal) : window
  }
}

const hourMs = 3_600_000
