import { type SubscriptionRow, shownOf } from '../domain/webhook.ts'
import type { Finding, WorkflowDocument } from '../domain/workflow.ts'
import type { WorkflowRow } from '../store/store.ts'
import { isoTime, type SavedWorkflow, type WorkflowAnswer } from './answers.ts'
import type { Services } from './services.ts'
import { startedBy } from './started-by.ts'

/** A workflow as it is answered: its document, with its webhooks if it has any, and what the service knows of it. */
export async function workflowAnswer(
  { subscriptions }: Pick<Services, 'subscriptions'>,
  { id, workspaceId, document, createdAt, updatedAt, revision }: WorkflowRow,
): Promise<WorkflowAnswer> {
  const times = { createdAt: isoTime(createdAt), updatedAt: isoTime(updatedAt) }
  const webhooks = await subscriptions.of(id)
  return { ...withWebhooks(document, webhooks), id, workspaceId, ...times, revision }
}

function withWebhooks({ webhooks: _, ...document }: WorkflowDocument, subscriptions: readonly SubscriptionRow[]) {
  return subscriptions.length === 0 ? document : { ...document, webhooks: subscriptions.map(shownOf) }
}

/** The same after a change, with what the check at deployment would say. `warnings`: what reading the document said. */
export async function savedAnswer(
  services: Pick<Services, 'checkWorkflow' | 'subscriptions' | 'settings'>,
  row: WorkflowRow,
  warnings: readonly Finding[] = [],
): Promise<SavedWorkflow> {
  const check = await services.checkWorkflow(row.document, row.workspaceId)
  const answer = await workflowAnswer(services, row)
  return { ...answer, findings: [...check.findings, ...warnings], ...startedBy(check, services.settings) }
}
