import { type LastSave, testsSavedSince, workflowNotFound } from '../../errors/workflow-errors.ts'
import type { NewTests, TestsRow } from '../../workflow-store.ts'
import type { Sql } from '../connection.ts'

export function getTests(sql: Sql, workflowId: string): TestsRow | undefined {
  return sql.get<TestsRow>(
    `SELECT t.content, t.revision, t.updated_at AS updatedAt, t.updated_by AS updatedBy
     FROM workflow_tests t JOIN workflows f ON f.number = t.workflow WHERE f.id = ? AND f.deleted_at IS NULL`,
    workflowId,
  )
}

export function setTests(sql: Sql, workflowId: string, { content, at, by, ifRevision }: NewTests): number {
  const workflow = sql.get<{ number: number }>(
    'SELECT number FROM workflows WHERE id = ? AND deleted_at IS NULL',
    workflowId,
  )
  if (!workflow) throw workflowNotFound(workflowId)
  const last = sql.get<LastSave>(
    `SELECT t.revision, t.updated_at AS at, u.email FROM workflow_tests t LEFT JOIN users u ON u.id = t.updated_by
     WHERE t.workflow = ?`,
    workflow.number,
  )
  if (last && ifRevision !== undefined && last.revision !== ifRevision) throw testsSavedSince(ifRevision, last)
  const revision = (last?.revision ?? 0) + 1
  sql.run(
    `INSERT INTO workflow_tests (workflow, revision, updated_at, updated_by, content) VALUES (?, ?, ?, ?, ?)
     ON CONFLICT (workflow) DO UPDATE SET revision = excluded.revision, updated_at = excluded.updated_at,
       updated_by = excluded.updated_by, content = excluded.content`,
    workflow.number,
    revision,
    at,
    by ?? null,
    content,
  )
  return revision
}

/** Gives a new workflow the tests of another one. */
export function copyTests(sql: Sql, from: string, to: string): void {
  sql.run(
    `INSERT INTO workflow_tests (workflow, revision, updated_at, updated_by, content)
     SELECT (SELECT number FROM workflows WHERE id = ?2), 1, t.updated_at, t.updated_by, t.content
     FROM workflow_tests t JOIN workflows f ON f.number = t.workflow WHERE f.id = ?1`,
    from,
    to,
  )
}
