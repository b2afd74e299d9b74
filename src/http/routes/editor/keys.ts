import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { generateKey } from '../../../accounts/keys.ts'
import { AppError } from '../../../domain/errors.ts'
import { newId } from '../../../domain/ids.ts'
import { readTime } from '../../../domain/text/iso-time.ts'
import type { KeyRow, NewKey } from '../../../store/account-store.ts'
import { assertMay } from '../../access/auth.ts'
import { assertConfirmed } from '../../access/confirmation.ts'
import type { Door } from '../../access/door.ts'
import { editorRoute } from '../../openapi/route.ts'
import { readShape } from '../../requests/body.ts'
import { isoTime, listOf, maybe, Time } from '../../responses/schema-parts.ts'
import type { Services } from '../../services.ts'

const Key = t.Object({
  id: t.String(),
  name: t.String(),
  lastFour: t.String({ description: 'Its last four characters.' }),
  userId: t.String(),
  workspaceId: maybe(
    t.String({ description: 'The only workspace that it reaches; null: all workspaces of its account.' }),
  ),
  createdAt: Time,
  expiresAt: maybe(Time),
  revokedAt: maybe(Time),
  lastUsedAt: maybe(t.String({ format: 'date-time', description: 'To the minute.' })),
  isActive: t.Boolean({ description: 'Neither revoked nor expired.' }),
})

const NewKeyBody = t.Object({
  name: t.String({ maxLength: 200, pattern: '\\S', expected: 'a text of 1 to 200 characters' }),
  workspaceId: t.Optional(maybe(t.String())),
  expiresAt: t.Optional(maybe(t.String({ description: 'A time such as 2030-01-31T12:00:00Z, or a date.' }))),
  currentPassword: t.Optional(t.String({ description: 'Required when the account has a password.' })),
})

const MadeKey = t.Object({
  ...Key.properties,
  apiKey: t.String({ description: 'The key itself, which is shown only this once.' }),
})

/** The keys of the signed-in account, and those of workspaces that it owns. */
export function keyRoutes(services: Services, door: Door) {
  const { store, clock, settings } = services
  return new Elysia({ prefix: '/keys' })
    .get(
      '',
      async ({ request, set }) => {
        const { userId } = await door.requireSession(request, set)
        const now = clock.now()
        return { data: (await store.listKeys(userId)).map((row) => responseOf(row, now)) }
      },
      editorRoute({
        name: 'listKeys',
        summary: 'List keys',
        description: "The account's own keys, and other accounts' keys for workspaces that it owns; newest first.",
        responses: { 200: listOf(Key) },
      }),
    )
    .post(
      '',
      async ({ request, set, server }) => {
        const caller = await door.requireSession(request, set)
        const body = await readShape(request, NewKeyBody, settings.body)
        const { name, workspaceId = null, expiresAt, currentPassword } = body
        if (workspaceId !== null) assertMay(caller, workspaceId, 'read', 'workspace')
        const now = clock.now()
        const { userId } = caller
        const facts = { name: name.trim(), userId, workspaceId, createdAt: now, expiresAt: expiryOf(expiresAt, now) }
        await assertConfirmed(services, { userId, currentPassword, request, server })
        const { text, hash, lastFour } = generateKey()
        const row: NewKey = { id: newId(), hash, lastFour, ...facts }
        await store.createKey(row)
        set.status = 201
        return { ...responseOf({ ...row, revokedAt: null, lastUsedAt: null, roles: {} }, now), apiKey: text }
      },
      editorRoute({
        name: 'createKey',
        summary: 'Create a key, which is shown only once',
        description:
          'A key outlives its session. An account without a password needs a sign-in that is at most 10 minutes old.',
        body: NewKeyBody,
        responses: { 201: MadeKey },
        errors: [
          ...(['INVALID_JSON', 'INVALID_INPUT', 'INVALID_CREDENTIALS', 'FORBIDDEN', 'NOT_FOUND'] as const),
          'RATE_LIMIT_EXCEEDED',
        ],
      }),
    )
    .delete(
      '/:id',
      async ({ request, set, params: { id } }) => {
        const { userId } = await door.requireSession(request, set)
        const isOwn = (await store.listKeys(userId)).some((row) => row.id === id && row.revokedAt === null)
        if (!isOwn || !(await store.revokeKey(id, clock.now()))) {
          throw new AppError('NOT_FOUND', 'There is no key with this id that you could revoke.')
        }
        set.status = 204
      },
      editorRoute({
        name: 'revokeKey',
        summary: 'Revoke a key',
        responses: { 204: t.Void({ description: 'It stops working within 5 seconds.' }) },
        errors: ['NOT_FOUND'],
      }),
    )
}

function responseOf(row: KeyRow, now: number) {
  const { id, name, lastFour, userId, workspaceId, createdAt, expiresAt, revokedAt, lastUsedAt } = row
  return {
    ...{ id, name, lastFour, userId, workspaceId, createdAt: isoTime(createdAt) },
    expiresAt: expiresAt === null ? null : isoTime(expiresAt),
    revokedAt: revokedAt === null ? null : isoTime(revokedAt),
    lastUsedAt: lastUsedAt === null ? null : isoTime(lastUsedAt),
    isActive: revokedAt === null && (expiresAt === null || expiresAt > now),
  }
}

/** Epoch milliseconds; null for a key that never expires. */
function expiryOf(text: string | null | undefined, now: number): number | null {
  if (text === undefined || text === null) return null
  const at = readTime(text)
  if (at !== undefined && at > now) return at
  const message = `expiresAt must be a time to come, such as 2030-01-31T12:00:00Z, not ${JSON.stringify(text.slice(0, 60))}.`
  throw new AppError('INVALID_INPUT', message, { details: [{ path: 'expiresAt', message }] })
}
