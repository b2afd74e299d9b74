import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { AppError } from '../../../domain/errors.ts'
import type { WorkspaceRow } from '../../../store/account-store.ts'
import { assertMay, type Caller, roleOf } from '../../access/auth.ts'
import type { Door } from '../../access/door.ts'
import { enterV2 } from '../../access/enter-v2.ts'
import { routeV2 } from '../../openapi/route-v2.ts'
import { pageOfItems, readPageRequest, scopeOf } from '../../requests/list-page.ts'
import { Parameters } from '../../requests/parameters.ts'
import { isoTime } from '../../responses/schema-parts.ts'
import { dataOf, pageOf } from '../../responses/v2/envelope.ts'
import { limitAndCursor, pageParameters } from '../../responses/v2/page-parameters.ts'
import { MemberV2, MetaV2, memberV2, WorkspaceV2, workspaceV2 } from '../../responses/v2/workspace-schemas.ts'
import type { Services } from '../../services.ts'

const sorts = ['name', 'createdAt', 'updatedAt'] as const

/** The key of a caller, and the workspaces that it reaches: `/api/v2/meta` and `/api/v2/workspaces`. */
export function workspaceRoutesV2({ store }: Pick<Services, 'store'>, door: Door) {
  return new Elysia({ prefix: '/api/v2' })
    .get(
      '/meta',
      async (context) => {
        const { workspaceId, expiresAt } = await enterV2(door, context)
        const keyType = workspaceId === null ? ('personal' as const) : ('workspace' as const)
        return {
          data: { v2Enabled: true as const, keyType, expiresAt: expiresAt === null ? null : isoTime(expiresAt) },
        }
      },
      routeV2({ name: 'getMetaV2', summary: 'Get the kind of your key', responses: { 200: dataOf(MetaV2) } }),
    )
    .get(
      '/workspaces',
      async (context) => {
        const key = await enterV2(door, context)
        const parameters = new Parameters(context.request.url)
        const wanted = readPageRequest(parameters, { sorts, sortBy: 'createdAt', sortOrder: 'desc', limit: 25 })
        parameters.assertValid()
        const rows = (await store.listWorkspaces(key.userId)).filter(({ id }) => roleOf(key, id) !== undefined)
        const placeOf = ({ id, name, createdAt }: WorkspaceRow) =>
          [wanted.sortBy === 'name' ? name : createdAt, id] as const
        const { items, nextCursor } = pageOfItems(rows, placeOf, wanted, scopeOf('workspaces', wanted))
        return { data: await Promise.all(items.map(shown)), nextCursor }
      },
      routeV2({
        name: 'listWorkspacesV2',
        summary: 'List your workspaces',
        query: t.Object(pageParameters(sorts, 'createdAt', 'desc', 25)),
        responses: { 200: pageOf(WorkspaceV2) },
        errors: ['INVALID_PARAMETERS', 'INVALID_CURSOR'],
      }),
    )
    .get(
      '/workspaces/:id',
      async ({ params: { id }, ...context }) => {
        const key = await enterV2(door, context)
        return { data: await shown(await findWorkspace(key, id)) }
      },
      routeV2({
        name: 'getWorkspaceV2',
        summary: 'Get a workspace',
        responses: { 200: dataOf(WorkspaceV2) },
        errors: ['NOT_FOUND'],
      }),
    )
    .get(
      '/workspaces/:id/members',
      async ({ params: { id }, ...context }) => {
        const key = await enterV2(door, context)
        const parameters = new Parameters(context.request.url)
        const wanted = readPageRequest(parameters, { sorts: ['email'], sortBy: 'email', sortOrder: 'asc', limit: 50 })
        parameters.assertValid()
        const workspace = await findWorkspace(key, id)
        const rows = await store.listMembers(id)
        const { items, nextCursor } = pageOfItems(
          rows,
          ({ email, userId }) => [email, userId],
          wanted,
          scopeOf('members', wanted, [id]),
        )
        return { data: items.map((row) => memberV2(row, workspace)), nextCursor }
      },
      routeV2({
        name: 'listMembersV2',
        summary: 'List the members of a workspace',
        description: 'Sorted by e-mail.',
        query: t.Object(limitAndCursor(50)),
        responses: { 200: pageOf(MemberV2) },
        errors: ['INVALID_PARAMETERS', 'INVALID_CURSOR', 'NOT_FOUND'],
      }),
    )

  async function shown(row: WorkspaceRow) {
    return workspaceV2(row, await store.listMembers(row.id))
  }

  async function findWorkspace(key: Caller, id: string): Promise<WorkspaceRow> {
    assertMay(key, id, 'read', 'workspace')
    const row = await store.getWorkspace(id)
    if (row) return row
    throw new AppError('NOT_FOUND', 'There is no workspace with this id that you can see.')
  }
}
