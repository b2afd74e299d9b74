import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { AppError } from '../../domain/errors.ts'
import { runAlike } from '../../domain/workflow/redeployment.ts'
import type { WorkflowDocument } from '../../domain/workflow/workflow.ts'
import type { DeploymentRow } from '../../store/workflow-store.ts'
import { findWorkflow, mayEdit } from '../access/auth.ts'
import type { Door } from '../access/door.ts'
import { route } from '../openapi/route.ts'
import { readOptionalShape, readShape } from '../requests/body.ts'
import { assertRevision, etagOf, revisionIn } from '../requests/revision.ts'
import { boundedFindings } from '../responses/findings.ts'
import { findingsError } from '../responses/findings-error.ts'
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

const Texts = t.Object({
  name: t.Optional(t.Union([t.String({ maxLength: 200 }), t.Null()])),
  description: t.Optional(t.Union([t.String({ maxLength: 10_000 }), t.Null()])),
})

/** Versions of workflows, and which one is active. */
export function deploymentRoutes(services: Services, door: Door) {
  const { store, clock, settings, secrets } = services
  const inClear = (document: WorkflowDocument, workspaceId: string) => secrets.shown(document, workspaceId, true)
  return new Elysia({ prefix: '/api/workflows/:id' })
    .post(
      '/deploy',
      async ({ request, set, params: { id } }) => {
        const key = await door.requireKeyOrSession(request, set)
        door.note(request, { workflowId: id })
        const { document, workspaceId, revision } = await findWorkflow(services, key, id, 'write')
        assertRevision(request.headers, revision)
        const texts = await readOptionalShape(request, Texts, settings.body)
        const check = await services.checkWorkflow(document, workspaceId)
        const { findings, registrations } = check
        if (findings.some(({ level }) => level === 'error')) throw findingsError(findings, 'deployed')
        const row = await store.deploy(
          id,
          await secrets.sealed(document, workspaceId),
          clock.now(),
          key.userId,
          registrations,
          texts,
        )
        services.deployments.forget(id)
        return {
          version: row.version,
          deployedAt: isoTime(row.createdAt),
          warnings: boundedFindings(findings),
          ...triggerFacts(check, settings),
        }
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
        await store.undeploy(id)
        services.deployments.forget(id)
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
        const { document, activeVersion, deployedAt, workspaceId } = await findWorkflow(services, key, id, 'read')
        const active = activeVersion === null ? undefined : await store.getDeployment(id, activeVersion)
        const check = active && (await services.checkWorkflow(active.document, workspaceId))
        return {
          isDeployed: active !== undefined,
          deployedAt: active === undefined || deployedAt === null ? null : isoTime(deployedAt),
          needsRedeployment:
            active !== undefined &&
            !runAlike(await inClear(document, workspaceId), await inClear(active.document, workspaceId)),
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
        return responseOf(await findVersion(params.id, params.version), workspaceId, mayEdit(key, workspaceId))
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
        const { version } = await findVersion(params.id, params.version)
        await store.describeDeployment(params.id, version, texts)
        return responseOf(await findVersion(params.id, params.version), workspaceId, true)
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
        const { version, document } = await findVersion(id, text)
        // An old version may no longer be valid: a block type was removed, or a limit was lowered.
        const check = await services.checkWorkflow(document, workspaceId)
        const { findings, registrations } = check
        if (findings.some(({ level }) => level === 'error')) throw findingsError(findings, 'deployed')
        const at = clock.now()
        await store.activate(id, version, at, registrations)
        services.deployments.forget(id)
        return {
          version,
          deployedAt: isoTime(at),
          warnings: boundedFindings(findings),
          ...triggerFacts(check, settings),
        }
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
        const { document: draft, workspaceId, revision } = await findWorkflow(services, key, id, 'write')
        // Without the header, only a save during this request is not overwritten.
        const save = { by: key.userId, ifRevision: revisionIn(request.headers) ?? revision }
        const { document } = await findVersion(id, text)
        // Members that belong to the workflow and not to a version stay as they are.
        const { name, folder } = draft
        const kept = { name, ...(folder === undefined ? {} : { folder }) }
        const restored = { ...(await secrets.sealed(document, workspaceId)), ...kept, id }
        const row = await store.updateWorkflow(id, restored, clock.now(), undefined, save)
        await services.editors.saved(row)
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

  async function findVersion(id: string, text: string): Promise<DeploymentRow> {
    const row = /^[1-9]\d{0,8}$/.test(text) ? await store.getDeployment(id, Number(text)) : undefined
    if (row) return row
    throw new AppError('NOT_FOUND', 'This workflow has no such version. GET …/deployments lists its versions.')
  }
}

function factsOf({ createdAt, active, document: _, ...facts }: DeploymentRow) {
  return { ...facts, createdAt: isoTime(createdAt), isActive: active }
}
