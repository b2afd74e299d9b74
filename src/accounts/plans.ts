/** What an account may use in a minute and in a month. */
export type Plan = {
  name: PlanName
  externalPerMinute: number
  syncPerMinute: number
  asyncPerMinute: number
  usdPerMonth: number
}

export type PlanName = 'free' | 'pro' | 'team' | 'enterprise'

/** So high that who runs the service for themselves never meets it. */
const beyondReach = 1_000_000_000

const plans: Record<PlanName, Plan> = {
  free: { name: 'free', externalPerMinute: 10, syncPerMinute: 10, asyncPerMinute: 50, usdPerMonth: 10 },
  pro: { name: 'pro', externalPerMinute: 30, syncPerMinute: 25, asyncPerMinute: 200, usdPerMonth: 20 },
  team: { name: 'team', externalPerMinute: 60, syncPerMinute: 75, asyncPerMinute: 500, usdPerMonth: 40 },
  enterprise: {
    name: 'enterprise',
    externalPerMinute: beyondReach,
    syncPerMinute: beyondReach,
    asyncPerMinute: beyondReach,
    usdPerMonth: beyondReach,
  },
}

/** An account's own plan, or the installation's when it has none. */
export function planOf(own: string | null, installation: PlanName): Plan {
  return plans[own !== null && Object.hasOwn(plans, own) ? (own as PlanName) : installation]
}
