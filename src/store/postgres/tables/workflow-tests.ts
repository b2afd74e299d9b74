import { type LastSave, testsSavedSince, workflowNotFound } from '../../errors/workflow-errors.ts'
import type { NewTests, TestsRow } from '../../workflow-store.ts'
import type { Sql } from '../connection.ts'

export function getTests(sql: Sql, workflowId: string): Promise<TestsRow | undefined> {
  return sql.get<TestsRow>(
    `SELECT t.content, t.revision, t.updated_at AS "updatedAt", t.updated_by AS "updatedBy"
     FROM millrace.workflow_tests t JOIN millrace.workflows f ON f.number = t.workflow
     WHERE f.id = $1 AND f.deleted_at IS NULL`,
    workflowId,
  )
}

export async function setTests(
  sql: Sql,
  workflowId: string,
  { content, at, by, ifRevision }: NewTests,
): Promise<number> {
  const workflow = await sql.get<{ number: number }>(
    'SELECT number FROM millrace.workflows WHERE id = $1 AND deleted_at IS NULL',
    workflowId,
  )
  if (!workflow) throw workflowNotFound(workflowId)
  const last = await sql.get<LastSave>(
    `SELECT t.revision, t.updated_at AS at, u.email
     FROM millrace.workflow_tests t LEFT JOIN millrace.users u ON u.id = t.updated_by WHERE t.workflow = $1`,
    workflow.number,
  )
  if (last && ifRevision !== undefined && last.revision !== ifRevision) throw testsSavedSince(ifRevision, last)
  const revision = (last?.revision ?? 0) + 1
  await sql.run(
    `INSERT INTO millrace.workflow_tests (workflow, revision, updated_at, updated_by, content)
     VALUES ($1, $2::bigint, $3::bigint, $4, $5)
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
export async function copyTests(sql: Sql, from: string, to: string): Promise<void> {
  await sql.run(
    `INSERT INTO millrace.workflow_tests (workflow, revision, updated_at, updated_by, content)
     SELECT (SELECT number FROM millrace.workflows WHERE id = $2), 1, t.updated_at, t.updated_by, t.content
     FROM millrace.workflow_tests t JOIN millrace.workflows f ON f.number = t.workflow WHERE f.id = $1`,
    from,
    to,
  )
}
