import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { RateWindow } from '../../../accounts/rate-limit.ts'
import { AppError } from '../../../domain/errors.ts'
import { newId } from '../../../domain/ids.ts'
import { memberMail } from '../../../domain/mail/service-mails.ts'
import { oneOf } from '../../../domain/one-of.ts'
import { assertMay, type Caller, roleOf } from '../../access/auth.ts'
import type { Door } from '../../access/door.ts'
import { assertAllowed } from '../../access/rate-headers.ts'
import { editorRoute } from '../../openapi/route.ts'
import { readShape } from '../../requests/body.ts'
import { isoTime, listOf, Time } from '../../responses/schema-parts.ts'
import type { Services } from '../../services.ts'

const role = oneOf(['owner', 'editor', 'viewer'])
const sharedRole = t.Union([t.Literal('editor'), t.Literal('viewer')])
const WorkspaceName = t.Object({
  name: t.String({ maxLength: 200, pattern: '\\S', expected: 'a text of 1 to 200 characters' }),
})
const Workspace = t.Object({ id: t.String(), name: t.String(), role, createdAt: Time })
const Member = t.Object({ userId: t.String(), email: t.String(), role })
const NewMember = t.Object({ email: t.String({ minLength: 1, maxLength: 254 }), role: sharedRole })
const NewRole = t.Object({ role: sharedRole })

const inBody = ['INVALID_JSON', 'INVALID_INPUT'] as const

/** Workspaces and their members. The owner manages them; members may leave. */
export function workspaceRoutes(services: Services, door: Door) {
  const { store, clock, settings, sessions, limits } = services
  return new Elysia({ prefix: '/workspaces' })
    .post(
      '',
      async ({ request, set }) => {
        const { userId } = await door.requireSession(request, set)
        const { name } = await readShape(request, WorkspaceName, settings.body)
        const workspace = { id: newId(), name: name.trim(), at: clock.now() }
        await store.createWorkspace({ ...workspace, ownerId: userId })
        sessions.invalidate(userId)
        set.status = 201
        return { id: workspace.id, name: workspace.name, role: 'owner' as const, createdAt: isoTime(workspace.at) }
      },
      editorRoute({
        name: 'createWorkspace',
        summary: 'Create a workspace',
        body: WorkspaceName,
        responses: { 201: Workspace },
        errors: inBody,
      }),
    )
    .patch(
      '/:id',
      async ({ request, set, params: { id } }) => {
        assertOwner(await door.requireSession(request, set), id)
        const { name } = await readShape(request, WorkspaceName, settings.body)
        const row = await store.renameWorkspace(id, name.trim())
        return { id, name: row.name, role: 'owner' as const, createdAt: isoTime(row.createdAt) }
      },
      editorRoute({
        name: 'renameWorkspace',
        summary: 'Rename a workspace',
        body: WorkspaceName,
        responses: { 200: Workspace },
        errors: [...inBody, 'NOT_FOUND'],
      }),
    )
    .get(
      '/:id/members',
      async ({ request, set, params: { id } }) => {
        assertMay(await door.requireSession(request, set), id, 'read', 'workspace')
        return { data: await store.listMembers(id) }
      },
      editorRoute({
        name: 'listMembers',
        summary: 'List the members of a workspace, owner first',
        responses: { 200: listOf(Member) },
        errors: ['NOT_FOUND'],
      }),
    )
    .post(
      '/:id/members',
      async ({ request, set, params: { id } }) => {
        const caller = await door.requireSession(request, set)
        assertOwner(caller, id)
        const { email, role } = await readShape(request, NewMember, settings.body)
        // The response reveals whether an account exists, so guesses are limited. Checked again after the look-up, so
        // that concurrent requests cannot exceed the limit.
        const assertMayGuess = (window: RateWindow) =>
          assertAllowed(window, clock.now(), 'unknown addresses', 'an hour')
        assertMayGuess(limits.peekUnknownEmail(caller.userId))
        // By e-mail only: the accounts of an installation cannot be listed.
        const user = email.includes('@') ? await store.findUser(email.trim()) : undefined
        if (!user) {
          assertMayGuess(limits.takeUnknownEmail(caller.userId))
          throw noAccount(email)
        }
        assertMayGuess(limits.peekUnknownEmail(caller.userId))
        await store.setMember(id, user.id, role)
        sessions.invalidate(user.id)
        await announce(services, { workspaceId: id, to: user.email, by: caller.userId, role })
        set.status = 201
        return { userId: user.id, email: user.email, role }
      },
      editorRoute({
        name: 'addMember',
        summary: 'Add a member to a workspace, by e-mail',
        description:
          'The account needs no invitation. Its dashboard shows a notice, and it may leave. An owner may try 10 unknown ' +
          'addresses an hour.',
        body: NewMember,
        responses: { 201: Member },
        errors: [...inBody, 'NOT_FOUND', 'CONFLICT', 'RATE_LIMIT_EXCEEDED'],
      }),
    )
    .patch(
      '/:id/members/:userId',
      async ({ request, set, params: { id, userId } }) => {
        assertOwner(await door.requireSession(request, set), id)
        const { role } = await readShape(request, NewRole, settings.body)
        const member = (await store.listMembers(id)).find((each) => each.userId === userId)
        if (!member) throw noMember()
        await store.setMember(id, userId, role)
        sessions.invalidate(userId)
        return { userId, email: member.email, role }
      },
      editorRoute({
        name: 'changeRole',
        summary: 'Change the role of a member',
        body: NewRole,
        responses: { 200: Member },
        errors: [...inBody, 'NOT_FOUND', 'CONFLICT'],
      }),
    )
    .delete(
      '/:id/members/:userId',
      async ({ request, set, params: { id, userId } }) => {
        const caller = await door.requireSession(request, set)
        if (caller.userId === userId) assertMay(caller, id, 'read', 'workspace')
        else assertOwner(caller, id)
        if (!(await store.removeMember(id, userId))) throw noMember()
        sessions.invalidate(userId)
        set.status = 204
      },
      editorRoute({
        name: 'removeMember',
        summary: 'Remove a member, or leave a workspace',
        responses: { 204: t.Void({ description: "The member's keys lose access within 5 seconds." }) },
        errors: ['NOT_FOUND', 'CONFLICT'],
      }),
    )
}

type NewMemberNotice = { workspaceId: string; to: string; by: string; role: string }

/** Tells an account by e-mail. Its dashboard shows a notice as well, so nothing depends on it. */
async function announce(services: Services, { workspaceId, to, by, role }: NewMemberNotice): Promise<void> {
  const { mailer, store, settings } = services
  if (!mailer) return
  const [workspace, owner] = await Promise.all([store.getWorkspace(workspaceId), store.findUser(by)])
  const facts = { to, workspace: workspace?.name ?? '', by: owner?.email ?? 'The owner', role, url: settings.baseUrl() }
  mailer.post(memberMail(facts), workspaceId)
}

function assertOwner(caller: Caller, workspaceId: string): void {
  assertMay(caller, workspaceId, 'read', 'workspace')
  if (roleOf(caller, workspaceId) === 'owner') return
  throw new AppError('FORBIDDEN', 'Only the owner of the workspace may change its name and its members.')
}

function noAccount(email: string): AppError {
  return new AppError(
    'NOT_FOUND',
    `There is no account with the e-mail ${email}. The administrator can create it: millrace users create ${email}`,
  )
}

function noMember(): AppError {
  return new AppError('NOT_FOUND', 'The workspace has no such member.')
}
