import type { DeletedWorkflow } from '../../dashboard-store.ts'
import { deletedWorkflowNotFound } from '../../errors/workflow-errors.ts'
import { documentOf } from '../../stored-values.ts'
import type { Sql } from '../connection.ts'
import { noteChanges, refusingTakenName } from './workflows.ts'

const selectDeleted = `
  SELECT f.id, w.id AS "workspaceId", f.deleted_at AS "deletedAt", f.deleted_version AS version, f.document
  FROM millrace.workflows f JOIN millrace.workspaces w ON w.number = f.workspace
  WHERE f.deleted_at IS NOT NULL`

/** Newest first. */
export async function listDeletedWorkflows(sql: Sql, workspaceId: string, limit: number): Promise<DeletedWorkflow[]> {
  const rows = await sql.all<SqlDeleted>(
    `${selectDeleted} AND w.id = $1 ORDER BY f.deleted_at DESC, f.number DESC LIMIT $2::bigint`,
    workspaceId,
    limit,
  )
  return rows.map(deletedOf)
}

export async function findDeletedWorkflow(sql: Sql, id: string): Promise<DeletedWorkflow | undefined> {
  const row = await sql.get<SqlDeleted>(`${selectDeleted} AND f.id = $1`, id)
  return row && deletedOf(row)
}

export async function restoreWorkflow(sql: Sql, id: string): Promise<void> {
  const deleted = await findDeletedWorkflow(sql, id)
  if (!deleted) throw deletedWorkflowNotFound(id)
  await refusingTakenName(deleted.document.name, () =>
    sql.run('UPDATE millrace.workflows SET deleted_at = NULL, deleted_version = NULL WHERE id = $1', id),
  )
  await noteChanges(sql, id)
}

type SqlDeleted = Omit<DeletedWorkflow, 'document'> & { document: string }

const deletedOf = (row: SqlDeleted): DeletedWorkflow => ({ ...row, document: documentOf(row.id, row.document) })
