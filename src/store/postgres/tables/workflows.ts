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
import { rowsOf, type Sql, storable } from '../connection.ts'
import { isDuplicate } from '../failures.ts'
import { copyPins, deletePins } from './pins.ts'
import { unregister } from './registrations.ts'
import { replaceSubscriptions } from './subscriptions.ts'
import { copyTests } from './workflow-tests.ts'

const selectWorkflows = `
  SELECT f.id, w.id AS "workspaceId", f.document, f.created_at AS "createdAt", f.updated_at AS "updatedAt",
    f.updated_by AS "updatedBy", f.revision, f.has_changes AS "hasChanges", f.active_version AS "activeVersion",
    f.deployed_at AS "deployedAt"
  FROM millrace.workflows f JOIN millrace.workspaces w ON w.number = f.workspace
  WHERE f.deleted_at IS NULL`

export async function createWorkflow(
  sql: Sql,
  { id, workspaceId, document, webhooks, by, at, copyOf }: NewWorkflow,
): Promise<WorkflowRow> {
  const wanted = id === null ? null : storable(id)
  const place = await sql.get<{ workspace: number; isFree: boolean }>(
    `SELECT number AS workspace, NOT EXISTS (SELECT 1 FROM millrace.workflows WHERE id = $2) AS "isFree"
     FROM millrace.workspaces WHERE id = $1`,
    workspaceId,
    wanted,
  )
  if (!place) throw workspaceNotFound(workspaceId)
  // The ID of a deleted workflow is not free: its log entries still refer to it.
  const given = wanted !== null && place.isFree ? wanted : newId()
  await refusingTakenName(document.name, () =>
    sql.run(
      `INSERT INTO millrace.workflows
         (id, workspace, name, description, folder, document, created_at, updated_at, updated_by)
       VALUES ($1, $2, $3, $4, $5, $6, $7::bigint, $7::bigint, $8)`,
      given,
      place.workspace,
      ...columnsOf(document),
      at,
      by ?? null,
    ),
  )
  if (webhooks) await replaceSubscriptions(sql, given, webhooks, at)
  if (copyOf !== undefined) {
    await copyPins(sql, copyOf, given)
    await copyTests(sql, copyOf, given)
  }
  return expectWorkflow(sql, given)
}

export async function updateWorkflow(
  sql: Sql,
  id: string,
  document: WorkflowDocument,
  at: number,
  webhooks?: readonly NewSubscription[],
  { by, ifRevision }: SaveFacts = {},
): Promise<WorkflowRow> {
  if (ifRevision !== undefined) await assertRevision(sql, id, ifRevision)
  await refusingTakenName(document.name, () =>
    sql.run(
      `UPDATE millrace.workflows
       SET name = $1, description = $2, folder = $3, document = $4, updated_at = $5::bigint, updated_by = $6,
         revision = revision + 1
       WHERE id = $7 AND deleted_at IS NULL`,
      ...columnsOf(document),
      at,
      by ?? null,
      id,
    ),
  )
  await noteChanges(sql, id)
  if (webhooks) await replaceSubscriptions(sql, id, webhooks, at)
  return expectWorkflow(sql, id)
}

async function assertRevision(sql: Sql, id: string, expected: number): Promise<void> {
  const row = await sql.get<LastSave>(
    `SELECT f.revision, f.updated_at AS at, u.email
     FROM millrace.workflows f LEFT JOIN millrace.users u ON u.id = f.updated_by
     WHERE f.id = $1 AND f.deleted_at IS NULL`,
    id,
  )
  if (row && row.revision !== expected) throw savedSince(expected, row)
}

/** Compares the draft with the active version, after either has changed. */
export async function noteChanges(sql: Sql, id: string): Promise<void> {
  const row = await sql.get<{ draft: string; active: string | null }>(
    `SELECT f.document AS draft, d.document AS active
     FROM millrace.workflows f
     LEFT JOIN millrace.deployments d ON d.workflow = f.number AND d.version = f.active_version
     WHERE f.id = $1`,
    id,
  )
  if (!row) return
  const { draft, active } = row
  const differs = active !== null && active !== draft && !runAlike(documentOf(id, draft), documentOf(id, active))
  await sql.run('UPDATE millrace.workflows SET has_changes = $1 WHERE id = $2 AND has_changes <> $1', differs, id)
}

