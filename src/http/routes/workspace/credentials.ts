import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { ListedCredential } from '../../../credentials/credentials.ts'
import { AppError } from '../../../domain/errors.ts'
import { isObject } from '../../../domain/run/input.ts'
import { assertMay } from '../../access/auth.ts'
import type { Door } from '../../access/door.ts'
import { searchParamsOf } from '../../access/request-url.ts'
import { sessionMarkOf } from '../../access/session-mark.ts'
import { route } from '../../openapi/route.ts'
import { readJsonBody } from '../../requests/body.ts'
import type { Services } from '../../services.ts'
import { isOwnPath } from '../oauth-callback.ts'
import { readCredentialEdit, readNewCredential } from './credential-body.ts'
import {
  CredentialChange,
  CredentialList,
  CredentialResponse,
  CredentialSignIn,
  CredentialTest,
  CredentialTestResult,
  credentialOf,
  NewCredential,
  StartedSignIn,
  startedSignInOf,
} from './credential-schemas.ts'
import { credentialUsers, deployedUsers } from './credential-users.ts'

/** Credentials of a workspace: `/api/workspaces/<id>/credentials`. Secrets are never returned. */
export function credentialRoutes(services: Services, door: Door) {
  const { store, credentials, signIns, testCredential, settings } = services

  async function shown(workspaceId: string, listed: readonly ListedCredential[]) {
    const [usedBy, members] = await Promise.all([credentialUsers(store, workspaceId), store.listMembers(workspaceId)])
    const emails = new Map(members.map(({ userId, email }) => [userId, email]))
    return listed.map((each) => credentialOf(each, usedBy(each.row.name), (userId) => emails.get(userId) ?? null))
  }

  return new Elysia({ prefix: '/api/workspaces/:id/credentials' })
    .get(
      '',
      async ({ request, set, params: { id } }) => {
        assertMay(await door.requireKeyOrSession(request, set), id, 'read', 'workspace')
        return { data: await shown(id, await credentials.list(id)) }
      },
      route({
        name: 'listCredentials',
        summary: 'List credentials',
        description: 'The credentials of a workspace, by name, without their secrets.',
        tag: 'Credentials',
        responses: { 200: CredentialList },
        errors: ['NOT_FOUND'],
      }),
    )
    .post(
      '',
      async ({ request, set, params: { id } }) => {
        const caller = await door.requireKeyOrSession(request, set)
        assertMay(caller, id, 'write', 'workspace')
        const written = readNewCredential(await readJsonBody(request, settings.body))
        const created = await credentials.create(id, written, caller.userId)
        set.status = 201
        return (await shown(id, [created]))[0]!
      },
      route({
        name: 'createCredential',
        summary: 'Create a credential',
        description:
          'API blocks name it in `credential`. It is sent to its `hosts` only. `GET …/credentials` shows no secret.',
        tag: 'Credentials',
        body: NewCredential,
        responses: { 201: CredentialResponse },
        errors: ['INVALID_JSON', 'INVALID_INPUT', 'FORBIDDEN', 'NOT_FOUND', 'CONFLICT'],
      }),
    )
    .get(
      '/:name',
      async ({ request, set, params: { id, name } }) => {
        assertMay(await door.requireKeyOrSession(request, set), id, 'read', 'workspace')
        return (await shown(id, [await credentials.get(id, name)]))[0]!
      },
      route({
        name: 'getCredential',
        summary: 'Get a credential',
        description: 'A credential without its secrets.',
        tag: 'Credentials',
        responses: { 200: CredentialResponse },
        errors: ['NOT_FOUND'],
      }),
    )
    .patch(
      '/:name',
      async ({ request, set, params: { id, name } }) => {
        const caller = await door.requireKeyOrSession(request, set)
        assertMay(caller, id, 'write', 'workspace')
        const edit = readCredentialEdit(await readJsonBody(request, settings.body))
        if (edit.name !== undefined && edit.name !== name) {
          const users = (await credentialUsers(store, id))(name).map((each) => each.name)
          if (users.length > 0) throw inUse(`The credential "${name}" cannot be renamed`, users)
        }
        return (await shown(id, [await credentials.change(id, name, edit, caller.userId)]))[0]!
      },
      route({
        name: 'changeCredential',
        summary: 'Change a credential',
        description: 'Absent members stay. A credential that workflows name cannot be renamed (409).',
        tag: 'Credentials',
        body: CredentialChange,
        responses: { 200: CredentialResponse },
        errors: ['INVALID_JSON', 'INVALID_INPUT', 'FORBIDDEN', 'NOT_FOUND', 'CONFLICT'],
      }),
    )
    .delete(
      '/:name',
      async ({ request, set, params: { id, name } }) => {
        assertMay(await door.requireKeyOrSession(request, set), id, 'write', 'workspace')
        const isForced = searchParamsOf(request).get('force') === 'true'
        const users = isForced ? [] : await deployedUsers(store, id, name)
        if (users.length > 0) throw inUse(`The credential "${name}" cannot be deleted`, users)
        if (!(await credentials.delete(id, name))) {
          throw new AppError('NOT_FOUND', 'The workspace has no credential of this name.')
        }
        set.status = 204
      },
      route({
        name: 'deleteCredential',
        summary: 'Delete a credential',
        description: 'Refused with 409 while a deployed workflow names it, unless `force=true`.',
        tag: 'Credentials',
        query: t.Object({ force: t.Optional(t.String({ description: '`true` deletes it in any case.' })) }),
        responses: { 204: t.Void({ description: 'Deleted.' }) },
        errors: ['FORBIDDEN', 'NOT_FOUND', 'CONFLICT'],
      }),
    )
    .post(
      '/:name/test',
      async ({ request, set, params: { id, name } }) => {
        assertMay(await door.requireKeyOrSession(request, set), id, 'write', 'workspace')
        await credentials.get(id, name)
        const { url, method } = asTest(await readJsonBody(request, settings.body))
        return await testCredential(id, name, { url, method, signal: request.signal })
      },
      route({
        name: 'testCredential',
        summary: 'Test a credential',
        description:
          'Gets a token, if the kind needs one. Sends a request with the credential to `url`, if there is one, and ' +
          'reports the status of the response.',
        tag: 'Credentials',
        body: CredentialTest,
        responses: { 200: CredentialTestResult },
        errors: ['INVALID_JSON', 'INVALID_INPUT', 'FORBIDDEN', 'NOT_FOUND'],
      }),
    )
    .post(
      '/:name/sign-in',
      async ({ request, set, params: { id, name } }) => {
        assertMay(await door.requireKeyOrSession(request, set), id, 'write', 'workspace')
        const { returnTo } = asSignIn(await readJsonBody(request, settings.body))
        const hasKey = (request.headers.get('x-api-key') ?? '') !== ''
        const session = hasKey ? undefined : await sessionMarkOf(services, request)
        return startedSignInOf(await signIns.start(id, name, { session, returnTo }))
      },
      route({
        name: 'signInWithCredential',
        summary: 'Sign in with a credential',
        description:
          'Returns the URL of the provider where a person signs in; the provider sends the browser back to this ' +
          'service. This needs a session. For a device sign-in, returns a code and the URL where the person enters ' +
          'it, and waits for that.',
        tag: 'Credentials',
        body: CredentialSignIn,
        responses: { 200: StartedSignIn },
        errors: [
          'INVALID_JSON',
          'INVALID_INPUT',
          'SIGN_IN_REQUIRED',
          'FORBIDDEN',
          'NOT_FOUND',
          'CONFLICT',
          'OVERLOADED',
        ],
      }),
    )
}

/** `returnTo`: a path of the service that the browser goes to afterwards. */
function asSignIn(body: unknown): { returnTo: string | undefined } {
  const { returnTo } = isObject(body) ? body : {}
  if (returnTo === undefined) return { returnTo }
  if (typeof returnTo === 'string' && isOwnPath(returnTo)) return { returnTo }
  throw new AppError('INVALID_INPUT', 'returnTo must be a path of this service, such as /settings.')
}

function asTest(body: unknown): { url: string | undefined; method: string } {
  const { url, method = 'GET' } = isObject(body) ? body : {}
  if (url !== undefined && typeof url !== 'string') throw new AppError('INVALID_INPUT', 'url must be a text.')
  if (typeof method !== 'string') throw new AppError('INVALID_INPUT', 'method must be a text.')
  return { url, method }
}

function inUse(refusal: string, workflows: readonly string[]): AppError {
  const [first, ...others] = workflows
  const more = others.length === 0 ? '' : ` and ${others.length} more`
  return new AppError('CONFLICT', `${refusal}: the workflow "${first}"${more} uses it.`)
}
