import type { WorkflowDocument } from '../../../domain/workflow/workflow.ts'
import { draftsMax } from '../../drafts-max.ts'
import { workflowNotFound } from '../../errors/workflow-errors.ts'
import { documentOf, documentText } from '../../stored-values.ts'
import type { Sql } from '../connection.ts'

export async function keepDraft(sql: Sql, workflowId: string, document: WorkflowDocument): Promise<number> {
  const text = documentText(document)
  // The latest draft has the lowest version.
  const latest = await sql.get<{ workflow: number; version: number | null; isSame: boolean | null }>(
    `SELECT f.number AS workflow, d.version, d.document = $2 AS "isSame"
     FROM millrace.workflows f LEFT JOIN millrace.drafts d ON d.workflow = f.number
     WHERE f.id = $1 AND f.deleted_at IS NULL ORDER BY d.version LIMIT 1`,
    workflowId,
    text,
  )
  if (!latest) throw workflowNotFound(workflowId)
  if (latest.version !== null && latest.isSame) return latest.version
  const version = (latest.version ?? 0) - 1
  await sql.run(
    'INSERT INTO millrace.drafts (workflow, version, document) VALUES ($1, $2, $3)',
    latest.workflow,
    version,
    text,
  )
  await sql.run(
    'DELETE FROM millrace.drafts WHERE workflow = $1 AND version >= $2',
    latest.workflow,
    version + draftsMax,
  )
  return version
}

export async function getDocument(
  sql: Sql,
  workflowId: string,
  version: number,
): Promise<WorkflowDocument | undefined> {
  const row = await sql.get<{ document: string }>(version < 0 ? selectDraft : selectDeployment, workflowId, version)
  return row && documentOf(workflowId, row.document)
}

const [selectDraft, selectDeployment] = (['drafts', 'deployments'] as const).map(
  (table) => `
    SELECT d.document FROM millrace.${table} d JOIN millrace.workflows f ON f.number = d.workflow
    WHERE f.id = $1 AND d.version = $2::bigint`,
) as [string, string]
