import { noRegistrations, type Registrations } from '../../../domain/workflow/trigger.ts'
import type { WorkflowDocument } from '../../../domain/workflow/workflow.ts'
import { workflowNotFound } from '../../errors/workflow-errors.ts'
import { documentOf, documentText } from '../../stored-values.ts'
import type { ActiveRow, DeploymentRow, DeploymentTexts } from '../../workflow-store.ts'
import { noteDeployment } from '../alerts/evaluations.ts'
import type { Sql } from '../connection.ts'
import { register, unregister } from './registrations.ts'
import { deploymentOf, type SqlDeployment } from './rows.ts'
import { noteChanges } from './workflows.ts'

const selectDeployments = `
  SELECT f.id AS workflowId, d.version, d.document, d.created_at AS createdAt, d.created_by AS createdBy,
    u.email AS author, d.name, d.description, d.version IS f.active_version AS active
  FROM deployments d JOIN workflows f ON f.number = d.workflow LEFT JOIN users u ON u.id = d.created_by
  WHERE f.id = ?`

export function deploy(
  sql: Sql,
  workflowId: string,
  document: WorkflowDocument,
  at: number,
  userId: string,
  registrations: Registrations = noRegistrations,
  { name = null, description = null }: DeploymentTexts = {},
): DeploymentRow {
  const workflow = sql.get<{ number: number }>(
    'SELECT number FROM workflows WHERE id = ? AND deleted_at IS NULL',
    workflowId,
  )
  if (!workflow) throw workflowNotFound(workflowId)
  const { latest } = sql.get<{ latest: number | null }>(
    'SELECT max(version) AS latest FROM deployments WHERE workflow = ?',
    workflow.number,
  ) ?? { latest: null }
  const version = (latest ?? 0) + 1
  sql.run(
    `INSERT INTO deployments (workflow, version, document, created_at, created_by, name, description)
     VALUES (?, ?, ?, ?, ?, ?, ?)`,
    workflow.number,
    version,
    documentText(document),
    at,
    userId,
    name,
    description,
  )
  makeActive(sql, { workflow: workflow.number, version, at, registrations })
  noteChanges(sql, workflowId)
  return getDeployment(sql, workflowId, version)!
}

export function undeploy(sql: Sql, workflowId: string): void {
  sql.run('UPDATE workflows SET active_version = NULL, deployed_at = NULL, has_changes = 0 WHERE id = ?', workflowId)
  unregister(sql, workflowId)
}

export function activate(
  sql: Sql,
  workflowId: string,
  version: number,
  at: number,
  registrations: Registrations = noRegistrations,
): boolean {
  const found = sql.get<{ workflow: number }>(
    `SELECT d.workflow FROM deployments d JOIN workflows f ON f.number = d.workflow
     WHERE f.id = ? AND f.deleted_at IS NULL AND d.version = ?`,
    workflowId,
    version,
  )
  if (!found) return false
  makeActive(sql, { workflow: found.workflow, version, at, registrations })
  noteChanges(sql, workflowId)
  return true
}

export function describeDeployment(sql: Sql, workflowId: string, version: number, texts: DeploymentTexts): boolean {
  const known = getDeployment(sql, workflowId, version)
  if (!known) return false
  sql.run(
    `UPDATE deployments SET name = ?, description = ?
     WHERE workflow = (SELECT number FROM workflows WHERE id = ?) AND version = ?`,
    texts.name === undefined ? known.name : texts.name,
    texts.description === undefined ? known.description : texts.description,
    workflowId,
    version,
  )
  return true
}

/** Newest first. */
export function listDeployments(
  sql: Sql,
  workflowId: string,
  page?: { before?: number | undefined; limit: number },
): DeploymentRow[] {
  const rows = sql.all<SqlDeployment>(
    `${selectDeployments} AND d.version < ? ORDER BY d.version DESC LIMIT ?`,
    workflowId,
    page?.before ?? Number.MAX_SAFE_INTEGER,
    page?.limit ?? -1,
  )
  return rows.map(deploymentOf)
}

/** Also finds versions of deleted workflows: the details of an execution show the version that ran. */
export function getDeployment(sql: Sql, workflowId: string, version: number): DeploymentRow | undefined {
  const row = sql.get<SqlDeployment>(`${selectDeployments} AND d.version = ?`, workflowId, version)
  return row && deploymentOf(row)
}

export function getActive(sql: Sql, workflowId: string): ActiveRow | undefined {
  const row = sql.get<SqlActive>(
    `SELECT w.id AS workspaceId, w.owner_id AS ownerId, d.version, d.document
     FROM workflows f JOIN workspaces w ON w.number = f.workspace
     LEFT JOIN deployments d ON d.workflow = f.number AND d.version = f.active_version
     WHERE f.id = ? AND f.deleted_at IS NULL`,
    workflowId,
  )
  return row && activeOf(workflowId, row)
}

/** Also finds versions of deleted workflows: a job that was accepted still runs. */
export function getVersion(sql: Sql, workflowId: string, version: number): ActiveRow | undefined {
  const row = sql.get<SqlActive>(
    `SELECT w.id AS workspaceId, w.owner_id AS ownerId, d.version, d.document
     FROM workflows f JOIN workspaces w ON w.number = f.workspace JOIN deployments d ON d.workflow = f.number
     WHERE f.id = ? AND d.version = ?`,
    workflowId,
    version,
  )
  return row && activeOf(workflowId, row)
}

type SqlActive = Omit<ActiveRow, 'workflowId' | 'deployment'> & { version: number | null; document: string | null }

function activeOf(workflowId: string, { version, document, ...owner }: SqlActive): ActiveRow {
  const isDeployed = version !== null && document !== null
  const deployment = isDeployed ? { version, document: documentOf(workflowId, document) } : null
  return { workflowId, ...owner, deployment }
}

type Activation = { workflow: number; version: number; at: number; registrations: Registrations }

function makeActive(sql: Sql, { workflow, version, at, registrations }: Activation): void {
  sql.run('UPDATE workflows SET active_version = ?, deployed_at = ? WHERE number = ?', version, at, workflow)
  register(sql, { workflow, version, at, registrations })
  noteDeployment(sql, workflow, at)
}
