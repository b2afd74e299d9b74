import type { Plan, PlanTrigger } from '../../../engine/compile/plan.ts'
import type { Deployment } from '../../../engine/deployments.ts'
import type { KeyRow } from '../../../store/account-store.ts'
import { assertMay } from '../../access/auth.ts'
import type { ServerPort } from '../../access/connection.ts'
import type { Door, ResponseSet } from '../../access/door.ts'
import { planOf, triggerOf } from '../../requests/executable-plan.ts'
import { storedKeyOf } from '../../requests/idempotency-key.ts'
import type { ExecuteServices } from '../../run-services.ts'
import type { ExecuteVersion, Mode } from './version.ts'

/** A request of the execute endpoint in progress. */
export type Call = {
  version: ExecuteVersion
  services: ExecuteServices
  door: Door
  request: Request
  workflowId: string
  server: ServerPort | null
  set: ResponseSet
  /** The headers of `set`, which every response carries. */
  headers: Record<string, string>
  /** Known when the body was read. Until then, as far as the headers say it. */
  mode: Mode
  /** The account whose window the response shows: the key's, then that of the workflow's owner. */
  limitedId: string | undefined
}

/** A request from a caller that may execute the workflow. */
export type Admitted = {
  deployment: Deployment
  plan: Plan
  trigger: PlanTrigger
  /** The idempotency key of the account's request, as it is stored. */
  key: string | undefined
}

/** Returns at once when the key and the deployment are in memory. */
export function admit(call: Call): Admitted | Promise<Admitted> {
  const key = call.door.requireExecutionKey(call.request, call.set)
  return key instanceof Promise ? key.then((known) => admitPrincipal(call, known)) : admitPrincipal(call, key)
}

function admitPrincipal(call: Call, key: KeyRow): Admitted | Promise<Admitted> {
  const { services, workflowId } = call
  call.limitedId = key.userId
  const deployment = services.deployments.get(workflowId)
  if (deployment) return admitTo(call, key, deployment)
  return services.deployments.load(workflowId).then((loaded) => admitTo(call, key, loaded))
}

function admitTo(call: Call, key: KeyRow, deployment: Deployment | undefined): Admitted {
  assertMay(key, deployment?.workspaceId, 'read', 'workflow')
  if (!deployment) throw new Error('A workflow that does not exist must not be visible')
  call.limitedId = deployment.ownerId
  assertMay(key, deployment.workspaceId, 'execute', 'workflow')
  const plan = planOf(deployment)
  const given = call.version.idempotencyKeyOf(call.request)
  const stored = given === undefined ? undefined : storedKeyOf(key.userId, given)
  return { deployment, plan, trigger: triggerOf(plan), key: stored }
}
