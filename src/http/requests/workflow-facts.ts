import { AppError, type ErrorDetail, problemsError } from '../../domain/errors.ts'
import type { WorkflowDocument } from '../../domain/workflow/workflow.ts'
import type { Services } from '../services.ts'
import { folderAt, folderPathRule } from './folder-path.ts'

/** The name, description and folder of a workflow in a request of `/api/v2`. Null removes the description. */
export type WorkflowFacts = { name?: string; description?: string | null; folderPath?: string }

/** A document with an API trigger and no other block. Throws INVALID_INPUT. */
export async function newDocument(
  services: Pick<Services, 'readDocument' | 'completeDocument'>,
  { workspaceId, name, ...facts }: WorkflowFacts & { workspaceId: string; name: string },
): Promise<WorkflowDocument> {
  const start = { id: 'start', type: 'api_trigger', name: 'Start', position: { x: 0, y: 0 } }
  const empty: WorkflowDocument = { name, blocks: { start }, edges: [] }
  const document = await changedFacts(services, empty, workspaceId, facts)
  return (await services.completeDocument(document, undefined, workspaceId)).document
}

/** The document with new facts. Throws INVALID_INPUT if they are not valid. */
export async function changedFacts(
  services: Pick<Services, 'readDocument'>,
  document: WorkflowDocument,
  workspaceId: string,
  { name = document.name, description = document.description, folderPath }: WorkflowFacts,
): Promise<WorkflowDocument> {
  const folder = folderPath === undefined ? document.folder : (folderIn(folderPath, 'folderPath') ?? undefined)
  const { description: _description, folder: _folder, ...rest } = document
  const texts = { ...(description && { description }), ...(folder && { folder }) }
  // Reads only the facts: the stored document is valid, and its secrets are sealed.
  const reading = await services.readDocument({ name, ...texts, blocks: {}, edges: [] }, workspaceId)
  if ('details' in reading) throw problemsError('INVALID_INPUT', reading.details.map(inRequest))
  return { ...rest, name, ...texts }
}

/** The folder at a path, null for `/`. Throws INVALID_INPUT. */
export function folderIn(path: string, member: string): string | null {
  const folder = folderAt(path)
  if (folder !== undefined) return folder
  const message = `${member} must be ${folderPathRule}.`
  throw new AppError('INVALID_INPUT', message, { details: [{ path: member, message }] })
}

/** The path of a member in the request, where the folder has another name than in a document. */
function inRequest({ path, message }: ErrorDetail): ErrorDetail {
  return path === 'folder'
    ? { path: 'folderPath', message: message.replace(/^folder\b/, 'folderPath') }
    : { path, message }
}
