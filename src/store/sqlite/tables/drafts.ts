import type { WorkflowDocument } from '../../../domain/workflow/workflow.ts'
import { draftsMax } from '../../drafts-max.ts'
import { workflowNotFound } from '../../errors/workflow-errors.ts'
import { documentOf, documentText } from '../../stored-values.ts'
import type { Sql } from '../connection.ts'

export function keepDraft(sql: Sql, workflowId: string, document: WorkflowDocument): number {
  const workflow = sql.get<{ number: number }>(
    'SELECT number FROM workflows WHERE id = ? AND deleted_at IS NULL',
    workflowId,
  )?.number
  if (workflow === undefined) throw workflowNotFound(workflowId)
  const text = documentText(document)
  const latest = sql.get<{ version: number; document: string }>(
    'SELECT version, document FROM drafts WHERE workflow = ? ORDER BY version LIMIT 1',
    workflow,
  )
  if (latest?.document === text) return latest.version
  const version = (latest?.version ?? 0) - 1
  sql.run('INSERT INTO drafts (workflow, version, document) VALUES (?, ?, ?)', workflow, version, text)
  sql.run('DELETE FROM drafts WHERE workflow = ? AND version >= ?', workflow, version + draftsMax)
  return version
}

export function getDocument(sql: Sql, workflowId: string, version: number): WorkflowDocument | undefined {
  const table = version < 0 ? 'drafts' : 'deployments'
  const row = sql.get<{ document: string }>(
    `SELECT d.document FROM ${table} d JOIN workflows f ON f.number = d.workflow WHERE f.id = ? AND d.version = ?`,
    workflowId,
    version,
  )
  return row && documentOf(workflowId, row.document)
}
