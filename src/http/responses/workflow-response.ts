import { type SubscriptionRow, shownOf } from '../../domain/webhook/subscription.ts'
import type { Finding, WorkflowDocument } from '../../domain/workflow/workflow.ts'
import type { WorkflowRow } from '../../store/workflow-store.ts'
import type { Services } from '../services.ts'
import { boundedFindings } from './findings.ts'
import { isoTime } from './schema-parts.ts'
import { triggerFacts } from './trigger-facts.ts'
import type { SavedWorkflow, WorkflowResponse } from './workflow-schemas.ts'

/**
 * The response for a workflow: its document, id, times and revision, and its webhook subscriptions if it has any.
 * `seesSecrets`: whether the caller may see the secrets in the document.
 */
export async function workflowResponse(
  { subscriptions, secrets }: Pick<Services, 'subscriptions' | 'secrets'>,
  { id, workspaceId, document, createdAt, updatedAt, revision }: WorkflowRow,
  seesSecrets: boolean,
): Promise<WorkflowResponse> {
  const times = { createdAt: isoTime(createdAt), updatedAt: isoTime(updatedAt) }
  const webhooks = await subscriptions.of(id)
  return {
    ...withWebhooks(await secrets.shown(document, workspaceId, seesSecrets), webhooks),
    id,
    workspaceId,
    ...times,
    revision,
  }
}

function withWebhooks({ webhooks: _, ...document }: WorkflowDocument, subscriptions: readonly SubscriptionRow[]) {
  return subscriptions.length === 0 ? document : { ...document, webhooks: subscriptions.map(shownOf) }
}

/**
 * The same with what the check at deployment would say. `warnings`: what reading the document said. `seesSecrets`: see
 * `workflowResponse`.
 */
export async function savedResponse(
  services: Pick<Services, 'checkWorkflow' | 'subscriptions' | 'secrets' | 'settings'>,
  row: WorkflowRow,
  { warnings = [], seesSecrets = true }: { warnings?: readonly Finding[]; seesSecrets?: boolean } = {},
): Promise<SavedWorkflow> {
  const check = await services.checkWorkflow(row.document, row.workspaceId)
  const workflow = await workflowResponse(services, row, seesSecrets)
  return {
    ...workflow,
    findings: boundedFindings([...check.findings, ...warnings]),
    ...triggerFacts(check, services.settings),
  }
}
