import type { DeletedWorkflow } from '../../dashboard-store.ts'
import { deletedWorkflowNotFound } from '../../errors/workflow-errors.ts'
import { documentOf } from '../../stored-values.ts'
import type { Sql } from '../connection.ts'
import { noteChanges, refusingTakenName } from './workflows.ts'

const selectDeleted = `
  SELECT f.id, w.id AS workspaceId, f.deleted_at AS deletedAt, f.deleted_version AS version, f.document
  FROM workflows f JOIN workspaces w ON w.number = f.workspace
  WHERE f.deleted_at IS NOT NULL`

/** Newest first. */
export function listDeletedWorkflows(sql: Sql, workspaceId: string, limit: number): DeletedWorkflow[] {
  return sql
    .all<SqlDeleted>(
      `${selectDeleted} AND w.id = ? ORDER BY f.deleted_at DESC, f.number DESC LIMIT ?`,
      workspaceId,
      limit,
    )
    .map(deletedOf)
}

export function findDeletedWorkflow(sql: Sql, id: string): DeletedWorkflow | undefined {
  const row = sql.get<SqlDeleted>(`${selectDeleted} AND f.id = ?`, id)
  return row && deletedOf(row)
}

export function restoreWorkflow(sql: Sql, id: string): void {
  const name = findDeletedWorkflow(sql, id)?.document.name
  if (name === undefined) throw deletedWorkflowNotFound(id)
  refusingTakenName(name, () =>
    sql.run('UPDATE workflows SET deleted_at = NULL, deleted_version = NULL WHERE id = ?', id),
  )
  noteChanges(sql, id)
}

type SqlDeleted = Omit<DeletedWorkflow, 'document'> & { document: string }

const deletedOf = (row: SqlDeleted): DeletedWorkflow => ({ ...row, document: documentOf(row.id, row.document) })