export async function getWorkflow(sql: Sql, id: string): Promise<WorkflowRow | undefined> {
  const row = await sql.get<SqlWorkflow>(`${selectWorkflows} AND f.id = $1`, id)
  return row && workflowOf(row)
}

/** Sorted by name. */
export async function listWorkflows(sql: Sql, workspaceId: string): Promise<WorkflowRow[]> {
  const rows = await sql.all<SqlWorkflow>(`${selectWorkflows} AND w.id = $1 ORDER BY f.name`, workspaceId)
  return rows.map(workflowOf)
}

/** In order of creation. */
export async function listActiveVersions(sql: Sql, workspaceId: string): Promise<ActiveVersion[]> {
  return await sql.all<ActiveVersion>(
    `SELECT f.id AS "workflowId", f.active_version AS version FROM millrace.workflows f
     WHERE f.workspace = (SELECT number FROM millrace.workspaces WHERE id = $1) AND f.deleted_at IS NULL
       AND f.active_version IS NOT NULL
     ORDER BY f.number`,
    storable(workspaceId),
  )
}

export async function deleteWorkflow(sql: Sql, id: string, at: number): Promise<boolean> {
  await unregister(sql, id)
  await forgetAlertStates(sql, id)
  await deletePins(sql, id)
  const deleted = await sql.run(
    `UPDATE millrace.workflows
     SET deleted_at = $1::bigint, deleted_version = active_version, active_version = NULL, deployed_at = NULL,
       has_changes = false
     WHERE id = $2 AND deleted_at IS NULL`,
    at,
    id,
  )
  return deleted > 0
}

async function expectWorkflow(sql: Sql, id: string): Promise<WorkflowRow> {
  const row = await getWorkflow(sql, id)
  if (!row) throw workflowNotFound(id)
  return row
}

export async function moveFolder(
  sql: Sql,
  workspaceId: string,
  from: string,
  to: string | null,
  at: number,
  by: string,
): Promise<number> {
  const inside = await sql.all<{ number: number; document: string }>(
    `SELECT f.number, f.document FROM millrace.workflows f JOIN millrace.workspaces w ON w.number = f.workspace
     WHERE w.id = $1 AND f.deleted_at IS NULL AND (f.folder = $2 OR starts_with(f.folder, $2 || '/'))`,
    workspaceId,
    storable(from),
  )
  if (inside.length === 0) return 0
  const moved = inside.map(({ number, document }) => {
    // PostgreSQL's own JSON functions refuse the escape of U+0000.
    const { folder = '', ...rest } = JSON.parse(document) as WorkflowDocument
    const path = movedFolder(folder, from, to)
    const after = path === '' ? rest : { ...rest, folder: path }
    return { number, folder: path === '' ? null : storable(path), document: JSON.stringify(after) }
  })
  return sql.run(
    `UPDATE millrace.workflows f
     SET updated_at = $1::bigint, updated_by = $2, revision = f.revision + 1, folder = r.folder, document = r.document
     FROM json_to_recordset($3::text::json) AS r (number integer, folder text, document text)
     WHERE f.number = r.number`,
    at,
    by,
    rowsOf(moved),
  )
}

export async function refusingTakenName(name: string, write: () => Promise<unknown>): Promise<void> {
  try {
    await write()
  } catch (error) {
    if (!isDuplicate(error, 'workflows_by_name')) throw error
    throw nameTaken(name)
  }
}

/** The columns `name`, `description`, `folder` and `document`. */
function columnsOf(document: WorkflowDocument): [string, string | null, string | null, string] {
  const { name, description, folder } = document
  const optional = (text: string | undefined) => (text === undefined ? null : storable(text))
  return [storable(name), optional(description), optional(folder), documentText(document)]
}

type SqlWorkflow = Omit<WorkflowRow, 'document'> & { document: string }

const workflowOf = (row: SqlWorkflow): WorkflowRow => ({ ...row, document: documentOf(row.id, row.document) })
