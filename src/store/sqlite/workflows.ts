import { AppError } from '../../domain/errors.ts'
import { newId } from '../../domain/ids.ts'
import type { NewSubscription } from '../../domain/webhook.ts'
import type { WorkflowDocument } from '../../domain/workflow.ts'
import type { NewWorkflow, WorkflowRow } from '../store.ts'
import type { Sql } from './connection.ts'
import { isDuplicate } from './failures.ts'
import { unregister } from './registrations.ts'
import { documentText, type SqlWorkflow, workflowOf } from './rows.ts'
import { replaceSubscriptions } from './subscriptions.ts'

const selectWorkflows = `
  SELECT f.id, w.id AS workspace_id, f.document, f.created_at, f.updated_at, f.active_version, f.deployed_at
  FROM workflows f JOIN workspaces w ON w.number = f.workspace
  WHERE f.deleted_at IS NULL`

export function createWorkflow(sql: Sql, { id, workspaceId, document, webhooks, at }: NewWorkflow): WorkflowRow {
  const workspace = sql.get<{ number: number }>('SELECT number FROM workspaces WHERE id = ?', workspaceId)
  if (!workspace) throw new AppError('NOT_FOUND', `There is no workspace ${workspaceId}`)
  // Ids of deleted workflows are not free: their log entries still go by them.
  const isFree = id !== null && !sql.get('SELECT 1 FROM workflows WHERE id = ?', id)
  const given = isFree ? id : newId()
  refusingTakenName(document.name, () =>
    sql.run(
      `INSERT INTO workflows (id, workspace, name, description, document, created_at, updated_at)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6)`,
      given,
      workspace.number,
      document.name,
      document.description ?? null,
      documentText(document),
      at,
    ),
  )
  if (webhooks) replaceSubscriptions(sql, given, webhooks, at)
  return expectWorkflow(sql, given)
}

export function updateWorkflow(
  sql: Sql,
  id: string,
  document: WorkflowDocument,
  at: number,
  webhooks?: readonly NewSubscription[],
): WorkflowRow {
  refusingTakenName(document.name, () =>
    sql.run(
      `UPDATE workflows SET name = ?, description = ?, document = ?, updated_at = ?
       WHERE id = ? AND deleted_at IS NULL`,
      document.name,
      document.description ?? null,
      documentText(document),
      at,
      id,
    ),
  )
  if (webhooks) replaceSubscriptions(sql, id, webhooks, at)
  return expectWorkflow(sql, id)
}

export function getWorkflow(sql: Sql, id: string): WorkflowRow | undefined {
  const row = sql.get<SqlWorkflow>(`${selectWorkflows} AND f.id = ?`, id)
  return row && workflowOf(row)
}

/** By name. */
export function listWorkflows(sql: Sql, workspaceId: string): WorkflowRow[] {
  return sql.all<SqlWorkflow>(`${selectWorkflows} AND w.id = ? ORDER BY f.name`, workspaceId).map(workflowOf)
}

export function deleteWorkflow(sql: Sql, id: string, at: number): boolean {
  unregister(sql, id)
  return (
    sql.run(
      `UPDATE workflows SET deleted_at = ?, active_version = NULL, deployed_at = NULL
       WHERE id = ? AND deleted_at IS NULL`,
      at,
      id,
    ) > 0
  )
}

export function expectWorkflow(sql: Sql, id: string): WorkflowRow {
  const row = getWorkflow(sql, id)
  if (!row) throw new AppError('NOT_FOUND', `There is no workflow ${id}`)
  return row
}

function refusingTakenName(name: string, write: () => void): void {
  try {
    write()
  } catch (error) {
    if (!isDuplicate(error, 'workflows.workspace, workflows.name')) throw error
    throw new AppError('CONFLICT', `The workspace has a workflow named "${name}" already. Choose another name.`)
  }
}
