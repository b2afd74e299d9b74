/** What an account may use (decisions §4). Requests and runs are per minute, usage is USD per calendar month. */
export type Plan = {
  name: PlanName
  externalPerMinute: number
  syncPerMinute: number
  asyncPerMinute: number
  usageUsd: number
}

export const planNames = ['free', 'pro', 'team', 'enterprise'] as const
export type PlanName = (typeof planNames)[number]

/** Numbers that an operator set instead of the table's, by plan. */
export type PlanOverrides = Partial<Record<PlanName, Partial<Omit<Plan, 'name'>>>>

/** Limits that a self-hosted installation never meets, and still finite: they are shown in headers. */
const beyondReach = 1_000_000_000

const plans: Record<PlanName, Plan> = {
  free: { name: 'free', externalPerMinute: 10, syncPerMinute: 10, asyncPerMinute: 50, usageUsd: 10 },
  pro: { name: 'pro', externalPerMinute: 30, syncPerMinute: 25, asyncPerMinute: 200, usageUsd: 20 },
  team: { name: 'team', externalPerMinute: 60, syncPerMinute: 75, asyncPerMinute: 500, usageUsd: 40 },
  enterprise: {
    name: 'enterprise',
    externalPerMinute: beyondReach,
    syncPerMinute: beyondReach,
    asyncPerMinute: beyondReach,
    usageUsd: beyondReach,
  },
}

/** The table that is in force. */
export function planTable(overrides: PlanOverrides = {}): Record<PlanName, Plan> {
  const entries = planNames.map((name) => [name, Object.freeze({ ...plans[name], ...overrides[name] })])
  return Object.fromEntries(entries)
}

export function isPlanName(name: string): name is PlanName {
  return (planNames as readonly string[]).includes(name)
}

/** The account's own plan, else the installation's. A name that an older or newer version wrote counts as none. */
export function planOf(own: string | null, installation: PlanName, table: Record<PlanName, Plan>): Plan {
  return table[own !== null && isPlanName(own) ? own : installation]
}
