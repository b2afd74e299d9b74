import { AppError, problemsError } from '../../../domain/errors.ts'
import { assertDocumentSize } from '../../../domain/workflow/document-size.ts'
import type { WorkflowDocument } from '../../../domain/workflow/workflow.ts'
import type { SimImport } from '../../../sim/import/import-sim.ts'
import { simStateIn } from '../../../sim/sim-document.ts'
import type { WorkflowRow } from '../../../store/workflow-store.ts'
import type { Services } from '../../services.ts'

type Importing = Pick<Services, 'store' | 'clock' | 'settings' | 'importSim' | 'completeDocument' | 'editors'>

/** `file`: an export of Sim. `update`: whether to replace a workflow of the same name that an import created. */
export type WorkflowImport = {
  workspaceId: string
  file: unknown
  by: string
  update: boolean
  /** Changes the document before it is saved. */
  adapt?: (document: WorkflowDocument) => Promise<WorkflowDocument>
}

/** Converts and saves a workflow file. Throws INVALID_INPUT for any other value, CONFLICT if its name is taken. */
export async function importWorkflow(
  services: Importing,
  { workspaceId, file, by, update, adapt }: WorkflowImport,
): Promise<{ row: WorkflowRow; imported: SimImport }> {
  const { settings } = services
  assertDocumentSize(simStateIn(file), settings.document)
  const imported = await services.importSim(file, workspaceId)
  if ('details' in imported) throw problemsError('INVALID_INPUT', imported.details)
  const document = adapt ? await adapt(imported.document) : imported.document
  // The import may have made several blocks of one.
  assertDocumentSize(document, settings.document)
  return { row: await save(services, document, { workspaceId, by, update }), imported }
}

async function save(
  services: Importing,
  document: WorkflowDocument,
  { workspaceId, by, update }: Pick<WorkflowImport, 'workspaceId' | 'by' | 'update'>,
): Promise<WorkflowRow> {
  const { store, clock } = services
  const complete = await services.completeDocument(document, undefined, workspaceId)
  try {
    return await store.createWorkflow({ id: null, workspaceId, document: complete.document, by, at: clock.now() })
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'CONFLICT') throw error
    const existing = (await store.listWorkflows(workspaceId)).find((row) => row.document.name === document.name)
    if (!existing) throw error
    assertReplaceable(existing, update)
    return await replace(services, existing, document, by)
  }
}

async function replace(
  { store, clock, completeDocument, editors }: Importing,
  before: WorkflowRow,
  imported: WorkflowDocument,
  by: string,
): Promise<WorkflowRow> {
  const { id, workspaceId } = before
  // Files of Sim have neither a folder nor limits.
  const { folder, limits } = before.document
  const kept = { ...(folder !== undefined && { folder }), ...(limits !== undefined && { limits }) }
  const { document } = await completeDocument({ ...kept, ...imported }, before.document, workspaceId)
  const row = await store.updateWorkflow(id, { ...document, id }, clock.now(), undefined, { by })
  await editors.saved(row)
  return row
}

function assertReplaceable({ document: { name, origin } }: WorkflowRow, mayUpdate: boolean): void {
  const isImported = origin?.format === 'sim'
  if (isImported && mayUpdate) return
  const advice = isImported
    ? 'An import created it: import the file with "update" to replace it.'
    : 'No import created it, so an import cannot replace it. Rename one of the two.'
  throw new AppError('CONFLICT', `The workspace already has a workflow named "${name}". ${advice}`)
}
