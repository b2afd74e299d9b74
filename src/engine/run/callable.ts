import type { WorkflowDescription } from '../block.ts'
import type { Plan, PlanTrigger } from '../compile/plan.ts'
import type { Deployment } from '../deployments.ts'

/** The plan and trigger that other workflows of the same workspace call, or why they cannot. */
export function callable(workflowId: string, workspaceId: string, deployment: Deployment | undefined): Callable {
  const refuse = (code: string, message: string): Callable => ({ ok: false, error: { code, message } })
  if (deployment?.workspaceId !== workspaceId) {
    return refuse('NOT_FOUND', `There is no workflow "${workflowId}" in this workspace.`)
  }
  const { plan } = deployment
  if (!plan) return refuse('WORKFLOW_NOT_DEPLOYED', `The workflow "${workflowId}" is not deployed.`)
  const trigger = plan.triggers.get('api') ?? plan.triggers.get('manual')
  if (!trigger) return refuse('NOT_FOUND', `The workflow "${plan.document.name}" has no API trigger to be called by.`)
  return { ok: true, plan, trigger }
}

export type Callable =
  | { ok: true; plan: Plan; trigger: PlanTrigger }
  | { ok: false; error: { code: string; message: string } }

/** The name and input format, for the calling workflow. */
export function describe(called: Callable): WorkflowDescription {
  return called.ok ? { ok: true, name: called.plan.document.name, format: called.trigger.format } : called
}
