import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { AppError } from '../../../domain/errors.ts'
import type { DeploymentRow } from '../../../store/workflow-store.ts'
import { findWorkflow } from '../../access/auth.ts'
import type { Door } from '../../access/door.ts'
import { enterV2 } from '../../access/enter-v2.ts'
import { routeV2 } from '../../openapi/route-v2.ts'
import { readShape } from '../../requests/body.ts'
import { placeIn, readPageRequest, scopeOf, writePlace } from '../../requests/list-page.ts'
import { Parameters } from '../../requests/parameters.ts'
import {
  DeployedV2,
  NewVersionTextsV2,
  RevertedV2,
  stateV2,
  VersionDetailV2,
  VersionTextsV2,
  VersionV2,
  versionDetailV2,
  versionV2,
} from '../../responses/v2/deployment-schemas.ts'
import { dataOf, pageOf } from '../../responses/v2/envelope.ts'
import { limitAndCursor } from '../../responses/v2/page-parameters.ts'
import type { Services } from '../../services.ts'
import { activateVersion, findVersion, loadVersion } from '../workflow/deploy-workflow.ts'
import { exportWorkflow } from '../workflow/transfer.ts'

const inBody = ['INVALID_JSON', 'INVALID_INPUT', 'PAYLOAD_TOO_LARGE', 'FORBIDDEN', 'NOT_FOUND'] as const

/** The versions of a workflow in Sim's shapes: `/api/v2/workflows/<id>/versions`. */
export function versionRoutesV2(services: Services, door: Door) {
  const { store, settings } = services
  return new Elysia({ prefix: '/api/v2/workflows/:id/versions' })
    .get(
      '',
      async ({ params: { id }, ...context }) => {
        const key = await enterV2(door, context)
        const parameters = new Parameters(context.request.url)
        const wanted = readPageRequest(parameters, {
          sorts: ['version'],
          sortBy: 'version',
          sortOrder: 'desc',
          limit: 50,
        })
        parameters.assertValid()
        await findWorkflow(services, key, id, 'read')
        const scope = scopeOf('versions', { ...wanted, sortOrder: 'desc' }, [id])
        const before = placeIn(wanted, scope)?.[1]
        const rows = await store.listDeployments(id, {
          before: before === undefined ? undefined : Number(before),
          limit: wanted.limit + 1,
        })
        const shown = rows.slice(0, wanted.limit)
        const last = shown.at(-1)
        return {
          data: shown.map(versionV2),
          nextCursor: last && rows.length > shown.length ? writePlace([last.version, last.version], scope) : null,
        }
      },
      routeV2({
        name: 'listVersionsV2',
        summary: 'List the versions of a workflow',
        description: 'Newest first.',
        query: t.Object(limitAndCursor(50)),
        responses: { 200: pageOf(VersionV2) },
        errors: ['INVALID_PARAMETERS', 'INVALID_CURSOR', 'NOT_FOUND'],
      }),
    )
    .get(
      '/:version',
      async ({ params: { id, version }, ...context }) => {
        const key = await enterV2(door, context)
        const { workspaceId } = await findWorkflow(services, key, id, 'read')
        const row = await findVersion(services, id, version)
        const { state } = await exportWorkflow(services, { document: row.document, workspaceId })
        return { data: versionDetailV2(row, state) }
      },
      routeV2({
        name: 'getVersionV2',
        summary: 'Get a version of a workflow',
        responses: { 200: dataOf(VersionDetailV2) },
        errors: ['NOT_FOUND', 'OVERLOADED'],
      }),
    )
    .patch(
      '/:version',
      async ({ params: { id, version: text }, ...context }) => {
        const key = await enterV2(door, context)
        await findWorkflow(services, key, id, 'write')
        const texts = await readShape(context.request, NewVersionTextsV2, settings.body)
        const { version } = await findVersion(services, id, text)
        await store.describeDeployment(id, version, texts)
        const { name, description } = await findVersion(services, id, text)
        return { data: { version, name, description } }
      },
      routeV2({
        name: 'describeVersionV2',
        summary: 'Name or describe a version',
        description: 'An absent member stays as it is.',
        body: NewVersionTextsV2,
        responses: { 200: dataOf(VersionTextsV2) },
        errors: inBody,
      }),
    )
    .post(
      '/:version/activate',
      async ({ params: { id, version: text }, ...context }) => {
        const key = await enterV2(door, context)
        door.note(context.request, { workflowId: id })
        const { workspaceId } = await findWorkflow(services, key, id, 'write')
        const deployed = await activateVersion(services, workspaceId, await findVersion(services, id, text))
        return { data: { ...stateV2(id, deployed, deployed.check), version: deployed.version } }
      },
      routeV2({
        name: 'activateVersionV2',
        summary: 'Make a version the active one',
        responses: { 200: dataOf(DeployedV2) },
        errors: ['INVALID_INPUT', 'FORBIDDEN', 'NOT_FOUND', 'CONFLICT'],
      }),
    )
    .post(
      '/:version/revert',
      async ({ params: { id, version: text }, ...context }) => {
        const key = await enterV2(door, context)
        door.note(context.request, { workflowId: id })
        const row = await findWorkflow(services, key, id, 'write')
        const version =
          text === 'active' ? await activeVersion(id, row.activeVersion) : await findVersion(services, id, text)
        // Only a save during this request is not overwritten.
        const saved = await loadVersion(services, row, version, { by: key.userId, ifRevision: row.revision })
        const lastSaved = saved.updatedAt
        return { data: { id, version: text === 'active' ? ('active' as const) : version.version, lastSaved } }
      },
      routeV2({
        name: 'revertToVersionV2',
        summary: 'Load a version back into the draft',
        description: 'The version may be `active`. The name and the folder of the workflow stay as they are.',
        responses: { 200: dataOf(RevertedV2) },
        errors: ['FORBIDDEN', 'NOT_FOUND', 'CONFLICT'],
      }),
    )

  async function activeVersion(id: string, version: number | null): Promise<DeploymentRow> {
    if (version === null) throw new AppError('NOT_FOUND', 'The workflow has no active version.')
    return await findVersion(services, id, String(version))
  }
}
