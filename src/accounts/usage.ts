import type { Clock } from '../domain/clock.ts'
import { billingPeriodOf } from '../domain/cost.ts'

export type UsageOptions = {
  /** What an account spent since the start of a period, in USD, as it stands on disk. */
  getUsage(userId: string, periodStart: number): Promise<number>
  clock: Clock
  accountsMax?: number
}

/**
 * What accounts have spent in this calendar month (UTC). The store keeps the sums, in the transaction that records a run;
 * this is their copy in memory, read once a month and counted along, so that a run asks nobody.
 */
export class Usage {
  readonly #getUsage: UsageOptions['getUsage']
  readonly #clock: Clock
  readonly #accountsMax: number
  /** In the order in which they were read. */
  readonly #spent = new Map<string, Spent>()
  readonly #loading = new Map<string, Loading>()

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
    if (usd <= 0) return
    // Whether a sum that is being read has this cost in it cannot be known: it is read again.
    const loading = this.#loading.get(userId)
    if (loading) loading.isStale = true
    else if (this.known(userId) !== undefined) this.#spent.get(userId)!.usd += usd
  }

  #load(userId: string): Promise<number> {
    const known = this.#loading.get(userId)
    if (known) return known.usd
    const loading: Loading = { isStale: false, usd: Promise.resolve(0) }
    this.#loading.set(userId, loading)
    loading.usd = this.#read(userId, loading).finally(() => this.#loading.delete(userId))
    return loading.usd
  }

  async #read(userId: string, loading: Loading): Promise<number> {
    const periodStart = billingPeriodOf(this.#clock.now())
    let usd: number
    do {
      loading.isStale = false
      usd = await this.#getUsage(userId, periodStart)
    } while (loading.isStale)
    this.#spent.delete(userId)
    this.#spent.set(userId, { periodStart, usd })
    if (this.#spent.size > this.#accountsMax) {
      const [oldest] = this.#spent.keys()
      if (oldest !== undefined) this.#spent.delete(oldest)
    }
    return usd
  }
}

type Spent = { periodStart: number; usd: number }
type Loading = { isStale: boolean; usd: Promise<number> }
