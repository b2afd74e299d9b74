import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { oneOf } from '../../../domain/one-of.ts'
import { assertConfirmed, assertCurrentPassword, findAccount } from '../../access/confirmation.ts'
import type { Door } from '../../access/door.ts'
import { tokenOf } from '../../access/session-cookie.ts'
import { editorRoute } from '../../openapi/route.ts'
import { readShape } from '../../requests/body.ts'
import { withBytesMax } from '../../requests/body-limits.ts'
import { LimitsResponse } from '../../responses/account-schemas.ts'
import { limitsResponse } from '../../responses/limits-response.ts'
import { isoTime, maybe, Time } from '../../responses/schema-parts.ts'
import type { Services } from '../../services.ts'

const Me = t.Object({
  user: t.Object({
    id: t.String(),
    email: t.String(),
    hasPassword: t.Boolean({ description: 'Without one, only a sign-in link can sign in.' }),
    plan: maybe(t.String({ description: "Null: the installation's." })),
    createdAt: Time,
  }),
  workspaces: t.Array(
    t.Object({ id: t.String(), name: t.String(), role: oneOf(['owner', 'editor', 'viewer']), createdAt: Time }),
    { description: 'Oldest first.' },
  ),
  limits: LimitsResponse,
  service: t.Object({
    version: t.String(),
    noAuth: t.Boolean({ description: 'Sign-in is switched off, and signing out has no effect.' }),
    baseUrl: t.String({ description: 'The public address, without a trailing slash.' }),
    assistant: maybe(
      t.Object(
        { provider: t.String(), model: t.String() },
        { description: 'The model of the assistant in the editor; null while it is off.' },
      ),
    ),
    mayTurnAssistantOn: t.Boolean({ description: 'The assistant is off, and the account owns the installation.' }),
    showsProcesses: t.Boolean({
      description: 'The account owns the installation, and several processes can serve it.',
    }),
  }),
})

const NewEmail = t.Object({
  email: t.String({ maxLength: 254, pattern: '^[^\\s@]+@[^\\s@]+$', expected: 'an e-mail address' }),
  currentPassword: t.Optional(t.String({ description: 'Required when the account has a password.' })),
})

const NewPassword = t.Object({
  password: t.String({ description: '8 to 1,000 characters.' }),
  currentPassword: t.Optional(t.String({ description: 'Required when the account has a password.' })),
})

const passwordBytesMax = 16_384

/** The signed-in account. */
export function meRoutes(services: Services, door: Door) {
  const { store, sessions, settings, assistant } = services
  return new Elysia({ prefix: '/me' })
    .get(
      '',
      async ({ request, set }) => {
        const { userId } = await door.requireSession(request, set)
        const isShared = settings.store === 'postgres'
        const [user, workspaces, limits, owner] = await Promise.all([
          findAccount(services, userId),
          store.listWorkspaces(userId),
          services.limits.report(userId),
          isShared || !assistant ? store.findOwner() : undefined,
        ])
        const { id, email, hasPassword, plan, createdAt } = user
        return {
          user: { id, email, hasPassword, plan, createdAt: isoTime(createdAt) },
          workspaces: workspaces.map(({ createdAt, ownerId: _, role, ...row }) => {
            return { ...row, role: role ?? 'viewer', createdAt: isoTime(createdAt) }
          }),
          limits: limitsResponse(limits),
          service: {
            version: settings.version,
            noAuth: sessions.isOpen,
            baseUrl: settings.baseUrl(),
            assistant: assistant?.model ?? null,
            mayTurnAssistantOn: !assistant && owner?.userId === userId,
            showsProcesses: isShared && owner?.userId === userId,
          },
        }
      },
      editorRoute({
        name: 'getMe',
        summary: 'Get the signed-in account',
        responses: { 200: Me },
      }),
    )
    .put(
      '/email',
      async ({ request, set, server }) => {
        const { userId } = await door.requireSession(request, set)
        const { email, currentPassword } = await readShape(
          request,
          NewEmail,
          withBytesMax(settings.body, passwordBytesMax),
        )
        await assertCurrentPassword(services, { userId, currentPassword, request, server })
        await store.setEmail(userId, email)
        set.status = 204
      },
      editorRoute({
        name: 'setEmail',
        summary: 'Change the e-mail address of the account',
        body: NewEmail,
        responses: { 204: t.Void() },
        errors: ['INVALID_JSON', 'INVALID_INPUT', 'INVALID_CREDENTIALS', 'RATE_LIMIT_EXCEEDED', 'CONFLICT'],
      }),
    )
    .delete(
      '/sessions',
      async ({ request, set }) => {
        const { userId } = await door.requireSession(request, set)
        await sessions.endOthers(userId, tokenOf(request.headers))
        set.status = 204
      },
      editorRoute({
        name: 'endOtherSessions',
        summary: 'Sign out everywhere else',
        description: 'Ends all other sessions of the account, and disconnects its applications. API keys stay.',
        responses: { 204: t.Void() },
      }),
    )
    .put(
      '/password',
      async ({ request, set, server }) => {
        const { userId } = await door.requireSession(request, set)
        const { password, currentPassword } = await readShape(
          request,
          NewPassword,
          withBytesMax(settings.body, passwordBytesMax),
        )
        // A first password outlives the session like a key does. Where sign-in is off, only a change is confirmed.
        const confirm = sessions.isOpen ? assertCurrentPassword : assertConfirmed
        await confirm(services, { userId, currentPassword, request, server })
        await sessions.setPassword({ userId, password, keptToken: tokenOf(request.headers) })
        set.status = 204
      },
      editorRoute({
        name: 'setPassword',
        summary: 'Set or change the password',
        description:
          'Ends all other sessions of the account and its sign-in link, and disconnects its applications. The first password of an account needs a ' +
          'sign-in that is at most 10 minutes old.',
        body: NewPassword,
        responses: { 204: t.Void() },
        errors: ['INVALID_JSON', 'INVALID_INPUT', 'INVALID_CREDENTIALS', 'FORBIDDEN', 'RATE_LIMIT_EXCEEDED'],
      }),
    )
}
