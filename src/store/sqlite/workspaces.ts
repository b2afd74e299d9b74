import type { WorkspaceRow } from '../store.ts'
import type { Sql } from './connection.ts'
import { type SqlWorkspace, workspaceOf } from './rows.ts'

/** Oldest first. */
export function listWorkspaces(sql: Sql, userId: string): WorkspaceRow[] {
  return sql
    .all<SqlWorkspace>(
      `SELECT w.id, w.name, w.owner_id, w.created_at, m.role
       FROM members m JOIN workspaces w ON w.number = m.workspace
       WHERE m.user_id = ? ORDER BY w.number`,
      userId,
    )
    .map(workspaceOf)
}

export function getWorkspace(sql: Sql, id: string): WorkspaceRow | undefined {
  const row = sql.get<SqlWorkspace>(
    'SELECT id, name, owner_id, created_at, NULL AS role FROM workspaces WHERE id = ?',
    id,
  )
  return row && workspaceOf(row)
}
