import type { Role, SharedRole } from '../../../domain/account/role.ts'
import type { MemberRow, NewWorkspace, WorkspaceRow } from '../../account-store.ts'
import { ownerKeepsRole, unknownAccount, unknownWorkspace } from '../../errors/account-errors.ts'
import type { Sql } from '../connection.ts'

export function createWorkspace(sql: Sql, { id, name, ownerId, at }: NewWorkspace): void {
  assertUser(sql, ownerId)
  sql.run('INSERT INTO workspaces (id, name, owner_id, created_at) VALUES (?, ?, ?, ?)', id, name, ownerId, at)
  putMember(sql, id, ownerId, 'owner')
}

/** Oldest first. */
export function listWorkspaces(sql: Sql, userId: string | null): WorkspaceRow[] {
  if (userId === null) return sql.all<WorkspaceRow>(`${selectWorkspaces} ORDER BY number`)
  return sql.all<WorkspaceRow>(
    `SELECT w.id, w.name, w.owner_id AS ownerId, w.created_at AS createdAt, m.role
     FROM members m JOIN workspaces w ON w.number = m.workspace
     WHERE m.user_id = ? ORDER BY w.number`,
    userId,
  )
}

const selectWorkspaces = 'SELECT id, name, owner_id AS ownerId, created_at AS createdAt, NULL AS role FROM workspaces'

export function getWorkspace(sql: Sql, id: string): WorkspaceRow | undefined {
  return sql.get<WorkspaceRow>(`${selectWorkspaces} WHERE id = ?`, id)
}

export function renameWorkspace(sql: Sql, id: string, name: string): WorkspaceRow {
  sql.run('UPDATE workspaces SET name = ? WHERE id = ?', name, id)
  const row = getWorkspace(sql, id)
  if (!row) throw unknownWorkspace(id)
  return row
}

export function listMembers(sql: Sql, workspaceId: string): MemberRow[] {
  return sql.all<MemberRow>(
    `SELECT m.user_id AS userId, u.email, m.role
     FROM workspaces w JOIN members m ON m.workspace = w.number JOIN users u ON u.id = m.user_id
     WHERE w.id = ? ORDER BY m.user_id <> w.owner_id, u.email`,
    workspaceId,
  )
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
    throw unknownAccount(userId)
  }
}

/** Throws CONFLICT for the owner. */
function assertShared(sql: Sql, workspaceId: string, userId: string): void {
  const workspace = getWorkspace(sql, workspaceId)
  if (!workspace) throw unknownWorkspace(workspaceId)
  if (workspace.ownerId === userId) {
    throw ownerKeepsRole(workspaceId)
  }
}
