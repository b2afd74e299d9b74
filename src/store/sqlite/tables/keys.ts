import type { KeyRow, KeyUse, NewKey } from '../../account-store.ts'
import { notMember } from '../../errors/account-errors.ts'
import type { Sql } from '../connection.ts'
import { keyOf, type SqlKey } from './rows.ts'
import { assertUser } from './workspaces.ts'

/** A personal key has access to all workspaces of its account, a workspace key only to its own workspace. */
const selectKeys = `
  SELECT k.id, k.last_four AS lastFour, k.name, k.user_id AS userId, w.id AS workspaceId, k.created_at AS createdAt,
    k.expires_at AS expiresAt, k.revoked_at AS revokedAt, k.last_used_at AS lastUsedAt, (
      SELECT json_group_object(reached.id, m.role)
      FROM members m JOIN workspaces reached ON reached.number = m.workspace
      WHERE m.user_id = k.user_id AND (k.workspace IS NULL OR k.workspace = m.workspace)
    ) AS roles
  FROM keys k LEFT JOIN workspaces w ON w.number = k.workspace`

export function findKey(sql: Sql, hash: Uint8Array): KeyRow | undefined {
  const row = sql.get<SqlKey>(`${selectKeys} WHERE k.hash = ?`, hash)
  return row && keyOf(row)
}

export function createKey(sql: Sql, key: NewKey): void {
  assertUser(sql, key.userId)
  let workspace: number | null = null
  if (key.workspaceId !== null) {
    const found = sql.get<{ number: number }>(
      'SELECT w.number FROM workspaces w JOIN members m ON m.workspace = w.number WHERE w.id = ? AND m.user_id = ?',
      key.workspaceId,
      key.userId,
    )
    if (!found) throw notMember(key.workspaceId)
    workspace = found.number
  }
  sql.run(
    `INSERT INTO keys (id, hash, last_four, name, user_id, workspace, created_at, expires_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
    key.id,
    key.hash,
    key.lastFour,
    key.name,
    key.userId,
    workspace,
    key.createdAt,
    key.expiresAt,
  )
}

/** Newest first. */
export function listKeys(sql: Sql, userId?: string): KeyRow[] {
  if (userId === undefined) return sql.all<SqlKey>(`${selectKeys} ORDER BY k.created_at DESC, k.id`).map(keyOf)
  return sql
    .all<SqlKey>(`${selectKeys} WHERE k.user_id = ?1 OR w.owner_id = ?1 ORDER BY k.created_at DESC, k.id`, userId)
    .map(keyOf)
}

export function revokeKey(sql: Sql, id: string, at: number): boolean {
  return sql.run('UPDATE keys SET revoked_at = ? WHERE id = ? AND revoked_at IS NULL', at, id) > 0
}

/** Also replaces a time in the future, which was recorded before the clock was set back. */
export function recordKeyUses(sql: Sql, uses: readonly KeyUse[]): void {
  for (const { keyId, at } of uses) {
    sql.run(
      `UPDATE keys SET last_used_at = ?1
       WHERE id = ?2 AND (last_used_at IS NULL OR last_used_at NOT BETWEEN ?1 - 59999 AND ?1)`,
      at,
      keyId,
    )
  }
}
