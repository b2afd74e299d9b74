import type { KeyRow, KeyUse, NewKey } from '../../account-store.ts'
import { notMember } from '../../errors/account-errors.ts'
import { rolesOf } from '../../stored-values.ts'
import { rowsOf, type Sql, storable } from '../connection.ts'
import { assertUser } from './workspaces.ts'

/** A personal key has access to all workspaces of its account, a workspace key only to its own workspace. */
const selectKeys = `
  SELECT k.id, k.last_four AS "lastFour", k.name, k.user_id AS "userId", w.id AS "workspaceId",
    k.created_at AS "createdAt", k.expires_at AS "expiresAt", k.revoked_at AS "revokedAt",
    k.last_used_at AS "lastUsedAt", (
      SELECT json_object_agg(reached.id, m.role)::text
      FROM millrace.members m JOIN millrace.workspaces reached ON reached.number = m.workspace
      WHERE m.user_id = k.user_id AND (k.workspace IS NULL OR k.workspace = m.workspace)
    ) AS roles
  FROM millrace.keys k LEFT JOIN millrace.workspaces w ON w.number = k.workspace`

export async function findKey(sql: Sql, hash: Uint8Array): Promise<KeyRow | undefined> {
  const row = await sql.get<SqlKey>(`${selectKeys} WHERE k.hash = $1`, hash)
  return row && keyOf(row)
}

export async function createKey(sql: Sql, key: NewKey): Promise<void> {
  await assertUser(sql, key.userId)
  let workspace: number | null = null
  if (key.workspaceId !== null) {
    const found = await sql.get<{ number: number }>(
      `SELECT w.number FROM millrace.workspaces w JOIN millrace.members m ON m.workspace = w.number
       WHERE w.id = $1 AND m.user_id = $2`,
      ...[key.workspaceId, key.userId],
    )
    if (!found) throw notMember(key.workspaceId)
    workspace = found.number
  }
  await sql.run(
    `INSERT INTO millrace.keys (id, hash, last_four, name, user_id, workspace, created_at, expires_at)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    ...[key.id, key.hash, key.lastFour, storable(key.name)],
    ...[key.userId, workspace, key.createdAt, key.expiresAt],
  )
}

/** Newest first. */
export async function listKeys(sql: Sql, userId?: string): Promise<KeyRow[]> {
  const order = 'ORDER BY k.created_at DESC, k.id'
  const rows =
    userId === undefined
      ? await sql.all<SqlKey>(`${selectKeys} ${order}`)
      : await sql.all<SqlKey>(`${selectKeys} WHERE k.user_id = $1 OR w.owner_id = $1 ${order}`, userId)
  return rows.map(keyOf)
}

export async function revokeKey(sql: Sql, id: string, at: number): Promise<boolean> {
  return (await sql.run('UPDATE millrace.keys SET revoked_at = $1 WHERE id = $2 AND revoked_at IS NULL', at, id)) > 0
}

/** Also replaces a time in the future, which was recorded before the clock was set back. */
export async function recordKeyUses(sql: Sql, uses: readonly KeyUse[]): Promise<void> {
  // Locked in order, because processes that lock the same keys in different orders would wait for each other for ever.
  await sql.run(
    `WITH due AS (
       SELECT k.id, u.at
       FROM (
         SELECT "keyId", max(at) AS at
         FROM json_to_recordset($1::text::json) AS r ("keyId" text, at bigint) GROUP BY "keyId"
       ) u JOIN millrace.keys k ON k.id = u."keyId"
       WHERE k.last_used_at IS NULL OR k.last_used_at NOT BETWEEN u.at - 59999 AND u.at
       ORDER BY k.id FOR UPDATE OF k
     )
     UPDATE millrace.keys k SET last_used_at = due.at FROM due WHERE k.id = due.id`,
    rowsOf(uses),
  )
}

/** `roles`: JSON; null for an account that is not a member of any workspace. */
type SqlKey = Omit<KeyRow, 'roles'> & { roles: string | null }

const keyOf = (row: SqlKey): KeyRow => ({ ...row, roles: rolesOf(row.roles ?? '{}') })
