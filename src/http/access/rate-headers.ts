import type { RateWindow } from '../../accounts/rate-limit.ts'
import { AppError } from '../../domain/errors.ts'
import { isoTime } from '../responses/schema-parts.ts'

/** Shows a rate window in the headers of a response. */
export function showWindow(headers: Record<string, unknown>, { limit, remaining, resetAt }: RateWindow): void {
  headers['x-ratelimit-limit'] = `${limit}`
  headers['x-ratelimit-remaining'] = `${remaining}`
  headers['x-ratelimit-reset'] = isoTime(resetAt)
}

/** Whether the headers show a window already. */
export function showsWindow(headers: Record<string, unknown>): boolean {
  return headers['x-ratelimit-limit'] !== undefined
}

/**
 * Throws RATE_LIMIT_EXCEEDED, with the time to wait, when the window had no room. `what` names what is counted in
 * `period`.
 */
export function assertAllowed(window: RateWindow, now: number, what = 'requests', period = 'a minute'): void {
  const { allowed, limit, resetAt } = window
  if (allowed) return
  const retryAfterS = Math.max(1, Math.ceil((resetAt - now) / 1000))
  throw new AppError(
    'RATE_LIMIT_EXCEEDED',
    `More than ${limit} ${what} in ${period}, the most that is allowed. Try again in ${retryAfterS} s.`,
    { retryAfterS },
  )
}
