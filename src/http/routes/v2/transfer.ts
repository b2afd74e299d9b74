import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { assertMay, findWorkflow } from '../../access/auth.ts'
import type { Door } from '../../access/door.ts'
import { enterV2 } from '../../access/enter-v2.ts'
import { routeV2 } from '../../openapi/route-v2.ts'
import { readShape } from '../../requests/body.ts'
import { folderPathOf } from '../../requests/folder-path.ts'
import { isoTime } from '../../responses/schema-parts.ts'
import { dataOf } from '../../responses/v2/envelope.ts'
import { ExportV2, ImportedV2, ImportV2, SimState, warningsOf } from '../../responses/v2/transfer-schemas.ts'
import { blockNamesOf } from '../../responses/v2/workflow-schemas.ts'
import type { Services } from '../../services.ts'
import { exportWorkflow, importNamed } from '../workflow/transfer.ts'

/** Workflows as files of Sim: their export, their state, and their import. */
export function transferRoutesV2(services: Services, door: Door) {
  const { settings } = services
  return new Elysia({ prefix: '/api/v2/workflows' })
    .get(
      '/:id/export',
      async ({ params: { id }, ...context }) => {
        const key = await enterV2(door, context)
        const row = await findWorkflow(services, key, id, 'read')
        const { name, description = null, folder } = row.document
        const { version, exportedAt, state } = await exportWorkflow(services, row)
        const workflow = { id, name, description, workspaceId: row.workspaceId, folderPath: folderPathOf(folder) }
        return { data: { version, exportedAt, workflow, state } }
      },
      routeV2({
        name: 'exportWorkflowV2',
        summary: 'Export a workflow',
        description: 'The draft in the form of Sim, as far as it can express it, without secrets.',
        query: t.Object({
          includeReferences: t.Optional(t.Boolean({ description: 'Has no effect.' })),
          includeWorkspaceBindings: t.Optional(t.Boolean({ description: 'Has no effect.' })),
        }),
        responses: { 200: dataOf(ExportV2) },
        errors: ['NOT_FOUND', 'OVERLOADED'],
      }),
    )
    .get(
      '/:id/state',
      async ({ params: { id }, ...context }) => {
        const key = await enterV2(door, context)
        const { state } = await exportWorkflow(services, await findWorkflow(services, key, id, 'read'))
        return { data: state }
      },
      routeV2({
        name: 'getWorkflowStateV2',
        summary: 'Get the draft of a workflow in the form of Sim',
        responses: { 200: dataOf(SimState) },
        errors: ['NOT_FOUND', 'OVERLOADED'],
      }),
    )
    .post(
      '/import',
      async (context) => {
        const key = await enterV2(door, context)
        const { workspaceId, workflow, ...facts } = await readShape(context.request, ImportV2, settings.documentBody)
        assertMay(key, workspaceId, 'write', 'workspace')
        const { row, imported } = await importNamed(services, { workspaceId, workflow, by: key.userId, facts })
        door.note(context.request, { workflowId: row.id })
        context.set.status = 201
        const { name, description = null, folder } = row.document
        const named = { id: row.id, name, description, workspaceId, folderPath: folderPathOf(folder) }
        const times = { createdAt: isoTime(row.createdAt), updatedAt: isoTime(row.updatedAt) }
        return { data: { ...named, ...times, blocks: blockNamesOf(row.document), warnings: warningsOf(imported) } }
      },
      routeV2({
        name: 'importWorkflowV2',
        summary: 'Import a workflow',
        description:
          'Converts a workflow file of Sim and saves it as a new workflow. Blocks without a counterpart become ' +
          'placeholders. 409 if the workspace has a workflow of this name; choose another one with `name`.',
        body: ImportV2,
        responses: { 201: dataOf(ImportedV2) },
        errors: [
          ...(['INVALID_JSON', 'INVALID_INPUT', 'PAYLOAD_TOO_LARGE'] as const),
          ...(['FORBIDDEN', 'NOT_FOUND', 'CONFLICT', 'OVERLOADED'] as const),
        ],
      }),
    )
}
