import { Elysia } from 'elysia'
import { AppError, problemsError } from '../../domain/errors.ts'
import { assertDocumentSize } from '../../domain/workflow/document-size.ts'
import type { WorkflowDocument } from '../../domain/workflow/workflow.ts'
import type { SimImport } from '../../sim/import/import-sim.ts'
import { simStateIn } from '../../sim/sim-document.ts'
import type { WorkflowRow } from '../../store/workflow-store.ts'
import { chooseWorkspace } from '../access/auth.ts'
import type { Door } from '../access/door.ts'
import { route } from '../openapi/route.ts'
import { readShape } from '../requests/body.ts'
import { ImportedWorkflow, WorkflowImport } from '../responses/workflow-schemas.ts'
import type { Services } from '../services.ts'

/** Workflows from files of other products: `/api/workflows/import`. */
export function workflowImportRoutes(services: Services, door: Door) {
  const { store, clock, settings } = services
  return new Elysia({ prefix: '/api/workflows' }).post(
    '/import',
    async ({ request, set }) => {
      const caller = await door.requireKeyOrSession(request, set)
      const body = await readShape(request, WorkflowImport, settings.documentBody)
      const workspaceId = chooseWorkspace(caller, body.workspaceId, 'write')
      assertDocumentSize(simStateIn(body.document), settings.document)
      const imported = await services.importSim(body.document, workspaceId)
      if ('details' in imported) throw problemsError('INVALID_INPUT', imported.details)
      // A block may have become several.
      assertDocumentSize(imported.document, settings.document)
      const row = await save(imported, workspaceId, { by: caller.userId, mayUpdate: body.update === true })
      door.note(request, { workflowId: row.id })
      set.status = 201
      const { name, mapped, placeholders, credentials, notes } = imported
      return { id: row.id, name, mapped, placeholders, credentials, notes }
    },
    route({
      name: 'importWorkflow',
      summary: 'Import a workflow',
      description:
        'Converts a workflow file that Sim exported and saves it as a workflow. A block that has no counterpart becomes ' +
        'a `placeholder`, which keeps its content and prevents the deployment. The response reports what was ' +
        'converted, and what you must do before you deploy the workflow. 409 if the workspace has a workflow of ' +
        'this name; with `update`, an imported workflow of this name is replaced.',
      tag: 'Workflows',
      body: WorkflowImport,
      responses: { 201: ImportedWorkflow },
      errors: [
        'INVALID_JSON',
        'INVALID_INPUT',
        'PAYLOAD_TOO_LARGE',
        'FORBIDDEN',
        'NOT_FOUND',
        'CONFLICT',
        'OVERLOADED',
      ],
    }),
  )

  async function save(
    { name, document }: SimImport,
    workspaceId: string,
    { by, mayUpdate }: { by: string; mayUpdate: boolean },
  ): Promise<WorkflowRow> {
    const complete = await services.completeDocument(document, undefined, workspaceId)
    try {
      return await store.createWorkflow({ id: null, workspaceId, document: complete.document, by, at: clock.now() })
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'CONFLICT') throw error
      const existing = (await store.listWorkflows(workspaceId)).find((row) => row.document.name === name)
      if (!existing) throw error
      assertReplaceable(existing, mayUpdate)
      return await replace(existing, document, by)
    }
  }

  async function replace(before: WorkflowRow, imported: WorkflowDocument, by: string): Promise<WorkflowRow> {
    const { id, workspaceId } = before
    const { document } = await services.completeDocument(imported, before.document, workspaceId)
    const row = await store.updateWorkflow(id, { ...document, id }, clock.now(), undefined, { by })
    await services.editors.saved(row)
    return row
  }
}

function assertReplaceable({ document: { name, origin } }: WorkflowRow, mayUpdate: boolean): void {
  const isImported = origin?.format === 'sim'
  if (isImported && mayUpdate) return
  const advice = isImported
    ? 'An import created it: import the file with "update" to replace it.'
    : 'No import created it, so it is not replaced. Rename one of the two.'
  throw new AppError('CONFLICT', `The workspace has a workflow named "${name}" already. ${advice}`)
}
