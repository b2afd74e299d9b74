import type { Role, SharedRole } from '../../../domain/account/role.ts'
import type { MemberRow, NewWorkspace, WorkspaceRow } from '../../account-store.ts'
import { ownerKeepsRole, unknownAccount, unknownWorkspace } from '../../errors/account-errors.ts'
import { type Sql, storable } from '../connection.ts'

export async function createWorkspace(sql: Sql, { id, name, ownerId, at }: NewWorkspace): Promise<void> {
  await assertUser(sql, ownerId)
  await sql.run(
    'INSERT INTO millrace.workspaces (id, name, owner_id, created_at) VALUES ($1, $2, $3, $4)',
    ...[id, storable(name), ownerId, at],
  )
  await putMember(sql, id, ownerId, 'owner')
}

/** Oldest first. */
export async function listWorkspaces(sql: Sql, userId: string | null): Promise<WorkspaceRow[]> {
  if (userId === null) return await sql.all<WorkspaceRow>(`${selectWorkspaces} ORDER BY number`)
  return await sql.all<WorkspaceRow>(
    `SELECT w.id, w.name, w.owner_id AS "ownerId", w.created_at AS "createdAt", m.role
     FROM millrace.members m JOIN millrace.workspaces w ON w.number = m.workspace
     WHERE m.user_id = $1 ORDER BY w.number`,
    userId,
  )
}

const workspaceColumns = 'id, name, owner_id AS "ownerId", created_at AS "createdAt", NULL AS role'
const selectWorkspaces = `SELECT ${workspaceColumns} FROM millrace.workspaces`

export async function getWorkspace(sql: Sql, id: string): Promise<WorkspaceRow | undefined> {
  return await sql.get<WorkspaceRow>(`${selectWorkspaces} WHERE id = $1`, id)
}

export async function renameWorkspace(sql: Sql, id: string, name: string): Promise<WorkspaceRow> {
  const row = await sql.get<WorkspaceRow>(
    `UPDATE millrace.workspaces SET name = $1 WHERE id = $2 RETURNING ${workspaceColumns}`,
    ...[storable(name), id],
  )
  if (!row) throw unknownWorkspace(id)
  return row
}

export async function listMembers(sql: Sql, workspaceId: string): Promise<MemberRow[]> {
  return await sql.all<MemberRow>(
    `SELECT m.user_id AS "userId", u.email, m.role
     FROM millrace.workspaces w JOIN millrace.members m ON m.workspace = w.number
       JOIN millrace.users u ON u.id = m.user_id
     WHERE w.id = $1 ORDER BY m.user_id <> w.owner_id, lower(u.email)`,
    workspaceId,
  )
}

export async function setMember(sql: Sql, workspaceId: string, userId: string, role: SharedRole): Promise<void> {
  await assertShared(sql, workspaceId, userId)
  await assertUser(sql, userId)
  await putMember(sql, workspaceId, userId, role)
}

export async function removeMember(sql: Sql, workspaceId: string, userId: string): Promise<boolean> {
  await assertShared(sql, workspaceId, userId)
  const removed = await sql.run(
    `DELETE FROM millrace.members
     WHERE user_id = $1 AND workspace = (SELECT number FROM millrace.workspaces WHERE id = $2)`,
    ...[userId, workspaceId],
  )
  return removed > 0
}

async function putMember(sql: Sql, workspaceId: string, userId: string, role: Role): Promise<void> {
  await sql.run(
    `INSERT INTO millrace.members (user_id, workspace, role)
     SELECT $1, number, $2 FROM millrace.workspaces WHERE id = $3
     ON CONFLICT (user_id, workspace) DO UPDATE SET role = excluded.role`,
    ...[userId, role, workspaceId],
  )
}

/** Throws NOT_FOUND when there is no such account. */
export async function assertUser(sql: Sql, userId: string): Promise<void> {
  if (!(await sql.get('SELECT 1 FROM millrace.users WHERE id = $1', userId))) throw unknownAccount(userId)
}

/** Throws CONFLICT for the owner. */
async function assertShared(sql: Sql, workspaceId: string, userId: string): Promise<void> {
  const workspace = await getWorkspace(sql, workspaceId)
  if (!workspace) throw unknownWorkspace(workspaceId)
  if (workspace.ownerId === userId) throw ownerKeepsRole(workspaceId)
}
