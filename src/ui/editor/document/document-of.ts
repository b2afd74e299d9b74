import type { WorkflowResponse } from '../../../http/responses/workflow-schemas.ts'
import type { Document } from './document.ts'
import { openDocument } from './edit.ts'

/** The document of a response, without the members that the service adds. */
export function documentOf(response: WorkflowResponse): Document {
  const {
    id: _id,
    workspaceId: _workspace,
    createdAt: _created,
    updatedAt: _updated,
    revision: _revision,
    webhooks: _,
    ...document
  } = response
  return openDocument(document)
}
