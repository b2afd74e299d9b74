import { Elysia } from 'elysia'
import { AppError } from '../../../domain/errors.ts'
import { folderIdOf } from '../../../domain/workflow/folders.ts'
import { assertMay, findWorkflow } from '../../access/auth.ts'
import type { Door } from '../../access/door.ts'
import { route } from '../../openapi/route.ts'
import { readShape } from '../../requests/body.ts'
import { folderPathOf } from '../../requests/folder-path.ts'
import { limitsResponse } from '../../responses/limits-response.ts'
import { isoTime } from '../../responses/schema-parts.ts'
import { withLimits } from '../../responses/v1/workflow-schemas.ts'
import { ExportV1, ImportedV1, ImportV1 } from '../../responses/v2/transfer-schemas.ts'
import type { Services } from '../../services.ts'
import { exportWorkflow, folderWithId, importNamed } from '../workflow/transfer.ts'

/** Workflows as files of Sim, in the shapes of Sim's first API. */
export function transferRoutesV1(services: Services, door: Door) {
  const { settings, limits } = services
  return new Elysia({ prefix: '/api/v1/workflows' })
    .get(
      '/:id/export',
      async ({ request, set, server, params: { id } }) => {
        const key = await door.requireApiKey(request, set, server)
        const row = await findWorkflow(services, key, id, 'read')
        const { name, description = null, folder } = row.document
        const { version, exportedAt, state } = await exportWorkflow(services, row)
        const folderId = folder ? folderIdOf(folder) : null
        const workflow = { id, name, description, workspaceId: row.workspaceId, folderId }
        const report = limitsResponse(await limits.report(key.userId))
        return { data: { version, exportedAt, workflow, state }, limits: report }
      },
      route({
        name: 'exportWorkflowV1',
        summary: 'Export a workflow (external API)',
        description: 'The draft in the form of Sim, as far as it can express it, without secrets.',
        tag: 'Workflows',
        access: 'external',
        responses: { 200: withLimits(ExportV1) },
        errors: ['NOT_FOUND', 'OVERLOADED'],
      }),
    )
    .post(
      '/import',
      async ({ request, set, server }) => {
        const key = await door.requireApiKey(request, set, server)
        const { workspaceId, workflow, folderId, name, description } = await readShape(
          request,
          ImportV1,
          settings.documentBody,
        )
        assertMay(key, workspaceId, 'write', 'workspace')
        const folder = folderId === undefined ? undefined : await folderWithId(services, workspaceId, folderId)
        if (folderId !== undefined && folder === undefined) throw noFolder()
        const facts = {
          ...(name !== undefined && { name }),
          ...(description !== undefined && { description }),
          ...(folder !== undefined && { folderPath: folderPathOf(folder) }),
        }
        const { row } = await importNamed(services, { workspaceId, workflow, by: key.userId, facts })
        door.note(request, { workflowId: row.id })
        set.status = 201
        const { document, createdAt, updatedAt } = row
        const named = { id: row.id, name: document.name, description: document.description ?? null, workspaceId }
        const times = { createdAt: isoTime(createdAt), updatedAt: isoTime(updatedAt) }
        const data = { ...named, folderId: document.folder ? folderIdOf(document.folder) : null, ...times }
        return { data, limits: limitsResponse(await limits.report(key.userId)) }
      },
      route({
        name: 'importWorkflowV1',
        summary: 'Import a workflow (external API)',
        description:
          'Converts a workflow file of Sim and saves it as a new workflow. 409 if the workspace has a workflow of this ' +
          'name; choose another one with `name`.',
        tag: 'Workflows',
        access: 'external',
        body: ImportV1,
        responses: { 201: withLimits(ImportedV1) },
        errors: [
          ...(['INVALID_JSON', 'INVALID_INPUT', 'PAYLOAD_TOO_LARGE'] as const),
          ...(['FORBIDDEN', 'NOT_FOUND', 'CONFLICT', 'OVERLOADED'] as const),
        ],
      }),
    )
}

function noFolder(): AppError {
  const message = 'The workspace has no folder with this folderId. GET /api/folders lists its folders.'
  return new AppError('INVALID_INPUT', message, { details: [{ path: 'folderId', message }] })
}
