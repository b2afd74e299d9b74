import { noRegistrations, type Registrations } from '../../../domain/workflow/trigger.ts'
import type { WorkflowDocument } from '../../../domain/workflow/workflow.ts'
import { workflowNotFound } from '../../errors/workflow-errors.ts'
import { documentOf, documentText } from '../../stored-values.ts'
import type { ActiveRow, DeploymentRow, DeploymentTexts } from '../../workflow-store.ts'
import { noteDeployment } from '../alerts/evaluations.ts'
import { type Sql, storable } from '../connection.ts'
import { register, unregister } from './registrations.ts'
import { noteChanges } from './workflows.ts'

const selectDeployments = `
  SELECT f.id AS "workflowId", d.version, d.document, d.created_at AS "createdAt", d.created_by AS "createdBy",
    u.email AS author, d.name, d.description, d.version IS NOT DISTINCT FROM f.active_version AS active
  FROM millrace.deployments d JOIN millrace.workflows f ON f.number = d.workflow
  LEFT JOIN millrace.users u ON u.id = d.created_by
  WHERE f.id = $1`

export async function deploy(
  sql: Sql,
  workflowId: string,
  document: WorkflowDocument,
  at: number,
  userId: string,
  registrations: Registrations = noRegistrations,
  { name = null, description = null }: DeploymentTexts = {},
): Promise<DeploymentRow> {
  const workflow = await sql.get<{ number: number; latest: number | null }>(
    `SELECT f.number, (SELECT max(version) FROM millrace.deployments WHERE workflow = f.number) AS latest
     FROM millrace.workflows f WHERE f.id = $1 AND f.deleted_at IS NULL`,
    workflowId,
  )
  if (!workflow) throw workflowNotFound(workflowId)
  const version = (workflow.latest ?? 0) + 1
  await sql.run(
    `INSERT INTO millrace.deployments (workflow, version, document, created_at, created_by, name, description)
     VALUES ($1, $2, $3, $4::bigint, $5, $6, $7)`,
    workflow.number,
    version,
    documentText(document),
    at,
    userId,
    optional(name),
    optional(description),
  )
  await makeActive(sql, { workflow: workflow.number, version, at, registrations })
  await noteChanges(sql, workflowId)
  return (await getDeployment(sql, workflowId, version))!
}

export async function undeploy(sql: Sql, workflowId: string): Promise<void> {
  await sql.run(
    'UPDATE millrace.workflows SET active_version = NULL, deployed_at = NULL, has_changes = false WHERE id = $1',
    workflowId,
  )
  await unregister(sql, workflowId)
}

export async function activate(
  sql: Sql,
  workflowId: string,
  version: number,
  at: number,
  registrations: Registrations = noRegistrations,
): Promise<boolean> {
  const found = await sql.get<{ workflow: number }>(
    `SELECT d.workflow FROM millrace.deployments d JOIN millrace.workflows f ON f.number = d.workflow
     WHERE f.id = $1 AND f.deleted_at IS NULL AND d.version = $2::bigint`,
    workflowId,
    version,
  )
  if (!found) return false
  await makeActive(sql, { workflow: found.workflow, version, at, registrations })
  await noteChanges(sql, workflowId)
  return true
}

export async function describeDeployment(
  sql: Sql,
  workflowId: string,
  version: number,
  { name, description }: DeploymentTexts,
): Promise<boolean> {
  const described = await sql.run(
    `UPDATE millrace.deployments
     SET name = CASE WHEN $3 THEN $4 ELSE name END, description = CASE WHEN $5 THEN $6 ELSE description END
     WHERE workflow = (SELECT number FROM millrace.workflows WHERE id = $1) AND version = $2::bigint`,
    workflowId,
    version,
    name !== undefined,
    optional(name),
    description !== undefined,
    optional(description),
  )
  return described > 0
}

/** Newest first. */
export async function listDeployments(
  sql: Sql,
  workflowId: string,
  page?: { before?: number | undefined; limit: number },
): Promise<DeploymentRow[]> {
  const rows = await sql.all<SqlDeployment>(
    `${selectDeployments} AND d.version < $2::bigint ORDER BY d.version DESC LIMIT $3::bigint`,
    workflowId,
    page?.before ?? Number.MAX_SAFE_INTEGER,
    page?.limit ?? null,
  )
  return rows.map(deploymentOf)
}

/** Also finds versions of deleted workflows: the details of an execution show the version that ran. */
export async function getDeployment(sql: Sql, workflowId: string, version: number): Promise<DeploymentRow | undefined> {
  const row = await sql.get<SqlDeployment>(`${selectDeployments} AND d.version = $2::bigint`, workflowId, version)
  return row && deploymentOf(row)
}

export async function getActive(sql: Sql, workflowId: string): Promise<ActiveRow | undefined> {
  const row = await sql.get<SqlActive>(
    `SELECT w.id AS "workspaceId", w.owner_id AS "ownerId", d.version, d.document
     FROM millrace.workflows f JOIN millrace.workspaces w ON w.number = f.workspace
     LEFT JOIN millrace.deployments d ON d.workflow = f.number AND d.version = f.active_version
     WHERE f.id = $1 AND f.deleted_at IS NULL`,
    workflowId,
  )
  return row && activeOf(workflowId, row)
}

/** Also finds versions of deleted workflows: a job that was accepted still runs. */
export async function getVersion(sql: Sql, workflowId: string, version: number): Promise<ActiveRow | undefined> {
  const row = await sql.get<SqlActive>(
    `SELECT w.id AS "workspaceId", w.owner_id AS "ownerId", d.version, d.document
     FROM millrace.workflows f JOIN millrace.workspaces w ON w.number = f.workspace
     JOIN millrace.deployments d ON d.workflow = f.number
     WHERE f.id = $1 AND d.version = $2::bigint`,
    workflowId,
    version,
  )
  return row && activeOf(workflowId, row)
}

type SqlDeployment = Omit<DeploymentRow, 'document'> & { document: string }

const deploymentOf = (row: SqlDeployment): DeploymentRow => ({
  ...row,
  document: documentOf(row.workflowId, row.document),
})

type SqlActive = Omit<ActiveRow, 'workflowId' | 'deployment'> & { version: number | null; document: string | null }

function activeOf(workflowId: string, { version, document, ...owner }: SqlActive): ActiveRow {
  const isDeployed = version !== null && document !== null
  const deployment = isDeployed ? { version, document: documentOf(workflowId, document) } : null
  return { workflowId, ...owner, deployment }
}

type Activation = { workflow: number; version: number; at: number; registrations: Registrations }

async function makeActive(sql: Sql, { workflow, version, at, registrations }: Activation): Promise<void> {
  await sql.run(
    'UPDATE millrace.workflows SET active_version = $1, deployed_at = $2::bigint WHERE number = $3',
    version,
    at,
    workflow,
  )
  await register(sql, { workflow, version, at, registrations })
  await noteDeployment(sql, workflow, at)
}

const optional = (text: string | null | undefined) => (text == null ? null : storable(text))
