import { listOf, type Sql } from '../connection.ts'

/** Deletes entries and everything that belongs to them. Returns how many entries there were. */
export async function deleteEntries(sql: Sql, sequences: readonly number[]): Promise<number> {
  return await sql.run(deleteAll, listOf(sequences))
}

/**
 * Deletes some of what belonged to the entries of a range that are no longer in the log. Returns how many rows it
 * deleted or marked; 0 when none are left.
 */
export async function deleteBelongings(sql: Sql, { first, end }: { first: number; end: number }): Promise<number> {
  let rows = 0
  for (const text of belongings) rows += await sql.run(text, first, end)
  return rows
}

// A run's row in `run_files` stays until its stored files are deleted.
const deleteAll = `
  WITH files AS (
    DELETE FROM millrace.run_files WHERE sequence = ANY($1::bigint[]) AND folder IS NULL
  ), kept_files AS (
    UPDATE millrace.run_files SET gone = true WHERE sequence = ANY($1::bigint[]) AND folder IS NOT NULL
  ), attempts AS (
    DELETE FROM millrace.delivery_attempts WHERE sequence = ANY($1::bigint[])
  ), deliveries AS (
    DELETE FROM millrace.deliveries WHERE sequence = ANY($1::bigint[])
  ), webhooks AS (
    DELETE FROM millrace.run_webhooks WHERE sequence = ANY($1::bigint[])
  ), outputs AS (
    DELETE FROM millrace.job_outputs WHERE sequence = ANY($1::bigint[])
  )
  DELETE FROM millrace.logs WHERE sequence = ANY($1::bigint[])`

/** Takes some milliseconds. */
const rowsMax = 1_000
const inRange = (table: string, condition = 'true') => `
  WHERE ctid = ANY(ARRAY(
    SELECT ctid FROM millrace.${table} WHERE sequence >= $1 AND sequence < $2 AND ${condition} LIMIT ${rowsMax}))`
const belongings: readonly string[] = [
  ...['delivery_attempts', 'deliveries', 'pause_events', 'alert_firings', 'run_webhooks', 'job_outputs'].map(
    (table) => `DELETE FROM millrace.${table} ${inRange(table)}`,
  ),
  `DELETE FROM millrace.run_files ${inRange('run_files', 'folder IS NULL')}`,
  `UPDATE millrace.run_files SET gone = true ${inRange('run_files', 'folder IS NOT NULL AND NOT gone')}`,
]
