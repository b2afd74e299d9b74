import type { WorkflowAnswer } from '../../http/answers.ts'
import { call } from '../api/call.ts'
import type { Document } from './document.ts'
import { openDocument } from './edit.ts'

/** A workflow as the service has it. */
export async function loadWorkflow(id: string, signal?: AbortSignal): Promise<WorkflowAnswer> {
  // The routes' own types lose the members of records; the answer's schema has them.
  return (await call('GET /api/workflows/:id', {
    params: { id },
    ...(signal ? { signal } : {}),
  })) as unknown as WorkflowAnswer
}

/** The document of an answer, without what the service adds to it. */
export function documentOf(answer: WorkflowAnswer): Document {
  const {
    id: _id,
    workspaceId: _workspace,
    createdAt: _created,
    updatedAt: _updated,
    revision: _revision,
    webhooks: _,
    ...document
  } = answer
  return openDocument(document)
}
