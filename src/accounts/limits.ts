import type { Clock } from '../domain/clock.ts'
import { AppError } from '../domain/errors.ts'
import { networkOf } from '../domain/network.ts'
import type { Plan, PlanName, Plans, RateKind } from '../domain/plan.ts'
import type { RateWindowRow, UserRow } from '../store/store.ts'
import { FreshCache } from './fresh-cache.ts'
import { planOf } from './plans.ts'
import type { RateJournal } from './rate-journal.ts'
import { RateLimiter, type RateWindow } from './rate-limit.ts'
import type { Usage } from './usage.ts'

/** Whom limits are counted for, with the plan in force. Not to be kept: the next request may find another plan. */
export type LimitedAccount = { readonly userId: string; readonly plan: Plan }

export type AccountLimitsOptions = {
  findUser(userId: string): Promise<UserRow | undefined>
  plans: Plans
  /** Of accounts without one of their own. */
  plan: PlanName
  usage: Usage
  journal: RateJournal
  /** Windows that were open when the service stopped. */
  windows: readonly RateWindowRow[]
  /** Told of each request that a window refuses; `address`: it had no valid key. */
  onRefused?(kind: RateKind | 'address'): void
  clock: Clock
}

export type RateState = { limit: number; remaining: number; resetAt: number }

/** The limits object of the external API, times as epoch milliseconds. */
export type LimitsReport = {
  workflowExecutionRateLimit: { sync: RateState; async: RateState }
  usage: { currentPeriodCost: number; limit: number; plan: string; isExceeded: boolean }
}

/** Requests a minute that may come without a valid key from one address. */
const refusedPerMinute = 60
/** Wrong passwords a minute that one address may send to one chat. */
const wrongPasswordsPerMinute = 20

/** Everything that an account may use up: rate windows of each kind, and the month's cost. */
export class AccountLimits {
  readonly #accounts: FreshCache<LimitedAccount>
  readonly #usage: Usage
  readonly #limiters: Readonly<Record<RateKind, RateLimiter>>
  readonly #refused: RateLimiter
  readonly #wrongPasswords: RateLimiter
  readonly #onRefused: AccountLimitsOptions['onRefused']

  constructor({ findUser, plans, plan, usage, journal, windows, onRefused, clock }: AccountLimitsOptions) {
    const ask = async (userId: string): Promise<LimitedAccount | undefined> => {
      const user = await findUser(userId)
      return user && { userId, plan: planOf(user, plan, plans) }
    }
    this.#accounts = new FreshCache({ ask, clock })
    this.#usage = usage
    this.#onRefused = onRefused
    const limiter = (kind: RateKind) => new RateLimiter({ clock, changed: journal.of(kind) })
    this.#limiters = { external: limiter('external'), sync: limiter('sync'), async: limiter('async') }
    // In memory only: nobody without a key makes the service write.
    this.#refused = new RateLimiter({ clock })
    this.#wrongPasswords = new RateLimiter({ clock })
    for (const { kind, userId, ...window } of windows) this.#limiters[kind].restore(userId, window)
  }

  /**
   * An account with all that its limits need in memory; at once when it is there already, which costs two look-ups.
   * A plan that changed holds within 5 s. Rejects with what the store rejects with.
   */
  account(userId: string): LimitedAccount | Promise<LimitedAccount> {
    const account = this.#accounts.known(userId)
    if (account !== undefined && this.#usage.known(userId) !== undefined) return account
    return this.#load(userId)
  }

  /** Counts a request. */
  take(kind: RateKind, account: LimitedAccount): RateWindow {
    return this.#told(kind, this.#limiters[kind].take(account.userId, account.plan[limitNames[kind]]))
  }

  /** What `take` would find, counting nothing. */
  peek(kind: RateKind, account: LimitedAccount): RateWindow {
    return this.#limiters[kind].peek(account.userId, account.plan[limitNames[kind]])
  }

  /** Counts a request without a valid key against the address it came from. */
  takeRefused(address: string): RateWindow {
    return this.#told('address', this.#refused.take(networkOf(address), refusedPerMinute))
  }

  peekRefused(address: string): RateWindow {
    return this.#refused.peek(networkOf(address), refusedPerMinute)
  }

  /** Counts a wrong password. `who`: the chat and the address it came from. */
  takeWrongPassword(who: string): RateWindow {
    return this.#wrongPasswords.take(who, wrongPasswordsPerMinute)
  }

  peekWrongPassword(who: string): RateWindow {
    return this.#wrongPasswords.peek(who, wrongPasswordsPerMinute)
  }

  /** Loads accounts that are needed soon. A failure is ignored: the account is loaded again when it is needed. */
  preload(userIds: Iterable<string>): void {
    for (const userId of userIds) Promise.resolve(this.account(userId)).catch(() => undefined)
  }

  isWithinUsage({ userId, plan }: LimitedAccount): boolean {
    return (this.#usage.known(userId) ?? 0) < plan.usdPerMonth
  }

  /** Throws USAGE_LIMIT_EXCEEDED when the account has spent its month. */
  assertWithinUsage(account: LimitedAccount): void {
    if (this.isWithinUsage(account)) return
    const { usdPerMonth, name } = account.plan
    throw new AppError(
      'USAGE_LIMIT_EXCEEDED',
      `The account has used up the ${usdPerMonth} USD a month of its plan (${name}). Raise the plan, or wait for the next month.`,
    )
  }

  async report(userId: string): Promise<LimitsReport> {
    const account = await this.account(userId)
    const { usdPerMonth, name } = account.plan
    const currentPeriodCost = await this.#usage.of(userId)
    return {
      workflowExecutionRateLimit: {
        sync: stateOf(this.peek('sync', account)),
        async: stateOf(this.peek('async', account)),
      },
      usage: {
        currentPeriodCost,
        limit: usdPerMonth,
        plan: name,
        isExceeded: currentPeriodCost >= usdPerMonth,
      },
    }
  }

  #told(kind: RateKind | 'address', window: RateWindow): RateWindow {
    if (!window.allowed) this.#onRefused?.(kind)
    return window
  }

  async #load(userId: string): Promise<LimitedAccount> {
    const [account] = await Promise.all([this.#accounts.get(userId), this.#usage.of(userId)])
    if (account) return account
    throw new Error(`There is no account ${userId}, although a key or a workspace names it`)
  }
}

const limitNames = {
  external: 'externalPerMinute',
  sync: 'syncPerMinute',
  async: 'asyncPerMinute',
} as const satisfies Record<RateKind, keyof Plan>

function stateOf({ limit, remaining, resetAt }: RateWindow): RateState {
  return { limit, remaining, resetAt }
}
