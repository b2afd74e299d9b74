import type { Plan } from './plans.ts'
import type { RateState } from './rate-limit.ts'
import { isUsageExceeded } from './usage.ts'

/** One window on the wire. */
export type RateWindow = { limit: number; remaining: number; resetAt: string }

/** The Limits object of every answer about logs (interface, "Limits object"). */
export type LimitsObject = {
  workflowExecutionRateLimit: { sync: RateWindow; async: RateWindow }
  usage: { currentPeriodCost: number; limit: number; plan: string; isExceeded: boolean }
}

export type LimitsFacts = { sync: RateState; async: RateState; cost: number; plan: Plan }

export function limitsObject({ sync, async, cost, plan }: LimitsFacts): LimitsObject {
  return {
    workflowExecutionRateLimit: { sync: rateWindow(sync), async: rateWindow(async) },
    usage: {
      currentPeriodCost: cost,
      limit: plan.usageUsd,
      plan: plan.name,
      isExceeded: isUsageExceeded(cost, plan.usageUsd),
    },
  }
}

export function rateWindow({ limit, remaining, resetAt }: RateState): RateWindow {
  return { limit, remaining, resetAt: new Date(resetAt).toISOString() }
}
