/** When a block retries a failed request (API block, language model). Times are in milliseconds. */

const firstDelayMs = 500
const delayMsMax = 30_000
const retryAfterMsMax = 60_000

/**
 * The delay after failed attempt `attempt` (1, 2, …): half a second, doubled each time up to 30 s. `random`
 * (0 ≤ n < 1) scales it by 0.8 to 1.2, so that callers that failed together do not retry together.
 */
export function backoffMs(attempt: number, random: number): number {
  return Math.min(delayMsMax, firstDelayMs * 2 ** (attempt - 1)) * (0.8 + 0.4 * random)
}

/** The delay when the server sent `Retry-After`; undefined when the server asks for more than the service waits. */
export function delayWithRetryAfter(backoff: number, retryAfter: number | undefined): number | undefined {
  if (retryAfter === undefined || retryAfter <= backoff) return backoff
  return retryAfter <= retryAfterMsMax ? retryAfter : undefined
}

/** Reads a `Retry-After` header (seconds or a date); undefined for any other text. `now` is in epoch milliseconds. */
export function retryAfterMs(header: string | undefined, now: number): number | undefined {
  const text = header?.trim() ?? ''
  if (/^\d+(\.\d+)?$/.test(text)) return Number(text) * 1000
  // Accept only text that looks like an HTTP date: Date.parse turns almost any text into some date.
  if (!/^[A-Za-z]{3,9},? .*\d\d:\d\d:\d\d/.test(text)) return undefined
  const at = Date.parse(/(GMT|UTC|[+-]\d{4})$/i.test(text) ? text : `${text} GMT`)
  return Number.isNaN(at) ? undefined : Math.max(0, at - now)
}
