import { passwordChanged } from '../../errors/account-errors.ts'
import {
  type NewSession,
  type NewSignInToken,
  type SessionRow,
  type SignedIn,
  sessionsMax,
} from '../../session-store.ts'
import { rolesOf } from '../../stored-values.ts'
import type { Sql } from '../connection.ts'
import { assertUser } from './workspaces.ts'

export function findPassword(sql: Sql, idOrEmail: string): { userId: string; passwordHash: string } | undefined {
  return sql.get<{ userId: string; passwordHash: string }>(
    `SELECT id AS userId, password_hash AS passwordHash FROM users
     WHERE (id = ?1 OR email = ?1) AND password_hash IS NOT NULL`,
    idOrEmail,
  )
}

/** Role by workspace, of the account in `user`. */
const selectRoles = (user: string) => `
  (SELECT json_group_object(w.id, m.role) FROM members m JOIN workspaces w ON w.number = m.workspace
   WHERE m.user_id = ${user}) AS roles`

export function findOwner(sql: Sql): SignedIn | undefined {
  const row = sql.get<{ userId: string; roles: string }>(
    `SELECT u.id AS userId, ${selectRoles('u.id')} FROM users u ORDER BY u.rowid LIMIT 1`,
  )
  return row && { ...row, roles: rolesOf(row.roles) }
}

export function createSession(sql: Sql, { hash, userId, createdAt, expiresAt, passwordHash }: NewSession): void {
  assertUser(sql, userId)
  if (passwordHash !== undefined && findPassword(sql, userId)?.passwordHash !== passwordHash) {
    throw passwordChanged()
  }
  sql.run('DELETE FROM sessions WHERE expires_at <= ?', createdAt)
  sql.run(
    'INSERT INTO sessions (hash, user_id, created_at, expires_at) VALUES (?, ?, ?, ?)',
    hash,
    userId,
    createdAt,
    expiresAt,
  )
  sql.run(
    `DELETE FROM sessions WHERE hash IN (
       SELECT hash FROM sessions WHERE user_id = ?1 AND hash <> ?2
       ORDER BY expires_at DESC LIMIT -1 OFFSET ${sessionsMax - 1})`,
    userId,
    hash,
  )
}

export function findSession(sql: Sql, hash: Uint8Array): SessionRow | undefined {
  const row = sql.get<Omit<SessionRow, 'roles'> & { roles: string }>(
    `SELECT s.user_id AS userId, s.created_at AS createdAt, s.expires_at AS expiresAt, ${selectRoles('s.user_id')}
     FROM sessions s WHERE s.hash = ?`,
    hash,
  )
  return row && { ...row, roles: rolesOf(row.roles) }
}

export function renewSession(sql: Sql, hash: Uint8Array, expiresAt: number): boolean {
  return sql.run('UPDATE sessions SET expires_at = ? WHERE hash = ?', expiresAt, hash) > 0
}

export function endSession(sql: Sql, hash: Uint8Array): boolean {
  return sql.run('DELETE FROM sessions WHERE hash = ?', hash) > 0
}

/** Ends all sessions of an account except one, and its grants to applications. */
export function endSessions(sql: Sql, userId: string, kept: Uint8Array | undefined): void {
  sql.run('DELETE FROM sessions WHERE user_id = ? AND hash IS NOT ?', userId, kept ?? null)
  sql.run('DELETE FROM oauth_grants WHERE user_id = ?', userId)
}

export function createSignInToken(sql: Sql, { hash, userId, createdAt }: NewSignInToken): void {
  assertUser(sql, userId)
  sql.run('DELETE FROM sign_in_tokens WHERE user_id = ?', userId)
  sql.run('INSERT INTO sign_in_tokens (hash, user_id, created_at) VALUES (?, ?, ?)', hash, userId, createdAt)
}

export function redeemSignInToken(
  sql: Sql,
  token: Uint8Array,
  madeAfter: number,
  session: Omit<NewSession, 'userId'>,
): string | undefined {
  const found = sql.get<{ user_id: string; created_at: number }>(
    'DELETE FROM sign_in_tokens WHERE hash = ? RETURNING user_id, created_at',
    token,
  )
  if (!found || found.created_at < madeAfter) return undefined
  createSession(sql, { ...session, userId: found.user_id })
  return found.user_id
}
