import type { Role, SharedRole } from '../../../domain/account/role.ts'
import { AppError } from '../../../domain/errors.ts'
import type { MemberRow, NewWorkspace, WorkspaceRow } from '../../store.ts'
import type { Sql } from '../connection.ts'
import { type SqlWorkspace, workspaceOf } from './rows.ts'

export function createWorkspace(sql: Sql, { id, name, ownerId, at }: NewWorkspace): void {
  assertUser(sql, ownerId)
  sql.run('INSERT INTO workspaces (id, name, owner_id, created_at) VALUES (?, ?, ?, ?)', id, name, ownerId, at)
  putMember(sql, id, ownerId, 'owner')
}

/** Oldest first. */
export function listWorkspaces(sql: Sql, userId: string | null): WorkspaceRow[] {
  if (userId === null) return sql.all<SqlWorkspace>(`${selectWorkspaces} ORDER BY number`).map(workspaceOf)
  return sql
    .all<SqlWorkspace>(
      `SELECT w.id, w.name, w.owner_id, w.created_at, m.role
       FROM members m JOIN workspaces w ON w.number = m.workspace
       WHERE m.user_id = ? ORDER BY w.number`,
      userId,
    )
    .map(workspaceOf)
}

const selectWorkspaces = 'SELECT id, name, owner_id, created_at, NULL AS role FROM workspaces'

export function getWorkspace(sql: Sql, id: string): WorkspaceRow | undefined {
  const row = sql.get<SqlWorkspace>(`${selectWorkspaces} WHERE id = ?`, id)
  return row && workspaceOf(row)
}

export function renameWorkspace(sql: Sql, id: string, name: string): WorkspaceRow {
  sql.run('UPDATE workspaces SET name = ? WHERE id = ?', name, id)
  const row = getWorkspace(sql, id)
  if (!row) throw new AppError('NOT_FOUND', `There is no workspace ${id}`)
  return row
}

export function listMembers(sql: Sql, workspaceId: string): MemberRow[] {
  return sql
    .all<{ user_id: string; email: string; role: Role }>(
      `SELECT m.user_id, u.email, m.role
       FROM workspaces w JOIN members m ON m.workspace = w.number JOIN users u ON u.id = m.user_id
       WHERE w.id = ? ORDER BY m.user_id <> w.owner_id, u.email`,
      workspaceId,
    )
    .map(({ user_id, email, role }) => ({ userId: user_id, email, role }))
}

export function setMember(sql: Sql, workspaceId: string, userId: string, role: SharedRole): void {
  assertShared(sql, workspaceId, userId)
  assertUser(sql, userId)
  putMember(sql, workspaceId, userId, role)
}

export function removeMember(sql: Sql, workspaceId: string, userId: string): boolean {
  assertShared(sql, workspaceId, userId)
  const removed = sql.run(
    'DELETE FROM members WHERE user_id = ? AND workspace = (SELECT number FROM workspaces WHERE id = ?)',
    userId,
    workspaceId,
  )
  return removed > 0
}

function putMember(sql: Sql, workspaceId: string, userId: string, role: Role): void {
  sql.run(
    `INSERT INTO members (user_id, workspace, role) SELECT ?, number, ? FROM workspaces WHERE id = ?
     ON CONFLICT DO UPDATE SET role = excluded.role`,
    userId,
    role,
    workspaceId,
  )
}

/** Throws NOT_FOUND when there is no such account. */
export function assertUser(sql: Sql, userId: string): void {
  if (!sql.get('SELECT 1 FROM users WHERE id = ?', userId)) {
    throw new AppError('NOT_FOUND', `There is no account ${userId}`)
  }
}

/** Throws for the owner: a workspace always keeps its owner, who is responsible for it and pays for it. */
function assertShared(sql: Sql, workspaceId: string, userId: string): void {
  const workspace = getWorkspace(sql, workspaceId)
  if (!workspace) throw new AppError('NOT_FOUND', `There is no workspace ${workspaceId}`)
  if (workspace.ownerId === userId) {
    throw new AppError(
      'CONFLICT',
      `This account owns the workspace ${workspaceId}. The role of the owner cannot be changed.`,
    )
  }
}
