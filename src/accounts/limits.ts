import type { Clock } from '../domain/clock.ts'
import { AppError } from '../domain/errors.ts'
import { type Plan, type PlanName, planOf } from './plans.ts'
import { RateLimiter, type RateWindow } from './rate-limit.ts'
import type { Usage } from './usage.ts'

/** Whom limits are counted for; `plan` null: the installation's. */
export type LimitedAccount = { userId: string; plan: string | null }

type RateState = { limit: number; remaining: number; resetAt: number }

/** The limits object of the external API, times as epoch milliseconds. */
export type LimitsReport = {
  workflowExecutionRateLimit: { sync: RateState; async: RateState }
  usage: { currentPeriodCost: number; limit: number; plan: string; isExceeded: boolean }
}

/** Requests a minute that may come without a valid key from one address. */
const refusedPerMinute = 60

/** Everything that an account may use up: rate windows of each kind, and the month's cost. */
export class AccountLimits {
  readonly #installationPlan: PlanName
  readonly #usage: Usage
  readonly #external: RateLimiter
  readonly #sync: RateLimiter
  readonly #async: RateLimiter
  readonly #refused: RateLimiter

  constructor({ plan, usage, clock }: { plan: PlanName; usage: Usage; clock: Clock }) {
    this.#installationPlan = plan
    this.#usage = usage
    this.#external = new RateLimiter({ clock })
    this.#sync = new RateLimiter({ clock })
    this.#async = new RateLimiter({ clock })
    this.#refused = new RateLimiter({ clock })
  }

  takeExternal(account: LimitedAccount): RateWindow {
    return this.#external.take(account.userId, this.#planOf(account).externalPerMinute)
  }

  takeSync(account: LimitedAccount): RateWindow {
    return this.#sync.take(account.userId, this.#planOf(account).syncPerMinute)
  }

  /** Counts a request without a valid key against the address it came from. */
  takeRefused(address: string): RateWindow {
    return this.#refused.take(address, refusedPerMinute)
  }

  /** Throws USAGE_LIMIT_EXCEEDED when the account has spent its month. */
  assertWithinUsage(account: LimitedAccount): void {
    const { usdPerMonth, name } = this.#planOf(account)
    if ((this.#usage.known(account.userId) ?? 0) < usdPerMonth) return
    throw new AppError(
      'USAGE_LIMIT_EXCEEDED',
      `The account has used up the ${usdPerMonth} USD a month of its plan (${name}). Raise the plan, or wait for the next month.`,
    )
  }

  async report(account: LimitedAccount): Promise<LimitsReport> {
    const plan = this.#planOf(account)
    const currentPeriodCost = await this.#usage.of(account.userId)
    return {
      workflowExecutionRateLimit: {
        sync: stateOf(this.#sync.peek(account.userId, plan.syncPerMinute)),
        async: stateOf(this.#async.peek(account.userId, plan.asyncPerMinute)),
      },
      usage: {
        currentPeriodCost,
        limit: plan.usdPerMonth,
        plan: plan.name,
        isExceeded: currentPeriodCost >= plan.usdPerMonth,
      },
    }
  }

  #planOf({ plan }: LimitedAccount): Plan {
    return planOf(plan, this.#installationPlan)
  }
}

function stateOf({ limit, remaining, resetAt }: RateWindow): RateState {
  return { limit, remaining, resetAt }
}
