import { type EntryPage, type EntryQuery, type EntryRow, keyRange, pageLength } from '../../../domain/entry/entry.ts'
import type { EntryKey } from '../../entries/entry-store.ts'
import { rowsOf, type Sql, storable } from '../connection.ts'

export async function readEntries(sql: Sql, keys: readonly EntryKey[]): Promise<(EntryRow | null)[]> {
  const rows = keys.map(({ workspaceId, workflowId, key, now }, index) => ({
    ...{ index, workspaceId: storable(workspaceId), key: storable(key), now },
    workflowId: workflowId === null ? null : storable(workflowId),
  }))
  const found = await sql.all<EntryRow & { index: number }>(
    `SELECT r.index, e.key, e.value, e.updated_at AS "updatedAt", e.expires_at AS "expiresAt"
     FROM json_to_recordset($1::text::json)
         AS r (index integer, "workspaceId" text, "workflowId" text, key text, now bigint)
       JOIN millrace.workspaces w ON w.id = r."workspaceId"
       LEFT JOIN millrace.workflows f ON f.id = r."workflowId" AND f.workspace = w.number
       JOIN millrace.store_entries e ON e.workspace = w.number AND e.key = r.key
         AND e.workflow = CASE WHEN r."workflowId" IS NULL THEN 0 ELSE f.number END
     WHERE e.expires_at IS NULL OR e.expires_at > r.now`,
    rowsOf(rows),
  )
  const result: (EntryRow | null)[] = keys.map(() => null)
  for (const { index, ...row } of found) result[index] = row
  return result
}

/** By key. */
export async function listEntries(sql: Sql, query: EntryQuery): Promise<EntryPage> {
  const { workspaceId, workflowId, now, limit } = query
  const { first, end } = keyRange(query)
  const scope = [storable(workspaceId), workflowId === null ? null : storable(workflowId), now]
  const range = [...scope, storable(first)]
  const ends = end === undefined ? [] : [storable(end)]
  const found = await sql.all<{ key: string; bytes: number }>(
    `SELECT e.key, e.bytes ${fromScope} AND e.key >= $4 ${end === undefined ? '' : 'AND e.key < $6'}
     ORDER BY e.key LIMIT $5`,
    ...[...range, limit + 1, ...ends],
  )
  const length = pageLength(found, query)
  const last = found[length - 1]
  if (!last) return { entries: [], isComplete: true }
  const entries = await sql.all<EntryRow>(
    `SELECT e.key, e.value, e.updated_at AS "updatedAt", e.expires_at AS "expiresAt"
     ${fromScope} AND e.key >= $4 AND e.key <= $5 ORDER BY e.key`,
    ...[...range, last.key],
  )
  return { entries, isComplete: length === found.length }
}

export async function getEntryBytes(sql: Sql, workspaceId: string): Promise<number> {
  const row = await sql.get<{ bytes: number }>(
    `SELECT u.bytes FROM millrace.store_usage u JOIN millrace.workspaces w ON w.number = u.workspace WHERE w.id = $1`,
    storable(workspaceId),
  )
  return row?.bytes ?? 0
}

// The subqueries do not refer to the entries, so PostgreSQL evaluates them once and reads one range of the index.
const fromScope = `
  FROM millrace.store_entries e
  WHERE e.workspace = (SELECT number FROM millrace.workspaces WHERE id = $1)
    AND e.workflow = CASE WHEN $2::text IS NULL THEN 0
      ELSE (SELECT f.number FROM millrace.workflows f JOIN millrace.workspaces w ON w.number = f.workspace
        WHERE f.id = $2 AND w.id = $1) END
    AND (e.expires_at IS NULL OR e.expires_at > $3)`
