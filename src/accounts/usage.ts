import type { Clock } from '../domain/clock.ts'
import { billingPeriodOf } from '../domain/cost.ts'
import type { Store } from '../store/store.ts'

export type UsageMeterOptions = {
  store: Pick<Store, 'getUsage'>
  clock: Pick<Clock, 'now'>
  /** Accounts that are remembered; the others are read again when they are asked for. */
  accountsMax?: number
}

/**
 * What accounts spent in the running calendar month (UTC), in USD. The store keeps the sums, in the transaction that
 * records a run; this is their copy in memory, so that asking costs a run nothing.
 */
export class UsageMeter {
  readonly #store: Pick<Store, 'getUsage'>
  readonly #clock: Pick<Clock, 'now'>
  readonly #accountsMax: number
  readonly #accounts = new Map<string, Account>()

  constructor({ store, clock, accountsMax = 100_000 }: UsageMeterOptions) {
    this.#store = store
    this.#clock = clock
    this.#accountsMax = accountsMax
  }

  /** A promise only until the sum of the month has been read. */
  costOf(accountId: string): number | Promise<number> {
    const period = billingPeriodOf(this.#clock.now())
    const known = this.#accounts.get(accountId)
    if (known?.period === period) return known.loading ?? known.cost
    const account: Account = { period, cost: 0, loading: undefined, isStale: false }
    account.loading = this.#load(accountId, account)
    this.#remember(accountId, account)
    return account.loading
  }

  /** Call it after the run is on disk. */
  add(accountId: string, cost: number): void {
    const known = this.#accounts.get(accountId)
    if (!known) return
    // Whether the sum that is being read has this cost in it cannot be known: it is read again.
    if (known.loading) known.isStale = true
    else if (known.period === billingPeriodOf(this.#clock.now())) known.cost += cost
  }

  async #load(accountId: string, account: Account): Promise<number> {
    try {
      do {
        account.isStale = false
        account.cost = await this.#store.getUsage(accountId, account.period)
      } while (account.isStale)
      account.loading = undefined
      return account.cost
    } catch (error) {
      if (this.#accounts.get(accountId) === account) this.#accounts.delete(accountId)
      throw error
    }
  }

  #remember(accountId: string, account: Account): void {
    this.#accounts.delete(accountId)
    this.#accounts.set(accountId, account)
    if (this.#accounts.size <= this.#accountsMax) return
    for (const oldest of this.#accounts.keys()) {
      this.#accounts.delete(oldest)
      break
    }
  }
}

type Account = { period: number; cost: number; loading: Promise<number> | undefined; isStale: boolean }

/** Exceeded when the cost has reached the limit (decisions §4). */
export function isUsageExceeded(cost: number, limit: number): boolean {
  return cost >= limit
}
