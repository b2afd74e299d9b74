import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { AppError } from '../../../domain/errors.ts'
import { oneOf } from '../../../domain/one-of.ts'
import type { WorkflowPlace, WorkflowSort } from '../../../store/workflow-store.ts'
import { assertMay, findWorkflow, mayEdit } from '../../access/auth.ts'
import type { Door } from '../../access/door.ts'
import { enterV2 } from '../../access/enter-v2.ts'
import { routeV2 } from '../../openapi/route-v2.ts'
import { readShape } from '../../requests/body.ts'
import { folderAt, folderPathOf, folderPathRule } from '../../requests/folder-path.ts'
import { type PageRequest, placeIn, readPageRequest, scopeOf, writePlace } from '../../requests/list-page.ts'
import { Parameters } from '../../requests/parameters.ts'
import { changedFacts, folderIn, newDocument } from '../../requests/workflow-facts.ts'
import { dataOf, pageOf } from '../../responses/v2/envelope.ts'
import { inWorkspace, pageParameters } from '../../responses/v2/page-parameters.ts'
import {
  blockNamesOf,
  CreatedWorkflowV2,
  DeletedWorkflowV2,
  detailV2,
  MovedV2,
  MoveV2,
  NewWorkflowV2,
  WorkflowChangeV2,
  WorkflowDetailV2,
  WorkflowV2,
} from '../../responses/v2/workflow-schemas.ts'
import { shownWorkflow, shownWorkflows } from '../../responses/v2/workflows.ts'
import type { Services } from '../../services.ts'

const sorts = ['position', 'name', 'createdAt', 'updatedAt'] as const
const sortNames: Readonly<Record<(typeof sorts)[number], WorkflowSort>> = {
  position: 'created',
  name: 'name',
  createdAt: 'created',
  updatedAt: 'updated',
}
const inBody = ['INVALID_JSON', 'INVALID_INPUT', 'PAYLOAD_TOO_LARGE', 'FORBIDDEN', 'NOT_FOUND', 'CONFLICT'] as const
const searchCharsMax = 200

