import { type EntryUpkeep, entryStepRows } from '../../entries/entry-store.ts'
import type { Sql } from '../connection.ts'

/** One step of the upkeep. True when there is nothing more to do. */
export async function cleanEntries(sql: Sql, bounds: EntryUpkeep): Promise<boolean> {
  let left = entryStepRows
  for (const { workspace } of await sql.all<{ workspace: number }>(selectExpired, bounds.now)) {
    left -= (await deleteExpired(sql, workspace, bounds.now, left)).deleted
    if (left <= 0) return false
  }
  if (bounds.workflowsDeletedBefore !== undefined) {
    const deleted = await sql.all<{ workspace: number; workflow: number }>(selectDeleted, bounds.workflowsDeletedBefore)
    for (const { workspace, workflow } of deleted) {
      left -= await deleteOfWorkflow(sql, workspace, workflow, left)
      if (left <= 0) return false
    }
  }
  return await forgetChanges(sql, bounds)
}

/** Locks the workspace, if the caller has not. */
export async function deleteExpired(
  sql: Sql,
  workspace: number,
  now: number,
  limit: number,
): Promise<{ deleted: number; freed: number }> {
  await lock(sql, workspace)
  const gone = await sql.all<{ bytes: number }>(
    `DELETE FROM millrace.store_entries e
     USING (SELECT workflow, key FROM millrace.store_entries WHERE workspace = $1 AND expires_at <= $2 LIMIT $3) AS old
     WHERE e.workspace = $1 AND e.workflow = old.workflow AND e.key = old.key RETURNING e.bytes`,
    ...[workspace, now, limit],
  )
  return { deleted: gone.length, freed: await subtract(sql, workspace, gone) }
}

async function deleteOfWorkflow(sql: Sql, workspace: number, workflow: number, limit: number): Promise<number> {
  await lock(sql, workspace)
  const gone = await sql.all<{ bytes: number }>(
    `DELETE FROM millrace.store_entries e
     USING (SELECT key FROM millrace.store_entries WHERE workspace = $1 AND workflow = $2 LIMIT $3) AS old
     WHERE e.workspace = $1 AND e.workflow = $2 AND e.key = old.key RETURNING e.bytes`,
    ...[workspace, workflow, limit],
  )
  await subtract(sql, workspace, gone)
  return gone.length
}

function lock(sql: Sql, workspace: number): Promise<unknown> {
  return sql.get('SELECT 1 FROM millrace.store_usage WHERE workspace = $1 FOR UPDATE', workspace)
}

async function subtract(sql: Sql, workspace: number, gone: readonly { bytes: number }[]): Promise<number> {
  const freed = gone.reduce((sum, { bytes }) => sum + bytes, 0)
  const change = 'UPDATE millrace.store_usage SET bytes = bytes - $1::bigint WHERE workspace = $2'
  if (freed > 0) await sql.run(change, freed, workspace)
  return freed
}

/** Forgets changes of runs that are over. The others are examined again later. */
async function forgetChanges(sql: Sql, { now, changesBefore }: EntryUpkeep): Promise<boolean> {
  const examined = await sql.get<{ count: number }>(forget, changesBefore, entryStepRows, now)
  return examined!.count < entryStepRows
}

// Rows that another process examines, or that end with their run, are skipped.
const forget = `
  WITH old AS MATERIALIZED (
    SELECT c.execution_id, c.operation,
      EXISTS (SELECT 1 FROM millrace.jobs j WHERE j.execution_id = c.execution_id) AS is_open
    FROM millrace.store_changes c WHERE c.at < $1::bigint ORDER BY c.at LIMIT $2::bigint FOR UPDATE OF c SKIP LOCKED
  ), gone AS (
    DELETE FROM millrace.store_changes c USING old
    WHERE NOT old.is_open AND c.execution_id = old.execution_id AND c.operation = old.operation
  ), kept AS (
    UPDATE millrace.store_changes c SET at = $3::bigint FROM old
    WHERE old.is_open AND c.execution_id = old.execution_id AND c.operation = old.operation
  )
  SELECT count(*) AS count FROM old`

// In one order, so that two processes that clean do not wait for each other in a circle.
const selectExpired = `
  SELECT u.workspace FROM millrace.store_usage u
  WHERE EXISTS (SELECT 1 FROM millrace.store_entries e WHERE e.workspace = u.workspace AND e.expires_at <= $1)
  ORDER BY u.workspace`

const selectDeleted = `
  SELECT f.workspace, f.number AS workflow FROM millrace.workflows f
  WHERE f.deleted_at < $1
    AND EXISTS (SELECT 1 FROM millrace.store_entries e WHERE e.workspace = f.workspace AND e.workflow = f.number)
  ORDER BY f.workspace, f.number`
