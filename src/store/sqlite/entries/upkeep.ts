import { type EntryUpkeep, entryStepRows } from '../../entries/entry-store.ts'
import type { Sql } from '../connection.ts'
import { bytesOf, setBytes } from './places.ts'

/** One step of the upkeep. True when there is nothing more to do. */
export function cleanEntries(sql: Sql, bounds: EntryUpkeep): boolean {
  let left = entryStepRows
  for (const { workspace } of sql.all<{ workspace: number }>(selectExpired, bounds.now)) {
    left -= deleteExpired(sql, workspace, bounds.now, left)
    if (left <= 0) return false
  }
  const { workflowsDeletedBefore } = bounds
  const deleted = workflowsDeletedBefore === undefined ? [] : sql.all<Deleted>(selectDeleted, workflowsDeletedBefore)
  for (const { workspace, workflow } of deleted) {
    left -= deleteRows(sql, workspace, 'workflow = ?', workflow, left)
    if (left <= 0) return false
  }
  return forgetChanges(sql, bounds)
}

/** Returns how many entries were deleted. */
export function deleteExpired(sql: Sql, workspace: number, now: number, limit: number): number {
  return deleteRows(sql, workspace, 'expires_at <= ?', now, limit)
}

function deleteRows(sql: Sql, workspace: number, condition: string, value: number, limit: number): number {
  const gone = sql.all<{ bytes: number }>(
    `DELETE FROM store_entries WHERE rowid IN (
       SELECT rowid FROM store_entries WHERE workspace = ? AND ${condition} LIMIT ?
     ) RETURNING bytes`,
    ...[workspace, value, limit],
  )
  const bytes = gone.reduce((sum, row) => sum + row.bytes, 0)
  if (gone.length > 0) setBytes(sql, workspace, bytesOf(sql, workspace) - bytes)
  return gone.length
}

/** Forgets changes of runs that are over. The others are examined again later. */
function forgetChanges(sql: Sql, { now, changesBefore }: EntryUpkeep): boolean {
  const old = sql.all<{ executionId: string | Uint8Array; operation: string; isOpen: number }>(
    `SELECT c.execution_id AS executionId, c.operation,
       EXISTS (SELECT 1 FROM jobs j WHERE j.execution_id = c.execution_id) AS isOpen
     FROM store_changes c WHERE c.at < ? ORDER BY c.at LIMIT ?`,
    ...[changesBefore, entryStepRows],
  )
  for (const { executionId, operation, isOpen } of old) {
    const place = [executionId, operation] as const
    if (isOpen === 1) sql.run('UPDATE store_changes SET at = ? WHERE execution_id = ? AND operation = ?', now, ...place)
    else sql.run('DELETE FROM store_changes WHERE execution_id = ? AND operation = ?', ...place)
  }
  return old.length < entryStepRows
}

type Deleted = { workspace: number; workflow: number }

const selectExpired = `
  SELECT u.workspace FROM store_usage u
  WHERE EXISTS (SELECT 1 FROM store_entries e WHERE e.workspace = u.workspace AND e.expires_at <= ?)`

const selectDeleted = `
  SELECT f.workspace, f.number AS workflow FROM workflows f
  WHERE f.deleted_at < ?
    AND EXISTS (SELECT 1 FROM store_entries e WHERE e.workspace = f.workspace AND e.workflow = f.number)`
