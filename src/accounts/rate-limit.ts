import type { Clock } from '../domain/clock.ts'

/** What is counted apart: requests to `/api/v1/`, and runs of either kind. */
export type RateKind = 'external' | 'sync' | 'async'

/** A window as callers see it. `resetAt` is epoch milliseconds; with no window open, now + 60 s. */
export type RateState = { limit: number; remaining: number; resetAt: number }

export type RateDecision = RateState & { allowed: boolean }

export type RateLimiterOptions = {
  clock: Pick<Clock, 'now'>
  /** Accounts that are remembered; beyond it the one whose windows began longest ago is forgotten, and starts afresh. */
  accountsMax?: number
}

/**
 * Fixed windows of 60 s by account and kind: a window starts with the first request in it. A request that is refused
 * does not count.
 */
export class RateLimiter {
  readonly #clock: Pick<Clock, 'now'>
  readonly #accountsMax: number
  readonly #accounts = new Map<string, Windows>()

  constructor({ clock, accountsMax = 100_000 }: RateLimiterOptions) {
    this.#clock = clock
    this.#accountsMax = accountsMax
  }

  /** Counts one request, if the limit leaves room for it. */
  take(accountId: string, kind: RateKind, limit: number): RateDecision {
    const now = this.#clock.now()
    const window = this.#accounts.get(accountId)?.[kind]
    if (!window || !isOpen(window, now)) return this.#open(accountId, kind, limit, now)
    const allowed = window.count < limit
    if (allowed) window.count += 1
    return { allowed, ...stateOf(window, limit) }
  }

  /** The same without counting. */
  peek(accountId: string, kind: RateKind, limit: number): RateState {
    const now = this.#clock.now()
    const window = this.#accounts.get(accountId)?.[kind]
    if (!window || !isOpen(window, now)) return { limit, remaining: limit, resetAt: now + windowMs }
    return stateOf(window, limit)
  }

  #open(accountId: string, kind: RateKind, limit: number, now: number): RateDecision {
    const allowed = limit > 0
    const window = { startedAt: now, count: allowed ? 1 : 0 }
    const windows = this.#accounts.get(accountId) ?? {}
    windows[kind] = window
    // A new window puts the account last, so the first of the map is the one that was quiet longest.
    this.#accounts.delete(accountId)
    this.#accounts.set(accountId, windows)
    if (this.#accounts.size > this.#accountsMax) {
      for (const quietest of this.#accounts.keys()) {
        this.#accounts.delete(quietest)
        break
      }
    }
    return { allowed, ...stateOf(window, limit) }
  }
}

type Window = { startedAt: number; count: number }
type Windows = Partial<Record<RateKind, Window>>

const windowMs = 60_000

/** A clock that was put back closes the window, rather than keep it open for as long. */
function isOpen({ startedAt }: Window, now: number): boolean {
  return now < startedAt + windowMs && now >= startedAt
}

function stateOf({ startedAt, count }: Window, limit: number): RateState {
  return { limit, remaining: Math.max(0, limit - count), resetAt: startedAt + windowMs }
}
