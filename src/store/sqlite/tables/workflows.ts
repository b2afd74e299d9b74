import { newId } from '../../../domain/ids.ts'
import type { NewSubscription } from '../../../domain/webhook/subscription.ts'
import { movedFolder } from '../../../domain/workflow/folders.ts'
import { runAlike } from '../../../domain/workflow/redeployment.ts'
import type { WorkflowDocument } from '../../../domain/workflow/workflow.ts'
import {
  type LastSave,
  nameTaken,
  savedSince,
  workflowNotFound,
  workspaceNotFound,
} from '../../errors/workflow-errors.ts'
import { documentOf, documentText } from '../../stored-values.ts'
import type { ActiveVersion, NewWorkflow, SaveFacts, WorkflowRow } from '../../workflow-store.ts'
import { forgetAlertStates } from '../alerts/alerts.ts'
import type { Sql } from '../connection.ts'
import { isDuplicate } from '../failures.ts'
import { copyPins, deletePins } from './pins.ts'
import { unregister } from './registrations.ts'
import { type SqlWorkflow, workflowOf } from './rows.ts'
import { replaceSubscriptions } from './subscriptions.ts'
import { copyTests } from './workflow-tests.ts'

const selectWorkflows = `
  SELECT f.id, w.id AS workspaceId, f.document, f.created_at AS createdAt, f.updated_at AS updatedAt,
    f.updated_by AS updatedBy, f.revision, f.has_changes AS hasChanges, f.active_version AS activeVersion,
    f.deployed_at AS deployedAt
  FROM workflows f JOIN workspaces w ON w.number = f.workspace
  WHERE f.deleted_at IS NULL`

export function createWorkflow(
  sql: Sql,
  { id, workspaceId, document, webhooks, by, at, copyOf }: NewWorkflow,
): WorkflowRow {
  const workspace = sql.get<{ number: number }>('SELECT number FROM workspaces WHERE id = ?', workspaceId)
  if (!workspace) throw workspaceNotFound(workspaceId)
  // The ID of a deleted workflow is not free: its log entries still refer to it.
  const isFree = id !== null && !sql.get('SELECT 1 FROM workflows WHERE id = ?', id)
  const given = isFree ? id : newId()
  refusingTakenName(document.name, () =>
    sql.run(
      `INSERT INTO workflows (id, workspace, name, description, document, created_at, updated_at, updated_by)
       VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?6, ?7)`,
      given,
      workspace.number,
      document.name,
      document.description ?? null,
      documentText(document),
      at,
      by ?? null,
    ),
  )
  if (webhooks) replaceSubscriptions(sql, given, webhooks, at)
  if (copyOf !== undefined) {
    copyPins(sql, copyOf, given)
    copyTests(sql, copyOf, given)
  }
  return expectWorkflow(sql, given)
}

export function updateWorkflow(
  sql: Sql,
  id: string,
  document: WorkflowDocument,
  at: number,
  webhooks?: readonly NewSubscription[],
  { by, ifRevision }: SaveFacts = {},
): WorkflowRow {
  if (ifRevision !== undefined) assertRevision(sql, id, ifRevision)
  refusingTakenName(document.name, () =>
    sql.run(
      `UPDATE workflows
       SET name = ?, description = ?, document = ?, updated_at = ?, updated_by = ?, revision = revision + 1
       WHERE id = ? AND deleted_at IS NULL`,
      document.name,
      document.description ?? null,
      documentText(document),
      at,
      by ?? null,
      id,
    ),
  )
  noteChanges(sql, id)
  if (webhooks) replaceSubscriptions(sql, id, webhooks, at)
  return expectWorkflow(sql, id)
}

function assertRevision(sql: Sql, id: string, expected: number): void {
  const row = sql.get<LastSave>(
    `SELECT f.revision, f.updated_at AS at, u.email FROM workflows f LEFT JOIN users u ON u.id = f.updated_by
     WHERE f.id = ? AND f.deleted_at IS NULL`,
    id,
  )
  if (row && row.revision !== expected) throw savedSince(expected, row)
}

/** Compares the draft with the active version, after either has changed. */
export function noteChanges(sql: Sql, id: string): void {
  const row = sql.get<{ draft: string; active: string | null }>(
    `SELECT f.document AS draft, d.document AS active
     FROM workflows f LEFT JOIN deployments d ON d.workflow = f.number AND d.version = f.active_version
     WHERE f.id = ?`,
    id,
  )
  if (!row) return
  const { draft, active } = row
  const differs = active !== null && active !== draft && !runAlike(documentOf(id, draft), documentOf(id, active))
  sql.run('UPDATE workflows SET has_changes = ? WHERE id = ?', differs ? 1 : 0, id)
}

export function getWorkflow(sql: Sql, id: string): WorkflowRow | undefined {
  const row = sql.get<SqlWorkflow>(`${selectWorkflows} AND f.id = ?`, id)
  return row && workflowOf(row)
}

/** Sorted by name. */
export function listWorkflows(sql: Sql, workspaceId: string): WorkflowRow[] {
  return sql.all<SqlWorkflow>(`${selectWorkflows} AND w.id = ? ORDER BY f.name`, workspaceId).map(workflowOf)
}

/** In order of creation. */
export function listActiveVersions(sql: Sql, workspaceId: string): ActiveVersion[] {
  return sql.all<ActiveVersion>(
    `SELECT f.id AS workflowId, f.active_version AS version FROM workflows f INDEXED BY workflows_by_age
     WHERE f.workspace = (SELECT number FROM workspaces WHERE id = ?) AND f.deleted_at IS NULL
       AND f.active_version IS NOT NULL
     ORDER BY f.number`,
    workspaceId,
  )
}

export function deleteWorkflow(sql: Sql, id: string, at: number): boolean {
  unregister(sql, id)
  forgetAlertStates(sql, id)
  deletePins(sql, id)
  return (
    sql.run(
      `UPDATE workflows
       SET deleted_at = ?, deleted_version = active_version, active_version = NULL, deployed_at = NULL, has_changes = 0
       WHERE id = ? AND deleted_at IS NULL`,
      at,
      id,
    ) > 0
  )
}

export function expectWorkflow(sql: Sql, id: string): WorkflowRow {
  const row = getWorkflow(sql, id)
  if (!row) throw workflowNotFound(id)
  return row
}

export function moveFolder(
  sql: Sql,
  workspaceId: string,
  from: string,
  to: string | null,
  at: number,
  by: string,
): number {
  const inside = sql.all<{ number: number; folder: string }>(
    `SELECT f.number, f.folder FROM workflows f JOIN workspaces w ON w.number = f.workspace
     WHERE w.id = ?1 AND f.deleted_at IS NULL AND (f.folder = ?2 OR substr(f.folder, 1, length(?2) + 1) = ?2 || '/')`,
    workspaceId,
    from,
  )
  for (const { number, folder } of inside) {
    sql.run(
      `UPDATE workflows SET updated_at = ?1, updated_by = ?2, revision = revision + 1,
         document = CASE WHEN ?3 = '' THEN json_remove(document, '$.folder') ELSE json_set(document, '$.folder', ?3) END
       WHERE number = ?4`,
      at,
      by,
      movedFolder(folder, from, to),
      number,
    )
  }
  return inside.length
}

export function refusingTakenName(name: string, write: () => void): void {
  try {
    write()
  } catch (error) {
    if (!isDuplicate(error, 'workflows.workspace, workflows.name')) throw error
    throw nameTaken(name)
  }
}
