import type { Finding } from '../domain/workflow.ts'
import type { WorkflowRow } from '../store/store.ts'
import { isoTime, type SavedWorkflow, type WorkflowAnswer } from './answers.ts'
import type { Services } from './services.ts'
import { withoutSecrets } from './webhook-secrets.ts'

/** A workflow as it is answered: its document, and what the service knows of it. */
export function workflowAnswer({ id, workspaceId, document, createdAt, updatedAt }: WorkflowRow): WorkflowAnswer {
  const times = { createdAt: isoTime(createdAt), updatedAt: isoTime(updatedAt) }
  return { ...withoutSecrets(document), id, workspaceId, ...times }
}

/** The same after a change, with what the check at deployment would say. `warnings`: what reading the document said. */
export async function savedAnswer(
  { checkWorkflow }: Pick<Services, 'checkWorkflow'>,
  row: WorkflowRow,
  warnings: readonly Finding[] = [],
): Promise<SavedWorkflow> {
  const { findings } = await checkWorkflow(row.document, row.workspaceId)
  return { ...workflowAnswer(row), findings: [...findings, ...warnings] }
}
