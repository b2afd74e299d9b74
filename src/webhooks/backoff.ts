/** Delays between the attempts of a delivery, in milliseconds. */
const delaysMs = [5_000, 15_000, 60_000, 180_000, 600_000]
const lastDelayMs = 600_000
const retryAfterMsMax = 600_000

/**
 * The delay after failed attempt `attempt` (1, 2, …), counted from its end: 5 s, 15 s, 1 min, 3 min, 10 min, and 10 min
 * after that, each longer by up to a tenth (`random`: 0 ≤ n < 1). A receiver that asks for more time (`retryAfterMs`)
 * gets it, up to 10 minutes.
 */
export function retryDelayMs(attempt: number, random: number, retryAfterMs?: number): number {
  const delayMs = (delaysMs[attempt - 1] ?? lastDelayMs) * (1 + 0.1 * random)
  return Math.max(delayMs, Math.min(retryAfterMs ?? 0, retryAfterMsMax))
}
