import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { AppError } from '../../../domain/errors.ts'
import { assertMay, type Caller, findWorkflow, mayEdit } from '../../access/auth.ts'
import type { Door } from '../../access/door.ts'
import { route } from '../../openapi/route.ts'
import { readOptionalShape } from '../../requests/body.ts'
import { folderAt } from '../../requests/folder-path.ts'
import { placeIn, readPageRequest, scopeOf, writePlace } from '../../requests/list-page.ts'
import { Parameters } from '../../requests/parameters.ts'
import { boundedFindings } from '../../responses/findings.ts'
import { limitsResponse } from '../../responses/limits-response.ts'
import { isoTime } from '../../responses/schema-parts.ts'
import { DeployedV1, WorkflowDetailV1, WorkflowListV1, workflowV1 } from '../../responses/v1/workflow-schemas.ts'
import { NewVersionTextsV2, RollbackV2, textOf } from '../../responses/v2/deployment-schemas.ts'
import { inWorkspace, limitAndCursor } from '../../responses/v2/page-parameters.ts'
import { detailV2 } from '../../responses/v2/workflow-schemas.ts'
import { shownWorkflow, shownWorkflows } from '../../responses/v2/workflows.ts'
import type { Services } from '../../services.ts'
import { type Deployed, deployDraft, rollBack, undeployWorkflow } from '../workflow/deploy-workflow.ts'
import { folderWithId } from '../workflow/transfer.ts'

const inBody = ['INVALID_JSON', 'INVALID_INPUT', 'PAYLOAD_TOO_LARGE', 'FORBIDDEN', 'NOT_FOUND', 'CONFLICT'] as const

/** Workflows in the shapes of Sim's first API: `/api/v1/workflows`. */
export function workflowRoutesV1(services: Services, door: Door) {
  const { store, settings } = services
  return new Elysia({ prefix: '/api/v1/workflows' })
    .get(
      '',
      async ({ request, set, server }) => {
        const key = await door.requireApiKey(request, set, server)
        const parameters = new Parameters(request.url)
        const workspaceId = parameters.required('workspaceId', 'must be given')
        const folderId = parameters.text('folderId')
        const deployedOnly = parameters.flag('deployedOnly')
        const page = readPageRequest(parameters, { sorts: ['created'], sortBy: 'created', sortOrder: 'asc', limit: 50 })
        parameters.assertValid()
        assertMay(key, workspaceId, 'read', 'workspace')
        const scope = scopeOf('v1 workflows', page, [workspaceId, folderId, deployedOnly])
        const after = placeIn(page, scope)
        const folder = folderId === undefined ? undefined : await folderWithId(services, workspaceId, folderId)
        const isUnknown = folderId !== undefined && folder === undefined
        const wanted = { workspaceId, folder, deployedOnly, sort: page.sortBy, order: page.sortOrder } as const
        const from = after && { key: after[0], number: Number(after[1]) }
        const places = isUnknown ? [] : await store.pageWorkflows({ ...wanted, after: from, limit: page.limit + 1 })
        const listed = places.slice(0, page.limit)
        const last = listed.at(-1)
        const shown = await shownWorkflows(services, workspaceId, listed)
        return {
          data: shown.map((each) => workflowV1(each, folderAt(each.folderPath))),
          nextCursor: last && places.length > listed.length ? writePlace([last.key, last.number], scope) : null,
          limits: await limitsOf(key),
        }
      },
      route({
        name: 'listWorkflowsV1',
        summary: 'List workflows (external API)',
        description: 'In the order of creation.',
        tag: 'Workflows',
        access: 'external',
        query: t.Object({
          ...inWorkspace,
          folderId: t.Optional(t.String({ description: 'Workflows directly in this folder.' })),
          deployedOnly: t.Optional(t.Boolean({ description: 'Only workflows with an active version.' })),
          ...limitAndCursor(50),
        }),
        responses: { 200: WorkflowListV1 },
        errors: ['INVALID_PARAMETERS', 'INVALID_CURSOR', 'NOT_FOUND'],
      }),
    )
    .get(
      '/:id',
      async ({ request, set, server, params: { id } }) => {
        const key = await door.requireApiKey(request, set, server)
        const row = await findWorkflow(services, key, id, 'read')
        const document = await services.secrets.shown(row.document, row.workspaceId, mayEdit(key, row.workspaceId))
        const detail = detailV2(await shownWorkflow(services, row), document)
        return { data: workflowV1(detail, document.folder), limits: await limitsOf(key) }
      },
      route({
        name: 'getWorkflowV1',
        summary: 'Get a workflow (external API)',
        tag: 'Workflows',
        access: 'external',
        responses: { 200: WorkflowDetailV1 },
        errors: ['NOT_FOUND'],
      }),
    )
    .post(
      '/:id/deploy',
      async ({ request, set, server, params: { id } }) => {
        const key = await door.requireApiKey(request, set, server)
        door.note(request, { workflowId: id })
        const row = await findWorkflow(services, key, id, 'write')
        const texts = await readOptionalShape(request, NewVersionTextsV2, settings.body)
        return deployedResponse(key, id, await deployDraft(services, row, key.userId, texts))
      },
      route({
        name: 'deployWorkflowV1',
        summary: 'Deploy a workflow (external API)',
        description: 'Copies the draft to a new version and makes it the active one. The body may be empty.',
        tag: 'Deployments',
        access: 'external',
        body: NewVersionTextsV2,
        isBodyOptional: true,
        responses: { 200: DeployedV1 },
        errors: inBody,
      }),
    )
    .delete(
      '/:id/deploy',
      async ({ request, set, server, params: { id } }) => {
        const key = await door.requireApiKey(request, set, server)
        door.note(request, { workflowId: id })
        const { activeVersion } = await findWorkflow(services, key, id, 'write')
        if (activeVersion === null) throw new AppError('INVALID_INPUT', 'The workflow is not deployed.')
        await undeployWorkflow(services, id)
        return { data: { id, isDeployed: false, deployedAt: null, warnings: [] }, limits: await limitsOf(key) }
      },
      route({
        name: 'undeployWorkflowV1',
        summary: 'Undeploy a workflow (external API)',
        tag: 'Deployments',
        access: 'external',
        responses: { 200: DeployedV1 },
        errors: ['INVALID_INPUT', 'FORBIDDEN', 'NOT_FOUND'],
      }),
    )
    .post(
      '/:id/rollback',
      async ({ request, set, server, params: { id } }) => {
        const key = await door.requireApiKey(request, set, server)
        door.note(request, { workflowId: id })
        const row = await findWorkflow(services, key, id, 'write')
        const { version } = await readOptionalShape(request, RollbackV2, settings.body)
        return deployedResponse(key, id, await rollBack(services, row, version))
      },
      route({
        name: 'rollBackWorkflowV1',
        summary: 'Make an earlier version the active one (external API)',
        description: 'The body may be empty.',
        tag: 'Deployments',
        access: 'external',
        body: RollbackV2,
        isBodyOptional: true,
        responses: { 200: DeployedV1 },
        errors: inBody,
      }),
    )

  async function deployedResponse(key: Caller, id: string, { version, at, check }: Deployed) {
    const warnings = boundedFindings(check.findings).map(textOf)
    return { data: { id, isDeployed: true, deployedAt: isoTime(at), version, warnings }, limits: await limitsOf(key) }
  }

  async function limitsOf({ userId }: Caller) {
    return limitsResponse(await services.limits.report(userId))
  }
}
