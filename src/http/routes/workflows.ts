import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { AppError, type ErrorDetail } from '../../domain/errors.ts'
import { recordOf } from '../../domain/record-of.ts'
import { isObject } from '../../domain/run/input.ts'
import { assertDocumentSize } from '../../domain/workflow/document-size.ts'
import type { WorkflowRow } from '../../store/workflow-store.ts'
import { chooseWorkspace, findWorkflow, mayEdit } from '../access/auth.ts'
import type { Door } from '../access/door.ts'
import { route } from '../openapi/route.ts'
import { workflowOpenApi } from '../openapi/workflow-openapi.ts'
import { readJsonBody } from '../requests/body.ts'
import { Parameters } from '../requests/parameters.ts'
import { etagOf, revisionIn } from '../requests/revision.ts'
import { isoTime } from '../responses/schema-parts.ts'
import { savedResponse, workflowResponse } from '../responses/workflow-response.ts'
import {
  NewWorkflow,
  SavedWorkflow,
  SentDocument,
  WorkflowList,
  WorkflowResponse,
} from '../responses/workflow-schemas.ts'
import type { Services } from '../services.ts'

const WorkspaceQuery = t.Object({
  workspaceId: t.Optional(
    t.String({ description: 'When absent: the only workspace that you can see, or the only one that you own.' }),
  ),
})
const inDocument = ['INVALID_JSON', 'INVALID_INPUT', 'PAYLOAD_TOO_LARGE'] as const

/** Workflow documents: `/api/workflows`. */
export function workflowRoutes(services: Services, door: Door) {
  const { store, clock, settings, subscriptions } = services
  return new Elysia({ prefix: '/api/workflows' })
    .get(
      '',
      async ({ request, set }) => {
        const key = await door.requireKeyOrSession(request, set)
        const workspaceId = chooseWorkspace(key, workspaceParameter(request), 'read')
        const rows = await store.listWorkflows(workspaceId)
        return { data: rows.map(summaryOf) }
      },
      route({
        name: 'listWorkflows',
        summary: 'List workflows',
        description: 'The workflows of a workspace, without their blocks.',
        tag: 'Workflows',
        query: WorkspaceQuery,
        responses: { 200: WorkflowList },
        errors: ['INVALID_PARAMETERS', 'NOT_FOUND'],
      }),
    )
    .post(
      '',
      async ({ request, set }) => {
        const key = await door.requireKeyOrSession(request, set)
        const body = await readJsonBody(request, settings.documentBody)
        const workspaceId = chooseWorkspace(key, namedWorkspace(body) ?? workspaceParameter(request), 'write')
        const { document, webhooks, warnings } = await documentOf(body, workspaceId)
        const id = document.id ?? null
        const complete = await services.completeDocument(document, undefined, workspaceId)
        const row = await store.createWorkflow({
          id,
          workspaceId,
          document: complete.document,
          ...webhooks,
          by: key.userId,
          at: clock.now(),
        })
        door.note(request, { workflowId: row.id })
        set.status = 201
        return savedResponse(services, row, { warnings: [...warnings, ...complete.warnings] })
      },
      route({
        name: 'createWorkflow',
        summary: 'Create a workflow',
        description:
          'Takes a workflow document, with the workspace as its member `workspaceId` or as a parameter. Only an invalid ' +
          'shape is refused; `findings` lists what would prevent a deployment. An `id` is kept when it is free.',
        tag: 'Workflows',
        query: WorkspaceQuery,
        body: NewWorkflow,
        responses: { 201: SavedWorkflow },
        errors: [...inDocument, 'INVALID_PARAMETERS', 'FORBIDDEN', 'NOT_FOUND', 'CONFLICT'],
      }),
    )
    .get(
      '/:id',
      async ({ request, set, params }) => {
        const key = await door.requireKeyOrSession(request, set)
        const row = await findWorkflow(services, key, params.id, 'read')
        set.headers['etag'] = etagOf(row)
        return workflowResponse(services, row, mayEdit(key, row.workspaceId))
      },
      route({
        name: 'getWorkflow',
        summary: 'Get a workflow',
        tag: 'Workflows',
        responses: { 200: WorkflowResponse },
        errors: ['NOT_FOUND'],
      }),
    )
    .get(
      '/:id/openapi.json',
      async ({ request, set, params: { id } }) => {
        const key = await door.requireKeyOrSession(request, set)
        const { document, activeVersion } = await findWorkflow(services, key, id, 'read')
        const active = activeVersion === null ? undefined : await store.getDeployment(id, activeVersion)
        return workflowOpenApi(id, active?.document ?? document, active?.version ?? null, settings.baseUrl())
      },
      route({
        name: 'describeWorkflowEndpoint',
        summary: "Describe a workflow's endpoint",
        description:
          'An OpenAPI document with the input format of the active version (of the draft when nothing is deployed) as ' +
          'the schema of the body.',
        tag: 'Workflows',
        responses: { 200: recordOf(t.Unknown()) },
        errors: ['NOT_FOUND'],
      }),
    )
    .put(
      '/:id',
      async ({ request, set, params: { id } }) => {
        const key = await door.requireKeyOrSession(request, set)
        door.note(request, { workflowId: id })
        const before = await findWorkflow(services, key, id, 'write')
        const body = await readJsonBody(request, settings.documentBody)
        const { document, webhooks, warnings } = await documentOf(body, before.workspaceId)
        // The address identifies the workflow, so a document exported elsewhere can be put here.
        const complete = await services.completeDocument(document, before.document, before.workspaceId)
        const how = { by: key.userId, ifRevision: revisionIn(request.headers) }
        const row = await subscriptions.changing(id, () =>
          store.updateWorkflow(id, { ...complete.document, id }, clock.now(), webhooks?.webhooks, how),
        )
        await services.editors.saved(row)
        set.headers['etag'] = etagOf(row)
        return savedResponse(services, row, { warnings: [...warnings, ...complete.warnings] })
      },
      route({
        name: 'replaceWorkflow',
        summary: 'Replace a workflow',
        description:
          'Replaces the whole document. The active deployment keeps running until the next one. `webhooks` are replaced at ' +
          'once: an entry without `secret` keeps the stored secret of its `id`, and null removes the secret; without ' +
          'the member, all entries stay as they are. A password, token or key that is `***` keeps its stored value. With ' +
          '`If-Match` (the `ETag` of the changed document), a document ' +
          'that was saved in the meantime is not overwritten: 409.',
        tag: 'Workflows',
        body: SentDocument,
        responses: { 200: SavedWorkflow },
        errors: [...inDocument, 'INVALID_PARAMETERS', 'FORBIDDEN', 'NOT_FOUND', 'CONFLICT'],
      }),
    )
    .delete(
      '/:id',
      async ({ request, set, params: { id } }) => {
        const key = await door.requireKeyOrSession(request, set)
        door.note(request, { workflowId: id })
        await findWorkflow(services, key, id, 'write')
        await store.deleteWorkflow(id, clock.now())
        services.runsOfDeleted.look()
        services.deployments.forget(id)
        set.status = 204
      },
      route({
        name: 'deleteWorkflow',
        summary: 'Delete a workflow',
        description:
          'Its paused runs end as `CANCELLED`. Its log entries stay until retention removes them. Its name becomes free.',
        tag: 'Workflows',
        responses: {
          204: t.Void({ description: 'Deleted. Its log entries stay until retention removes them.' }),
        },
        errors: ['FORBIDDEN', 'NOT_FOUND'],
      }),
    )

  /** Reads a document, or refuses it with all errors. Its webhooks are stored separately; without any, they stay. */
  async function documentOf(body: unknown, workspaceId: string) {
    assertDocumentSize(body, settings.document)
    const reading = await services.readDocument(body, workspaceId)
    if ('details' in reading) throw refuse(reading.details)
    const { webhooks, ...document } = reading.document
    if (!webhooks) return { document, warnings: reading.warnings }
    const problems = subscriptions.findProblems(webhooks)
    if (problems.length > 0) throw refuse(problems)
    return {
      document,
      webhooks: { webhooks: subscriptions.prepare(workspaceId, webhooks) },
      warnings: reading.warnings,
    }
  }
}

