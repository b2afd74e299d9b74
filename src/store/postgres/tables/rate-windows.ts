import type { CountedWindow, RateWindowRow } from '../../account-store.ts'
import { rowsOf, type Sql } from '../connection.ts'

export async function saveRateWindows(
  sql: Sql,
  windows: readonly CountedWindow[],
  at: number,
): Promise<RateWindowRow[]> {
  // Needs no index on the time: there are only rows for the accounts that sent requests in the last minute or so. Rows
  // that another process is changing are left to it.
  await sql.run(
    `DELETE FROM millrace.rate_windows WHERE (kind, user_id) IN (
       SELECT kind, user_id FROM millrace.rate_windows WHERE reset_at <= $1 FOR UPDATE SKIP LOCKED)`,
    at,
  )
  if (windows.length === 0) return []
  // In order, because processes that lock the same rows in different orders would wait for each other for ever. Of two
  // windows of an account, the one that ends last. Processes count in the window that one of them opened first.
  return await sql.all<RateWindowRow>(
    `INSERT INTO millrace.rate_windows AS w (kind, user_id, used, reset_at)
     SELECT DISTINCT ON (kind, "userId") kind, "userId", added, "resetAt"
     FROM json_to_recordset($1::text::json) AS r (kind text, "userId" text, added bigint, "resetAt" bigint)
     ORDER BY kind, "userId", "resetAt" DESC
     ON CONFLICT (kind, user_id) DO UPDATE
       SET used = CASE WHEN w.reset_at > $2 THEN w.used + excluded.used ELSE excluded.used END,
         reset_at = CASE WHEN w.reset_at > $2 THEN w.reset_at ELSE excluded.reset_at END
     RETURNING kind, user_id AS "userId", used, reset_at AS "resetAt"`,
    rowsOf(windows),
    at,
  )
}

export async function listRateWindows(sql: Sql, at: number): Promise<RateWindowRow[]> {
  return await sql.all<RateWindowRow>(
    `SELECT kind, user_id AS "userId", used, reset_at AS "resetAt" FROM millrace.rate_windows WHERE reset_at > $1`,
    at,
  )
}
