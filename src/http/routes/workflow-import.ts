import { Elysia } from 'elysia'
import { chooseWorkspace } from '../access/auth.ts'
import type { Door } from '../access/door.ts'
import { route } from '../openapi/route.ts'
import { readShape } from '../requests/body.ts'
import { ImportedWorkflow, WorkflowImport } from '../responses/workflow-schemas.ts'
import type { Services } from '../services.ts'
import { importWorkflow } from './workflow/import-workflow.ts'

/** Workflows from files of other products: `/api/workflows/import`. */
export function workflowImportRoutes(services: Services, door: Door) {
  const { settings } = services
  return new Elysia({ prefix: '/api/workflows' }).post(
    '/import',
    async ({ request, set }) => {
      const caller = await door.requireKeyOrSession(request, set)
      const body = await readShape(request, WorkflowImport, settings.documentBody)
      const workspaceId = chooseWorkspace(caller, body.workspaceId, 'write')
      const { row, imported } = await importWorkflow(services, {
        ...{ workspaceId, file: body.document, by: caller.userId, update: body.update === true },
      })
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
}
