/** The limits of one reply. `tokensMax` counts the prompts of all its requests, too. */
export const replyLimits = {
  modelCallsMax: 30,
  toolCallsMax: 80,
  tokensMax: 600_000,
  timeoutMs: 300_000,
  modelCallTimeoutMs: 120_000,
  toolResultCharsMax: 40_000,
} as const

/** The maximum number of replies at the same time in this process. */
export const repliesMax = { total: 20, perAccount: 2 } as const

/**
 * The tokens that each account has used in this day (UTC). The counts are in memory: they begin again when the service
 * starts, and each process has its own.
 */
export class DailyTokens {
  readonly #max: number
  readonly #now: () => number
  #day = 0
  readonly #used = new Map<string, number>()

  constructor(max: number, now: () => number) {
    this.#max = max
    this.#now = now
  }

  isUsedUp(userId: string): boolean {
    this.#begin()
    return (this.#used.get(userId) ?? 0) >= this.#max
  }

  add(userId: string, tokens: number): void {
    this.#begin()
    this.#used.set(userId, (this.#used.get(userId) ?? 0) + tokens)
  }

  #begin(): void {
    const day = Math.floor(this.#now() / dayMs)
    if (day === this.#day) return
    this.#day = day
    this.#used.clear()
  }
}

const dayMs = 86_400_000