/** Workflows in Sim's shapes: `/api/v2/workflows`. */
export function workflowRoutesV2(services: Services, door: Door) {
  const { store, clock, settings } = services
  return new Elysia({ prefix: '/api/v2/workflows' })
    .get(
      '',
      async (context) => {
        const key = await enterV2(door, context)
        const wanted = readListRequest(context.request.url)
        const { workspaceId, folder, deployedOnly, search, page } = wanted
        assertMay(key, workspaceId, 'read', 'workspace')
        const scope = scopeOf('workflows', page, [workspaceId, folder, deployedOnly, search])
        const after = placeIn(page, scope)
        const places = await store.pageWorkflows({
          ...{ workspaceId, folder, deployedOnly, search },
          ...{ sort: sortNames[page.sortBy], order: page.sortOrder, limit: page.limit + 1 },
          after: after && { key: after[0], number: Number(after[1]) },
        })
        const shown = places.slice(0, page.limit)
        return {
          data: await shownWorkflows(services, workspaceId, shown),
          nextCursor: places.length > shown.length ? cursorAfter(shown, scope) : null,
        }
      },
      routeV2({
        name: 'listWorkflowsV2',
        summary: 'List workflows',
        description:
          'Workflows cannot be sorted by `runCount`. `position` is the order of creation. Upper and lower case of the ' +
          'letters A to Z are the same for `search`.',
        query: t.Object({
          ...inWorkspace,
          scope: t.Optional(oneOf(['active'], { description: 'Deleted workflows are not listed.' })),
          folderPath: t.Optional(t.String({ description: 'Workflows directly in this folder; `/`: in no folder.' })),
          deployedOnly: t.Optional(t.Boolean({ description: 'Only workflows with an active version.' })),
          search: t.Optional(t.String({ maxLength: searchCharsMax, description: 'A part of the name.' })),
          ...pageParameters(sorts, 'position', 'asc', 50),
        }),
        responses: { 200: pageOf(WorkflowV2) },
        errors: ['INVALID_PARAMETERS', 'INVALID_CURSOR', 'NOT_FOUND'],
      }),
    )
    .post(
      '',
      async (context) => {
        const key = await enterV2(door, context)
        const facts = await readShape(context.request, NewWorkflowV2, settings.body)
        assertMay(key, facts.workspaceId, 'write', 'workspace')
        const { workspaceId } = facts
        const document = await newDocument(services, facts)
        const row = await store.createWorkflow({ id: null, workspaceId, document, by: key.userId, at: clock.now() })
        door.note(context.request, { workflowId: row.id })
        context.set.status = 201
        return { data: { ...(await shownWorkflow(services, row)), blocks: blockNamesOf(row.document) } }
      },
      routeV2({
        name: 'createWorkflowV2',
        summary: 'Create a workflow',
        description: 'It has an API trigger and no other block.',
        body: NewWorkflowV2,
        responses: { 201: dataOf(CreatedWorkflowV2) },
        errors: inBody,
      }),
    )
    .post(
      '/move',
      async (context) => {
        const key = await enterV2(door, context)
        const { workspaceId, workflowIds, folderPath } = await readShape(context.request, MoveV2, settings.body)
        assertMay(key, workspaceId, 'write', 'workspace')
        const folder = folderIn(folderPath, 'folderPath')
        const outcomes: [id: string, isMoved: boolean][] = []
        for (const id of new Set(workflowIds)) {
          outcomes.push([id, await move(id, { workspaceId, folderPath, by: key.userId })])
        }
        const those = (wanted: boolean) => outcomes.flatMap(([id, isMoved]) => (isMoved === wanted ? [id] : []))
        return { data: { moved: those(true), failed: those(false), folderPath: folderPathOf(folder) } }
      },
      routeV2({
        name: 'moveWorkflowsV2',
        summary: 'Move workflows to a folder',
        body: MoveV2,
        responses: { 200: dataOf(MovedV2) },
        errors: ['INVALID_JSON', 'INVALID_INPUT', 'PAYLOAD_TOO_LARGE', 'FORBIDDEN', 'NOT_FOUND'],
      }),
    )
    .get(
      '/:id',
      async ({ params: { id }, ...context }) => {
        const key = await enterV2(door, context)
        const row = await findWorkflow(services, key, id, 'read')
        const { workspaceId } = row
        const document = await services.secrets.shown(row.document, workspaceId, mayEdit(key, workspaceId))
        return { data: detailV2(await shownWorkflow(services, row), document) }
      },
      routeV2({
        name: 'getWorkflowV2',
        summary: 'Get a workflow',
        responses: { 200: dataOf(WorkflowDetailV2) },
        errors: ['NOT_FOUND'],
      }),
    )
    .patch(
      '/:id',
      async ({ params: { id }, ...context }) => {
        const key = await enterV2(door, context)
        door.note(context.request, { workflowId: id })
        const { document, workspaceId, revision } = await findWorkflow(services, key, id, 'write')
        const change = await readShape(context.request, WorkflowChangeV2, settings.body)
        const changed = await changedFacts(services, document, workspaceId, change)
        // Only a save during this request is not overwritten.
        const how = { by: key.userId, ifRevision: revision }
        const row = await store.updateWorkflow(id, { ...changed, id }, clock.now(), undefined, how)
        await services.editors.saved(row)
        return { data: await shownWorkflow(services, row) }
      },
      routeV2({
        name: 'changeWorkflowV2',
        summary: 'Rename, describe or move a workflow',
        body: WorkflowChangeV2,
        responses: { 200: dataOf(WorkflowV2) },
        errors: inBody,
      }),
    )
    .delete(
      '/:id',
      async ({ params: { id }, ...context }) => {
        const key = await enterV2(door, context)
        door.note(context.request, { workflowId: id })
        await findWorkflow(services, key, id, 'write')
        await store.deleteWorkflow(id, clock.now())
        services.runsOfDeleted.look()
        services.deployments.forget(id)
        return { data: { id, deleted: true as const, archived: true as const } }
      },
      routeV2({
        name: 'deleteWorkflowV2',
        summary: 'Delete a workflow',
        description: 'Its paused runs end as cancelled. The dashboard can restore it.',
        responses: { 200: dataOf(DeletedWorkflowV2) },
        errors: ['FORBIDDEN', 'NOT_FOUND'],
      }),
    )

  /** False if the workspace has no such workflow, or somebody saved it meanwhile. */
  async function move(
    id: string,
    { workspaceId, folderPath, by }: { workspaceId: string; folderPath: string; by: string },
  ): Promise<boolean> {
    const row = await store.getWorkflow(id)
    if (row?.workspaceId !== workspaceId) return false
    const moved = await changedFacts(services, row.document, workspaceId, { folderPath })
    try {
      const how = { by, ifRevision: row.revision }
      await services.editors.saved(await store.updateWorkflow(id, { ...moved, id }, clock.now(), undefined, how))
      return true
    } catch (error) {
      if (error instanceof AppError && (error.code === 'CONFLICT' || error.code === 'NOT_FOUND')) return false
      throw error
    }
  }
}

type ListRequest = {
  workspaceId: string
  folder: string | null | undefined
  deployedOnly: boolean
  search: string | undefined
  page: PageRequest<(typeof sorts)[number]>
}

function readListRequest(url: string): ListRequest {
  const parameters = new Parameters(url)
  const workspaceId = parameters.required('workspaceId', 'must be given')
  parameters.oneOf('scope', ['active'])
  const path = parameters.text('folderPath')
  const folder = path === undefined ? undefined : folderAt(path)
  if (path !== undefined && folder === undefined) parameters.missing('folderPath', `must be ${folderPathRule}`)
  const deployedOnly = parameters.flag('deployedOnly')
  const search = parameters.shortText('search', searchCharsMax)
  const page = readPageRequest(parameters, { sorts, sortBy: 'position', sortOrder: 'asc', limit: 50 })
  parameters.assertValid()
  return { workspaceId, folder, deployedOnly, search, page }
}

function cursorAfter(places: readonly WorkflowPlace[], scope: string): string {
  const { key, number } = places.at(-1)!
  return writePlace([key, number], scope)
}
