import type { Clock } from '../domain/clock.ts'
import { billingPeriodOf } from '../domain/cost.ts'

export type UsageOptions = {
  /** What an account spent since the start of a period, in USD, as it stands on disk. */
  getUsage(userId: string, periodStart: number): Promise<number>
  clock: Clock
  accountsMax?: number
}

type Spent = { periodStart: number; usd: number }

/** What accounts have spent in this calendar month (UTC): read once from the logs, then counted along. */
export class Usage {
  readonly #getUsage: UsageOptions['getUsage']
  readonly #clock: Clock
  readonly #accountsMax: number
  readonly #spent = new Map<string, Spent>()

  constructor({ getUsage, clock, accountsMax = 100_000 }: UsageOptions) {
    this.#getUsage = getUsage
    this.#clock = clock
    this.#accountsMax = accountsMax
  }

  /** USD in this month. */
  async of(userId: string): Promise<number> {
    return this.known(userId) ?? (await this.#load(userId))
  }

  /** The same when it is in memory; undefined else. */
  known(userId: string): number | undefined {
    const spent = this.#spent.get(userId)
    return spent?.periodStart === billingPeriodOf(this.#clock.now()) ? spent.usd : undefined
  }

  /** Counts the cost of a run that was just recorded. */
  add(userId: string, usd: number): void {
    const spent = this.#spent.get(userId)
    if (usd > 0 && spent) spent.usd += usd
  }

  async #load(userId: string): Promise<number> {
    const periodStart = billingPeriodOf(this.#clock.now())
    const usd = await this.#getUsage(userId, periodStart)
    this.#spent.delete(userId)
    this.#spent.set(userId, { periodStart, usd })
    if (this.#spent.size > this.#accountsMax) {
      const [oldest] = this.#spent.keys()
      if (oldest !== undefined) this.#spent.delete(oldest)
    }
    return usd
  }
}
