import type { Clock } from '../domain/clock.ts'
import { forgetOldest } from '../domain/forget-oldest.ts'

/** A window after a request was counted in it. `resetAt` in epoch milliseconds. */
export type RateWindow = { allowed: boolean; limit: number; remaining: number; resetAt: number }

export const windowMs = 60_000

/** Requests counted so far, and when the window ends. */
export type OpenWindow = { used: number; resetAt: number }

export type RateLimiterOptions = {
  clock: Clock
  windowsMax?: number
  /** Told of each window that has changed. */
  changed?: (who: string, window: OpenWindow, limit: number) => void
}

/**
 * Counts requests in windows of a minute. A window starts with the first request in it; a request beyond the limit is
 * refused and not counted. Bounded: the window that was opened longest ago is forgotten first, which can only be in an
 * account's favour.
 */
export class RateLimiter {
  readonly #clock: Clock
  readonly #windowsMax: number
  readonly #changed: RateLimiterOptions['changed']
  /** In the order in which they were opened. */
  readonly #windows = new Map<string, OpenWindow>()

  constructor({ clock, windowsMax = 100_000, changed }: RateLimiterOptions) {
    this.#clock = clock
    this.#windowsMax = windowsMax
    this.#changed = changed
  }

  /** Counts one request of `who` against `limit`. */
  take(who: string, limit: number): RateWindow {
    const now = this.#clock.now()
    const window = this.#current(who, now) ?? this.#open(who, now)
    const allowed = window.used < limit
    if (allowed) {
      window.used += 1
      this.#changed?.(who, window, limit)
    }
    return { allowed, limit, remaining: Math.max(0, limit - window.used), resetAt: window.resetAt }
  }

  /** Goes on counting in a window that was open before. */
  restore(who: string, window: OpenWindow): void {
    this.#keep(who, { ...window })
  }

  /** What `take` would find, counting nothing. */
  peek(who: string, limit: number): RateWindow {
    const now = this.#clock.now()
    const window = this.#current(who, now)
    if (!window) return { allowed: limit > 0, limit, remaining: limit, resetAt: now + windowMs }
    const remaining = Math.max(0, limit - window.used)
    return { allowed: remaining > 0, limit, remaining, resetAt: window.resetAt }
  }

  /** The window that is open. One that ends too far ahead was opened before the clock was set back. */
  #current(who: string, now: number): OpenWindow | undefined {
    const window = this.#windows.get(who)
    return window && now < window.resetAt && window.resetAt - now <= windowMs ? window : undefined
  }

  #open(who: string, now: number): OpenWindow {
    const window = { used: 0, resetAt: now + windowMs }
    this.#keep(who, window)
    return window
  }

  #keep(who: string, window: OpenWindow): void {
    this.#windows.delete(who)
    this.#windows.set(who, window)
    forgetOldest(this.#windows, this.#windowsMax)
  }
}
