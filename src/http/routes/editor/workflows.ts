import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { AppError } from '../../../domain/errors.ts'
import { assertDocumentSize } from '../../../domain/workflow/document-size.ts'
import { folderProblem } from '../../../domain/workflow/folders.ts'
import { WorkflowDocument } from '../../../domain/workflow/workflow.ts'
import type { DeletedWorkflow } from '../../../store/dashboard-store.ts'
import { assertMay, chooseWorkspace, findWorkflow } from '../../access/auth.ts'
import type { Door } from '../../access/door.ts'
import { editorRoute } from '../../openapi/route.ts'
import { readJsonBody, readShape } from '../../requests/body.ts'
import { Parameters } from '../../requests/parameters.ts'
import { freshCopy, nameOfCopy } from '../../requests/workflow-copy.ts'
import { boundedFindings, findingsMax } from '../../responses/findings.ts'
import { isoTime, listOf, maybe, Time } from '../../responses/schema-parts.ts'
import { triggerFacts } from '../../responses/trigger-facts.ts'
import { CheckResponse, SentDocument } from '../../responses/workflow-schemas.ts'
import type { Services } from '../../services.ts'

const { name, folder, description } = WorkflowDocument.properties
const Facts = t.Object({
  name: t.Optional(name),
  folder: t.Optional(maybe(folder)),
  description: t.Optional(maybe(description)),
})
const Copy = t.Object({ name: t.Optional(name), folder: t.Optional(maybe(folder)) })
const Named = t.Object({ id: t.String(), name: t.String(), folder: maybe(t.String()), revision: t.Integer() })
const Deleted = t.Object({ id: t.String(), name: t.String(), folder: maybe(t.String()), deletedAt: Time })
const Restored = t.Object({
  id: t.String(),
  version: maybe(t.Integer({ description: 'The version that was activated again.' })),
  reason: maybe(t.String({ description: 'Why the previously active version could not be activated.' })),
})
const FolderMove = t.Object({
  workspaceId: t.String(),
  path: t.String({ minLength: 1 }),
  to: t.Union([folder, t.Null()], { description: 'Null: in no folder.' }),
})

const inBody = ['INVALID_JSON', 'INVALID_INPUT', 'PAYLOAD_TOO_LARGE'] as const
const deletedMax = 100