function workspaceParameter(request: Request): string | undefined {
  const parameters = new Parameters(request.url)
  const workspaceId = parameters.text('workspaceId')
  parameters.assertValid()
  return workspaceId
}

/** The workspace named in a document. */
function namedWorkspace(body: unknown): string | undefined {
  const workspaceId = isObject(body) ? body['workspaceId'] : undefined
  if (workspaceId === undefined || workspaceId === null || typeof workspaceId === 'string')
    return workspaceId ?? undefined
  const details = [{ path: 'workspaceId', message: 'workspaceId must be text.' }]
  throw new AppError('INVALID_INPUT', 'The workspace of the workflow cannot be read.', { details })
}

function refuse(details: readonly ErrorDetail[]): AppError {
  const [first, ...others] = details
  const more = others.length > 0 ? ` (and ${others.length} more, see details)` : ''
  return new AppError('INVALID_INPUT', `The workflow document cannot be saved: ${first?.message}${more}`, { details })
}

function summaryOf({ id, workspaceId, document, createdAt, updatedAt, activeVersion, deployedAt }: WorkflowRow) {
  return {
    id,
    workspaceId,
    name: document.name,
    description: document.description ?? null,
    folder: document.folder ?? null,
    createdAt: isoTime(createdAt),
    updatedAt: isoTime(updatedAt),
    isDeployed: activeVersion !== null,
    version: activeVersion,
    deployedAt: deployedAt === null ? null : isoTime(deployedAt),
  }
}
