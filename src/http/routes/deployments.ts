import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { DeploymentRow } from '../../store/workflow-store.ts'
import { findWorkflow, mayEdit } from '../access/auth.ts'
import type { Door } from '../access/door.ts'
import { route } from '../openapi/route.ts'
import { readOptionalShape, readShape } from '../requests/body.ts'
import { assertRevision, etagOf, revisionIn } from '../requests/revision.ts'
import { boundedFindings } from '../responses/findings.ts'
import { isoTime } from '../responses/schema-parts.ts'
import { triggerFacts } from '../responses/trigger-facts.ts'
import { savedResponse } from '../responses/workflow-response.ts'
import {
  DeploymentList,
  DeploymentResponse,
  DeployResponse,
  SavedWorkflow,
  StatusResponse,
} from '../responses/workflow-schemas.ts'
import type { Services } from '../services.ts'
import {
  activateVersion,
  type Deployed,
  deployDraft,
  findVersion,
  loadVersion,
  needsRedeployment,
  undeployWorkflow,
} from './workflow/deploy-workflow.ts'

const Texts = t.Object({
  name: t.Optional(t.Union([t.String({ maxLength: 200 }), t.Null()])),
  description: t.Optional(t.Union([t.String({ maxLength: 10_000 }), t.Null()])),
})