/** Actions on workflows other than editing and deploying. */
export function editorWorkflowRoutes(services: Services, door: Door) {
  const { store, clock, settings } = services
  return new Elysia()
    .patch(
      '/workflows/:id',
      async ({ request, set, params: { id } }) => {
        const caller = await door.requireSession(request, set)
        const { document, workspaceId, revision } = await findWorkflow(services, caller, id, 'write')
        const facts = await readShape(request, Facts, settings.body)
        const save = { by: caller.userId, ifRevision: revision }
        // An older key may have encrypted its secrets, and may be removed soon.
        const sealed = await services.secrets.sealed(document, workspaceId)
        const row = await store.updateWorkflow(id, withFacts(sealed, facts), clock.now(), undefined, save)
        await services.editors.saved(row)
        return namedOf(row.document, id, row.revision)
      },
      editorRoute({
        name: 'describeWorkflow',
        summary: 'Rename, move or describe a workflow',
        description: 'An absent member stays as it is; null removes it.',
        body: Facts,
        responses: { 200: Named },
        errors: [...inBody, 'NOT_FOUND', 'CONFLICT'],
      }),
    )
    .post(
      '/workflows/:id/duplicate',
      async ({ request, set, params: { id } }) => {
        const caller = await door.requireSession(request, set)
        const { document, workspaceId } = await findWorkflow(services, caller, id, 'write')
        const wanted = await readShape(request, Copy, settings.body)
        const taken = (await store.listWorkflows(workspaceId)).map((row) => row.document.name)
        const facts = { ...wanted, name: wanted.name ?? nameOfCopy(document.name, taken) }
        const fresh = withFacts(freshCopy(await services.secrets.shown(document, workspaceId, true)), facts)
        const { document: copy } = await services.completeDocument(fresh, undefined, workspaceId)
        const made = { id: null, workspaceId, document: copy, by: caller.userId, at: clock.now(), copyOf: id }
        const row = await store.createWorkflow(made)
        set.status = 201
        return namedOf(row.document, row.id, row.revision)
      },
      editorRoute({
        name: 'duplicateWorkflow',
        summary: 'Copy a workflow',
        description:
          'Copies the draft, with addresses of its own and without webhooks, and the pinned outputs and tests. The copy ' +
          'is not deployed.',
        body: Copy,
        responses: { 201: Named },
        errors: [...inBody, 'NOT_FOUND', 'CONFLICT'],
      }),
    )
    .post(
      '/workflows/:id/check',
      async ({ request, set, params: { id } }) => {
        const caller = await door.requireSession(request, set)
        const { workspaceId, document: stored } = await findWorkflow(services, caller, id, 'read')
        const body = await readJsonBody(request, settings.documentBody)
        assertDocumentSize(body, settings.document)
        const reading = await services.readDocument(body, workspaceId)
        if ('details' in reading) throw unreadable(reading.details)
        const { document, warnings } = await services.secrets.restored(reading.document, stored, workspaceId)
        const check = await services.checkWorkflow(document, workspaceId)
        return {
          findings: boundedFindings([...check.findings, ...reading.warnings, ...warnings]),
          ...triggerFacts(check, settings),
        }
      },
      editorRoute({
        name: 'checkWorkflow',
        summary: 'Check a document without saving it',
        description: `At most ${findingsMax} findings. If there are more, errors come first and the last one counts the others.`,
        body: SentDocument,
        responses: { 200: CheckResponse },
        errors: [...inBody, 'NOT_FOUND'],
      }),
    )
    .get(
      '/workflows/deleted',
      async ({ request, set }) => {
        const caller = await door.requireSession(request, set)
        const parameters = new Parameters(request.url)
        const named = parameters.text('workspaceId')
        parameters.assertValid()
        const rows = await store.listDeletedWorkflows(chooseWorkspace(caller, named, 'read'), deletedMax)
        return {
          data: rows.map(({ id, document, deletedAt }) => {
            return { id, name: document.name, folder: document.folder ?? null, deletedAt: isoTime(deletedAt) }
          }),
        }
      },
      editorRoute({
        name: 'listDeletedWorkflows',
        summary: 'List deleted workflows, newest first',
        description: `The last ${deletedMax}. Takes \`workspaceId\`.`,
        responses: { 200: listOf(Deleted) },
        errors: ['INVALID_PARAMETERS', 'NOT_FOUND'],
      }),
    )
    .post(
      '/workflows/:id/restore',
      async ({ request, set, params: { id } }) => {
        const caller = await door.requireSession(request, set)
        const deleted = await store.findDeletedWorkflow(id)
        assertMay(caller, deleted?.workspaceId, 'write', 'deleted workflow')
        await store.restoreWorkflow(id)
        return { id, ...(await activateAgain(deleted as DeletedWorkflow)) }
      },
      editorRoute({
        name: 'restoreWorkflow',
        summary: 'Undo the deletion of a workflow',
        description: 'The previously active version is activated again, if that is still possible.',
        responses: { 200: Restored },
        errors: ['NOT_FOUND', 'CONFLICT'],
      }),
    )
    .post(
      '/folders/move',
      async ({ request, set }) => {
        const caller = await door.requireSession(request, set)
        const { workspaceId, path, to } = await readShape(request, FolderMove, settings.body)
        assertMay(caller, workspaceId, 'write', 'workspace')
        const moved = await store.moveFolder(workspaceId, path, tidied(to), clock.now(), caller.userId)
        if (moved === 0) throw new AppError('NOT_FOUND', `There is no folder ${path} in this workspace.`)
        return { moved }
      },
      editorRoute({
        name: 'moveFolder',
        summary: 'Rename or move a folder with its subfolders',
        body: FolderMove,
        responses: {
          200: t.Object({ moved: t.Integer({ description: 'Number of workflows that were moved.' }) }),
        },
        errors: [...inBody, 'NOT_FOUND'],
      }),
    )

  async function activateAgain({ id, workspaceId, version }: DeletedWorkflow) {
    const found = version === null ? undefined : await store.getDeployment(id, version)
    if (!found) return { version: null, reason: null }
    try {
      const { findings, registrations } = await services.checkWorkflow(found.document, workspaceId)
      const problem = findings.find(({ level }) => level === 'error')
      if (problem) return { version: null, reason: problem.message }
      await store.activate(id, found.version, clock.now(), registrations)
      services.deployments.forget(id)
      return { version: found.version, reason: null }
    } catch (error) {
      // Another workflow has one of its addresses now.
      if (error instanceof AppError && error.code === 'CONFLICT') return { version: null, reason: error.message }
      throw error
    }
  }
}

type FactsOf = { name?: string; folder?: string | null; description?: string | null }

function withFacts(document: WorkflowDocument, { name, folder, description }: FactsOf): WorkflowDocument {
  const changed = { ...document, ...(name === undefined ? {} : { name }) }
  if (folder !== undefined) changed.folder = tidied(folder) ?? ''
  if (description !== undefined) changed.description = description ?? ''
  const { folder: at, description: text, ...rest } = changed
  return { ...rest, ...(text ? { description: text } : {}), ...(at ? { folder: at } : {}) }
}

/** `/a//b/` → `a/b`; null when nothing is left. Throws INVALID_INPUT for a path with too many levels. */
function tidied(path: string | null | undefined): string | null {
  const steps = (path ?? '').split('/').map((step) => step.trim())
  const folder = steps.filter((step) => step !== '').join('/')
  const message = folderProblem(folder)
  if (message !== undefined) throw new AppError('INVALID_INPUT', message, { details: [{ path: 'folder', message }] })
  return folder || null
}

function namedOf({ name, folder }: WorkflowDocument, id: string, revision: number) {
  return { id, name, folder: folder ?? null, revision }
}

function unreadable(details: readonly { path: string; message: string }[]): AppError {
  return new AppError('INVALID_INPUT', `The workflow document cannot be read: ${details[0]?.message}`, { details })
}
