import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { OAuthError } from '../../../accounts/oauth/oauth-error.ts'
import { redirectHost } from '../../../accounts/oauth/redirect-uri.ts'
import { AppError } from '../../../domain/errors.ts'
import { oneOf } from '../../../domain/one-of.ts'
import { assertMay, roleOf } from '../../access/auth.ts'
import { findAccount } from '../../access/confirmation.ts'
import type { Door } from '../../access/door.ts'
import { editorRoute } from '../../openapi/route.ts'
import { readShape } from '../../requests/body.ts'
import { Parameters } from '../../requests/parameters.ts'
import { isoTime, listOf, maybe, Time } from '../../responses/schema-parts.ts'
import type { Services } from '../../services.ts'
import { addressWith, readAuthorization } from '../oauth/authorization.ts'

const Role = oneOf(['owner', 'editor', 'viewer'])

const Application = t.Object({
  id: t.String(),
  name: t.String({ description: 'Chosen by the application.' }),
  sentTo: t.String({ description: 'The host that got the access, for people.' }),
  workspaceId: t.String(),
  workspaceName: t.String(),
  role: maybe(oneOf(['owner', 'editor', 'viewer'], { description: 'Null: the account is no longer a member.' })),
  createdAt: Time,
  lastUsedAt: maybe(t.String({ format: 'date-time', description: 'To the minute.' })),
})

const Consent = t.Object({
  name: t.String({ description: 'The name of the application, which it chose itself.' }),
  sentTo: t.String({ description: 'The host that gets the access, for people.' }),
  email: t.String({ description: 'The account.' }),
  workspaces: t.Array(t.Object({ id: t.String(), name: t.String(), role: Role }), {
    description: 'The workspaces that the account may choose.',
  }),
  refusal: maybe(t.Object({ message: t.String(), redirectTo: t.String() })),
})

const Decision = t.Object({
  query: t.String({ maxLength: 8_000, description: 'The query of the page.' }),
  workspaceId: t.Optional(t.String({ description: 'The workspace in which the application may act. Absent: denied.' })),
})

/** Applications that act for the signed-in account over MCP: consent, list, disconnect. */
export function applicationRoutes(services: Services, door: Door) {
  const { store, oauth, clock, settings, logger } = services
  return new Elysia({ prefix: '/applications' })
    .get(
      '',
      async ({ request, set }) => {
        const { userId } = await door.requireSession(request, set)
        const rows = await store.listOAuthGrants(userId, clock.now())
        return {
          data: rows.map(
            ({ id, clientName, redirectUri, workspaceId, workspaceName, role, createdAt, lastUsedAt }) => ({
              ...{ id, name: clientName, sentTo: redirectHost(redirectUri), workspaceId, workspaceName, role },
              createdAt: isoTime(createdAt),
              lastUsedAt: lastUsedAt === null ? null : isoTime(lastUsedAt),
            }),
          ),
        }
      },
      editorRoute({
        name: 'listApplications',
        summary: 'List the applications that are connected to the account',
        responses: { 200: listOf(Application) },
      }),
    )
    .delete(
      '/:id',
      async ({ request, set, params: { id } }) => {
        const { userId } = await door.requireSession(request, set)
        if (!(await store.endOAuthGrant(userId, id))) {
          throw new AppError('NOT_FOUND', 'There is no connected application with this id.')
        }
        set.status = 204
      },
      editorRoute({
        name: 'disconnectApplication',
        summary: 'Disconnect an application',
        responses: { 204: t.Void({ description: 'Its tokens no longer work.' }) },
        errors: ['NOT_FOUND'],
      }),
    )
    .get(
      '/consent',
      async ({ request, set }) => {
        const caller = await door.requireSession(request, set)
        const parameters = new Parameters(request.url)
        const query = parameters.text('query') ?? ''
        parameters.assertValid()
        const asked = await reading(query)
        const [user, rows] = await Promise.all([
          findAccount(services, caller.userId),
          store.listWorkspaces(caller.userId),
        ])
        const only = 'refusal' in asked ? undefined : asked.workspaceId
        const refusal = 'refusal' in asked ? asked.refusal : undefined
        return {
          ...{ name: asked.client.name, sentTo: redirectHost(asked.redirectUri), email: user.email },
          workspaces: rows.flatMap(({ id, name }) => {
            const role = roleOf(caller, id)
            return role === undefined || (only !== undefined && only !== id) ? [] : [{ id, name, role }]
          }),
          refusal: refusal
            ? {
                message: refusal.message,
                redirectTo: addressWith(asked, settings.baseUrl(), {
                  ...{ error: refusal.code, error_description: refusal.message },
                }),
              }
            : null,
        }
      },
      editorRoute({
        name: 'getConsent',
        summary: 'Get the request of an application',
        query: t.Object({ query: t.String({ description: 'The query of the authorization page.' }) }),
        responses: { 200: Consent },
        errors: ['INVALID_PARAMETERS'],
      }),
    )
    .post(
      '/consent',
      async ({ request, set }) => {
        const caller = await door.requireSession(request, set)
        const { query, workspaceId } = await readShape(request, Decision, settings.body)
        const asked = await reading(query)
        const baseUrl = settings.baseUrl()
        if ('refusal' in asked) throw new AppError('INVALID_PARAMETERS', asked.refusal.message)
        if (workspaceId === undefined) {
          return { redirectTo: addressWith(asked, baseUrl, { error: 'access_denied' }) }
        }
        assertMay(caller, workspaceId, 'read', 'workspace')
        if (asked.workspaceId !== undefined && asked.workspaceId !== workspaceId) {
          throw new AppError('INVALID_PARAMETERS', 'The application asks for another workspace.')
        }
        const code = await oauth.grant({ ...asked, userId: caller.userId, workspaceId })
        logger.info('connected an application', { userId: caller.userId, workspaceId, name: asked.client.name })
        return { redirectTo: addressWith(asked, baseUrl, { code }) }
      },
      editorRoute({
        name: 'giveConsent',
        summary: 'Connect an application, or deny it',
        body: Decision,
        responses: { 200: t.Object({ redirectTo: t.String({ description: 'Where the browser goes next.' }) }) },
        errors: ['INVALID_JSON', 'INVALID_INPUT', 'INVALID_PARAMETERS', 'NOT_FOUND'],
      }),
    )

  /** Throws INVALID_PARAMETERS when nobody may be sent back to the application. */
  async function reading(query: string) {
    try {
      return await readAuthorization(oauth, settings.baseUrl(), query)
    } catch (thrown) {
      if (thrown instanceof OAuthError) throw new AppError('INVALID_PARAMETERS', thrown.message)
      throw thrown
    }
  }
}
