import type { Clock } from '../domain/clock.ts'
import { forgetOldest } from '../domain/forget-oldest.ts'

/** A window after counting a request. `resetAt` is in epoch milliseconds. */
export type RateWindow = { allowed: boolean; limit: number; remaining: number; resetAt: number }

/** The length of a window by default. */
const minuteMs = 60_000

/** The requests counted so far, and the end of the window. */
export type OpenWindow = { used: number; resetAt: number }

export type RateLimiterOptions = {
  clock: Clock
  windowsMax?: number
  windowMs?: number
  /** Called for each changed window. */
  changed?: (who: string, window: OpenWindow, limit: number) => void
}

/**
 * Counts requests in windows of one minute, or another length. A window starts with its first request. Requests beyond
 * the limit are rejected and not counted. The number of windows is limited: the one opened first is dropped first,
 * which can only favour an account.
 */
export class RateLimiter {
  readonly #clock: Clock
  readonly #windowsMax: number
  readonly #windowMs: number
  readonly #changed: RateLimiterOptions['changed']
  /** In order of opening. */
  readonly #windows = new Map<string, OpenWindow>()

  constructor({ clock, windowsMax = 100_000, windowMs = minuteMs, changed }: RateLimiterOptions) {
    this.#clock = clock
    this.#windowsMax = windowsMax
    this.#windowMs = windowMs
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

  /** Continues a window that was open before. */
  restore(who: string, window: OpenWindow): void {
    this.#keep(who, { ...window })
  }

  /** The result of `take` without counting a request. */
  peek(who: string, limit: number): RateWindow {
    const now = this.#clock.now()
    const window = this.#current(who, now)
    if (!window) return { allowed: limit > 0, limit, remaining: limit, resetAt: now + this.#windowMs }
    const remaining = Math.max(0, limit - window.used)
    return { allowed: remaining > 0, limit, remaining, resetAt: window.resetAt }
  }

  /** The open window. A window that ends too far ahead was opened before the clock was set back. */
  #current(who: string, now: number): OpenWindow | undefined {
    const window = this.#windows.get(who)
    return window && now < window.resetAt && window.resetAt - now <= this.#windowMs ? window : undefined
  }

  #open(who: string, now: number): OpenWindow {
    const window = { used: 0, resetAt: now + this.#windowMs }
    this.#keep(who, window)
    return window
  }

  #keep(who: string, window: OpenWindow): void {
    this.#windows.delete(who)
    this.#windows.set(who, window)
    forgetOldest(this.#windows, this.#windowsMax)
  }
}