/** Versions of workflows, and which one is active. */
export function deploymentRoutes(services: Services, door: Door) {
  const { store, settings, secrets } = services
  return new Elysia({ prefix: '/api/workflows/:id' })
    .post(
      '/deploy',
      async ({ request, set, params: { id } }) => {
        const key = await door.requireKeyOrSession(request, set)
        door.note(request, { workflowId: id })
        const row = await findWorkflow(services, key, id, 'write')
        assertRevision(request.headers, row.revision)
        const texts = await readOptionalShape(request, Texts, settings.body)
        return deployedResponse(await deployDraft(services, row, key.userId, texts))
      },
      route({
        name: 'deployWorkflow',
        summary: 'Deploy a workflow',
        description:
          'Copies the draft to a new version and makes it the active one, unless a finding prevents it, or the path of ' +
          'a webhook or the identifier of a chat belongs to another workflow. The body may be empty, or give the version ' +
          'a name and a description.',
        tag: 'Deployments',
        body: Texts,
        isBodyOptional: true,
        responses: { 200: DeployResponse },
        errors: [
          ...(['INVALID_PARAMETERS', 'INVALID_JSON', 'INVALID_INPUT', 'PAYLOAD_TOO_LARGE'] as const),
          ...(['FORBIDDEN', 'NOT_FOUND', 'CONFLICT'] as const),
        ],
      }),
    )
    .delete(
      '/deploy',
      async ({ request, set, params: { id } }) => {
        const key = await door.requireKeyOrSession(request, set)
        door.note(request, { workflowId: id })
        await findWorkflow(services, key, id, 'write')
        await undeployWorkflow(services, id)
        set.status = 204
      },
      route({
        name: 'undeployWorkflow',
        summary: 'Undeploy a workflow',
        description: 'No version is active afterwards; the versions are kept.',
        tag: 'Deployments',
        responses: { 204: t.Void({ description: 'No version is active any more.' }) },
        errors: ['FORBIDDEN', 'NOT_FOUND'],
      }),
    )
    .get(
      '/status',
      async ({ request, set, params: { id } }) => {
        const key = await door.requireKeyOrSession(request, set)
        const row = await findWorkflow(services, key, id, 'read')
        const { activeVersion, deployedAt, workspaceId } = row
        const active = activeVersion === null ? undefined : await store.getDeployment(id, activeVersion)
        const check = active && (await services.checkWorkflow(active.document, workspaceId))
        return {
          isDeployed: active !== undefined,
          deployedAt: active === undefined || deployedAt === null ? null : isoTime(deployedAt),
          needsRedeployment: await needsRedeployment(services, row, active),
          version: active?.version ?? null,
          ...(active?.document.limits && { starts: services.startsOf(id) }),
          ...(check && triggerFacts(check, settings)),
        }
      },
      route({
        name: 'getWorkflowStatus',
        summary: 'Get the deployment status of a workflow',
        description:
          '`needsRedeployment`: the draft would run differently from the active version. Positions and sample values ' +
          'of input fields do not count.',
        tag: 'Deployments',
        responses: { 200: StatusResponse },
        errors: ['NOT_FOUND'],
      }),
    )
    .get(
      '/deployments',
      async ({ request, set, params: { id } }) => {
        const key = await door.requireKeyOrSession(request, set)
        await findWorkflow(services, key, id, 'read')
        const rows = await store.listDeployments(id)
        return { data: rows.map(factsOf) }
      },
      route({
        name: 'listVersions',
        summary: 'List the versions of a workflow',
        tag: 'Deployments',
        responses: { 200: DeploymentList },
        errors: ['NOT_FOUND'],
      }),
    )
    .get(
      '/deployments/:version',
      async ({ request, set, params }) => {
        const key = await door.requireKeyOrSession(request, set)
        const { workspaceId } = await findWorkflow(services, key, params.id, 'read')
        return responseOf(
          await findVersion(services, params.id, params.version),
          workspaceId,
          mayEdit(key, workspaceId),
        )
      },
      route({
        name: 'getVersion',
        summary: 'Get a version of a workflow',
        tag: 'Deployments',
        responses: { 200: DeploymentResponse },
        errors: ['NOT_FOUND'],
      }),
    )
    .patch(
      '/deployments/:version',
      async ({ request, set, params }) => {
        const key = await door.requireKeyOrSession(request, set)
        const { workspaceId } = await findWorkflow(services, key, params.id, 'write')
        const texts = await readShape(request, Texts, settings.body)
        const { version } = await findVersion(services, params.id, params.version)
        await store.describeDeployment(params.id, version, texts)
        return responseOf(await findVersion(services, params.id, params.version), workspaceId, true)
      },
      route({
        name: 'describeVersion',
        summary: 'Name or describe a version',
        description: 'An absent member stays as it is; null removes it.',
        tag: 'Deployments',
        body: Texts,
        responses: { 200: DeploymentResponse },
        errors: ['INVALID_JSON', 'INVALID_INPUT', 'PAYLOAD_TOO_LARGE', 'FORBIDDEN', 'NOT_FOUND'],
      }),
    )
    .post(
      '/deployments/:version/activate',
      async ({ request, set, params: { id, version: text } }) => {
        const key = await door.requireKeyOrSession(request, set)
        door.note(request, { workflowId: id })
        const { workspaceId } = await findWorkflow(services, key, id, 'write')
        return deployedResponse(await activateVersion(services, workspaceId, await findVersion(services, id, text)))
      },
      route({
        name: 'activateVersion',
        summary: 'Make a version the active one',
        tag: 'Deployments',
        responses: { 200: DeployResponse },
        errors: ['INVALID_INPUT', 'FORBIDDEN', 'NOT_FOUND', 'CONFLICT'],
      }),
    )
    .post(
      '/deployments/:version/revert',
      async ({ request, set, params: { id, version: text } }) => {
        const key = await door.requireKeyOrSession(request, set)
        door.note(request, { workflowId: id })
        const workflow = await findWorkflow(services, key, id, 'write')
        // Without the header, only a save during this request is not overwritten.
        const save = { by: key.userId, ifRevision: revisionIn(request.headers) ?? workflow.revision }
        const row = await loadVersion(services, workflow, await findVersion(services, id, text), save)
        set.headers['etag'] = etagOf(row)
        return savedResponse(services, row)
      },
      route({
        name: 'revertToVersion',
        summary: 'Load a version back into the draft',
        description:
          "The active version keeps running. The workflow's name, folder and webhooks stay as they are. With `If-Match` " +
          '(the `ETag` of the draft), a draft that was saved in the meantime is not overwritten: 409.',
        tag: 'Deployments',
        responses: { 200: SavedWorkflow },
        errors: ['INVALID_PARAMETERS', 'FORBIDDEN', 'NOT_FOUND', 'CONFLICT'],
      }),
    )

  async function responseOf(row: DeploymentRow, workspaceId: string, seesSecrets: boolean) {
    return { ...factsOf(row), document: await secrets.shown(row.document, workspaceId, seesSecrets) }
  }

  function deployedResponse({ version, at, check }: Deployed) {
    return {
      version,
      deployedAt: isoTime(at),
      warnings: boundedFindings(check.findings),
      ...triggerFacts(check, settings),
    }
  }
}

function factsOf({ createdAt, active, document: _, ...facts }: DeploymentRow) {
  return { ...facts, createdAt: isoTime(createdAt), isActive: active }
}
