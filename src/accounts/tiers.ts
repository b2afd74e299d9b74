import { type Plan, type PlanName, type Plans, planNames } from '../domain/account/tiers.ts'
import type { OwnPlan } from '../store/store.ts'

/** The tier of an account: its own or the installation's. The account's own numbers replace those of its tier. */
export function tierOf({ plan, numbers }: OwnPlan, installation: PlanName, plans: Plans): Plan {
  // A tier name written by a later version is ignored.
  const name = planNames.find((known) => known === plan) ?? installation
  return { name, ...plans[name], ...(name === plan ? numbers : undefined) }
}
