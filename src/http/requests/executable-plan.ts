import { AppError } from '../../domain/errors.ts'
import type { Plan, PlanTrigger } from '../../engine/compile/plan.ts'
import type { Deployment } from '../../engine/deployments.ts'

/** The plan of a deployment. Throws WORKFLOW_NOT_DEPLOYED when there is none. */
export function planOf({ workflowId, plan, version, findings }: Deployment): Plan {
  if (plan) return plan
  if (version === null)
    throw new AppError('WORKFLOW_NOT_DEPLOYED', `The workflow "${workflowId}" is not deployed. Deploy it first.`)
  const problems = findings.map(({ message }) => message).join(' ')
  throw new AppError(
    'WORKFLOW_NOT_DEPLOYED',
    `Version ${version} of the workflow can no longer run: ${problems} Deploy it again.`,
  )
}

/** The API trigger of a plan. Throws NOT_FOUND when it has none. */
export function triggerOf(plan: Plan): PlanTrigger {
  const trigger = plan.triggers.get('api')
  if (trigger) return trigger
  throw new AppError(
    'NOT_FOUND',
    'The workflow has no API trigger (a block of the type api_trigger that is enabled), so it has no endpoint.',
  )
}
