import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { AppError } from '../../../domain/errors.ts'
import { oneOf } from '../../../domain/one-of.ts'
import { assertMay, mayEdit } from '../../access/auth.ts'
import type { Door } from '../../access/door.ts'
import { enterV2 } from '../../access/enter-v2.ts'
import { routeV2 } from '../../openapi/route-v2.ts'
import { readShape } from '../../requests/body.ts'
import { pageOfItems, readPageRequest, scopeOf } from '../../requests/list-page.ts'
import { Parameters } from '../../requests/parameters.ts'
import { dataOf, pageOf } from '../../responses/v2/envelope.ts'
import { inWorkspace, pageParameters } from '../../responses/v2/page-parameters.ts'
import {
  CredentialV2,
  credentialTypes,
  credentialV2,
  DeletedSecretV2,
  NewSecretV2,
  SecretV2,
  secretV2,
} from '../../responses/v2/secret-schemas.ts'
import type { Services } from '../../services.ts'

const secretSorts = ['name', 'createdAt', 'updatedAt'] as const
const credentialSorts = ['displayName', 'createdAt', 'updatedAt'] as const
const searchCharsMax = 200
const search = t.Optional(t.String({ maxLength: searchCharsMax, description: 'A part of the name.' }))

/** Environment variables and the names of credentials, as Sim's secrets and credentials. Values are never returned. */
export function secretRoutesV2(services: Services, door: Door) {
  const { store, environments, credentials, settings } = services
  return new Elysia({ prefix: '/api/v2' })
    .get(
      '/secrets',
      async (context) => {
        const key = await enterV2(door, context)
        const parameters = new Parameters(context.request.url)
        const workspaceId = parameters.required('workspaceId', 'must be given')
        const scope = parameters.oneOf('scope', ['workspace', 'personal'])
        const part = parameters.shortText('search', searchCharsMax)
        const page = readPageRequest(parameters, { sorts: secretSorts, sortBy: 'name', sortOrder: 'asc', limit: 50 })
        parameters.assertValid()
        assertMay(key, workspaceId, 'read', 'workspace')
        const rows = scope === 'personal' ? [] : await store.listEnvironment(workspaceId)
        const { items, nextCursor } = pageOfItems(
          rows.filter(({ name }) => has(name, part)),
          ({ name, updatedAt }) => [page.sortBy === 'name' ? name : updatedAt, name],
          page,
          scopeOf('secrets', page, [workspaceId, scope, part]),
        )
        return { data: items.map((row) => secretV2(row, mayEdit(key, workspaceId))), nextCursor }
      },
      routeV2({
        name: 'listSecretsV2',
        summary: 'List secrets',
        description: 'The environment variables of a workspace, without their values.',
        query: t.Object({
          ...inWorkspace,
          scope: t.Optional(oneOf(['workspace', 'personal'], { description: '`personal`: there are none.' })),
          search,
          ...pageParameters(secretSorts, 'name', 'asc', 50),
        }),
        responses: { 200: pageOf(SecretV2) },
        errors: ['INVALID_PARAMETERS', 'INVALID_CURSOR', 'NOT_FOUND'],
      }),
    )
    .put(
      '/secrets/:name',
      async ({ params: { name }, ...context }) => {
        const key = await enterV2(door, context)
        const { workspaceId, value, unredacted } = await readShape(context.request, NewSecretV2, settings.body)
        assertMay(key, workspaceId, 'write', 'workspace')
        const plain = unredacted ?? (await isPlain(workspaceId, name))
        const { updatedAt } = await environments.set({ workspaceId, name, value, plain })
        return { data: secretV2({ name, plain, updatedAt }, true) }
      },
      routeV2({
        name: 'setSecretV2',
        summary: 'Set a secret',
        description: 'Sets an environment variable of the workspace, which workflows read as `{{NAME}}`.',
        body: NewSecretV2,
        responses: { 200: dataOf(SecretV2) },
        errors: ['INVALID_JSON', 'INVALID_INPUT', 'PAYLOAD_TOO_LARGE', 'FORBIDDEN', 'NOT_FOUND'],
      }),
    )
    .delete(
      '/secrets/:name',
      async ({ params: { name }, ...context }) => {
        const key = await enterV2(door, context)
        const parameters = new Parameters(context.request.url)
        const workspaceId = parameters.required('workspaceId', 'must be given')
        parameters.required('scope', 'must be given')
        parameters.oneOf('scope', ['workspace'])
        parameters.assertValid()
        assertMay(key, workspaceId, 'write', 'workspace')
        if (!(await environments.unset(workspaceId, name))) {
          throw new AppError('NOT_FOUND', 'The workspace has no secret of this name.')
        }
        return { data: { name, scope: 'workspace' as const, deleted: true as const } }
      },
      routeV2({
        name: 'deleteSecretV2',
        summary: 'Delete a secret',
        query: t.Object({
          ...inWorkspace,
          scope: oneOf(['workspace'], { description: 'There are no personal secrets.' }),
        }),
        responses: { 200: dataOf(DeletedSecretV2) },
        errors: ['INVALID_PARAMETERS', 'FORBIDDEN', 'NOT_FOUND'],
      }),
    )
    .get(
      '/credentials',
      async (context) => {
        const key = await enterV2(door, context)
        const parameters = new Parameters(context.request.url)
        const workspaceId = parameters.required('workspaceId', 'must be given')
        const type = parameters.oneOf('type', credentialTypes)
        const providerId = parameters.text('providerId')
        const part = parameters.shortText('search', searchCharsMax)
        const sorting = { sorts: credentialSorts, sortBy: 'createdAt', sortOrder: 'desc', limit: 50 } as const
        const page = readPageRequest(parameters, sorting)
        parameters.assertValid()
        assertMay(key, workspaceId, 'read', 'workspace')
        const shown = (await credentials.list(workspaceId)).map((each) => credentialV2(each, mayEdit(key, workspaceId)))
        const { items, nextCursor } = pageOfItems(
          shown.filter(
            (each) =>
              (type === undefined || each.type === type) &&
              (providerId === undefined || each.providerId === providerId) &&
              has(each.displayName, part),
          ),
          (each) => [each[page.sortBy], each.id],
          page,
          scopeOf('credentials', page, [workspaceId, type, providerId, part]),
        )
        return { data: items, nextCursor }
      },
      routeV2({
        name: 'listCredentialsV2',
        summary: 'List credentials',
        description: 'Without their secrets.',
        query: t.Object({
          ...inWorkspace,
          type: t.Optional(oneOf(credentialTypes, { description: 'Only credentials of this type.' })),
          providerId: t.Optional(t.String({ description: 'Only credentials of this kind.' })),
          search,
          ...pageParameters(credentialSorts, 'createdAt', 'desc', 50),
        }),
        responses: { 200: pageOf(CredentialV2) },
        errors: ['INVALID_PARAMETERS', 'INVALID_CURSOR', 'NOT_FOUND'],
      }),
    )

  async function isPlain(workspaceId: string, name: string): Promise<boolean> {
    return (await store.listEnvironment(workspaceId)).find((row) => row.name === name)?.plain ?? false
  }
}

function has(name: string, part: string | undefined): boolean {
  return part === undefined || name.toLowerCase().includes(part.toLowerCase())
}
