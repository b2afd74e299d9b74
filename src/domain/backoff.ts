/** When a request of a block (API, language model) is tried again. Times are milliseconds. */

const firstDelayMs = 500
const delayMsMax = 30_000
const retryAfterMsMax = 60_000

/**
 * The delay after failed attempt `attempt` (1, 2, …): half a second, doubled each time up to 30 s, times 0.8 to 1.2 by
 * `random` (0 ≤ n < 1), so that many who failed together don't come back together.
 */
export function backoffMs(attempt: number, random: number): number {
  return Math.min(delayMsMax, firstDelayMs * 2 ** (attempt - 1)) * (0.8 + 0.4 * random)
}

/** The delay that a server which asks for more time gets; undefined when that is more than anyone waits for. */
export function delayWithRetryAfter(backoff: number, retryAfter: number | undefined): number | undefined {
  if (retryAfter === undefined || retryAfter <= backoff) return backoff
  return retryAfter <= retryAfterMsMax ? retryAfter : undefined
}

/** Reads a `Retry-After` header, seconds or a date; undefined when it is neither. `now` in epoch milliseconds. */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? ''
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000
  // Only what looks like an HTTP date: Date.parse takes almost anything for some date.
  if (!/^[A-Za-z]{3,9},? .*\d\d:\d\d:\d\d/.test(text)) return undefined
  const at = Date.parse(/(GMT|UTC|[+-]\d{4})$/i.test(text) ? text : `${text} GMT`)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}
