import { passwordChanged } from '../../errors/account-errors.ts'
import {
  type NewSession,
  type NewSignInToken,
  type SessionRow,
  type SignedIn,
  sessionsMax,
} from '../../session-store.ts'
import { rolesOf } from '../../stored-values.ts'
import { type Sql, storable } from '../connection.ts'
import { assertUser } from './workspaces.ts'

/** The condition that `$1` is the ID or the e-mail of a user. The collation compares only A to Z regardless of case. */
export const isUser = `(id = $1 OR lower(email) = lower($1 COLLATE "C"))`

type FoundPassword = { userId: string; passwordHash: string }

export async function findPassword(sql: Sql, idOrEmail: string): Promise<FoundPassword | undefined> {
  return await sql.get<FoundPassword>(
    `SELECT id AS "userId", password_hash AS "passwordHash" FROM millrace.users
     WHERE ${isUser} AND password_hash IS NOT NULL`,
    storable(idOrEmail),
  )
}

/** Role by workspace, of the account in `user`, as JSON. */
const selectRoles = (user: string) => `
  coalesce((
    SELECT json_object_agg(w.id, m.role) FROM millrace.members m JOIN millrace.workspaces w ON w.number = m.workspace
    WHERE m.user_id = ${user}), '{}')::text AS roles`

export async function findOwner(sql: Sql): Promise<SignedIn | undefined> {
  const row = await sql.get<{ userId: string; roles: string }>(
    `SELECT u.id AS "userId", ${selectRoles('u.id')} FROM millrace.users u ORDER BY u.number LIMIT 1`,
  )
  return row && { ...row, roles: rolesOf(row.roles) }
}

export async function createSession(
  sql: Sql,
  { hash, userId, createdAt, expiresAt, passwordHash }: NewSession,
): Promise<void> {
  await assertUser(sql, userId)
  if (passwordHash !== undefined && (await findPassword(sql, userId))?.passwordHash !== passwordHash) {
    throw passwordChanged()
  }
  await sql.run('DELETE FROM millrace.sessions WHERE expires_at <= $1', createdAt)
  await sql.run(
    'INSERT INTO millrace.sessions (hash, user_id, created_at, expires_at) VALUES ($1, $2, $3, $4)',
    ...[hash, userId, createdAt, expiresAt],
  )
  await sql.run(
    `DELETE FROM millrace.sessions WHERE hash IN (
       SELECT hash FROM millrace.sessions WHERE user_id = $1 AND hash <> $2
       ORDER BY expires_at DESC OFFSET ${sessionsMax - 1})`,
    ...[userId, hash],
  )
}

export async function findSession(sql: Sql, hash: Uint8Array): Promise<SessionRow | undefined> {
  const row = await sql.get<Omit<SessionRow, 'roles'> & { roles: string }>(
    `SELECT s.user_id AS "userId", s.created_at AS "createdAt", s.expires_at AS "expiresAt",
       ${selectRoles('s.user_id')}
     FROM millrace.sessions s WHERE s.hash = $1`,
    hash,
  )
  return row && { ...row, roles: rolesOf(row.roles) }
}

export async function renewSession(sql: Sql, hash: Uint8Array, expiresAt: number): Promise<boolean> {
  return (await sql.run('UPDATE millrace.sessions SET expires_at = $1 WHERE hash = $2', expiresAt, hash)) > 0
}

export async function endSession(sql: Sql, hash: Uint8Array): Promise<boolean> {
  return (await sql.run('DELETE FROM millrace.sessions WHERE hash = $1', hash)) > 0
}

/** Ends all sessions of an account except one, and its grants to applications. */
export async function endSessions(sql: Sql, userId: string, kept: Uint8Array | undefined): Promise<void> {
  await sql.run(
    'DELETE FROM millrace.sessions WHERE user_id = $1 AND hash IS DISTINCT FROM $2::bytea',
    ...[userId, kept ?? null],
  )
  await sql.run('DELETE FROM millrace.oauth_grants WHERE user_id = $1', userId)
}

export async function createSignInToken(sql: Sql, { hash, userId, createdAt }: NewSignInToken): Promise<void> {
  await assertUser(sql, userId)
  await sql.run('DELETE FROM millrace.sign_in_tokens WHERE user_id = $1', userId)
  await sql.run(
    'INSERT INTO millrace.sign_in_tokens (hash, user_id, created_at) VALUES ($1, $2, $3)',
    ...[hash, userId, createdAt],
  )
}

export async function redeemSignInToken(
  sql: Sql,
  token: Uint8Array,
  madeAfter: number,
  session: Omit<NewSession, 'userId'>,
): Promise<string | undefined> {
  const found = await sql.get<{ userId: string; createdAt: number }>(
    'DELETE FROM millrace.sign_in_tokens WHERE hash = $1 RETURNING user_id AS "userId", created_at AS "createdAt"',
    token,
  )
  if (!found || found.createdAt < madeAfter) return undefined
  await createSession(sql, { ...session, userId: found.userId })
  return found.userId
}
