import { type Plan, type PlanName, type Plans, planNames } from '../domain/plan.ts'
import type { OwnPlan } from '../store/store.ts'

/** The plan in force for an account: its own or the installation's, with its own numbers laid over those of the plan. */
export function planOf({ plan, numbers }: OwnPlan, installation: PlanName, plans: Plans): Plan {
  // A name that a later version wrote is none here.
  const name = planNames.find((known) => known === plan) ?? installation
  return { name, ...plans[name], ...(name === plan ? numbers : undefined) }
}
