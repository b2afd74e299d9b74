import type { WorkflowResponse } from '../../http/responses.ts'
import type { Document } from './document.ts'
import { openDocument } from './edit.ts'

/** The document of an answer, without what the service adds to it. */
export function documentOf(answer: WorkflowResponse): Document {
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
