import type { CountedWindow, RateWindowRow } from '../../account-store.ts'
import type { Sql } from '../connection.ts'

export function saveRateWindows(sql: Sql, windows: readonly CountedWindow[], at: number): RateWindowRow[] {
  // Needs no index on the time: there are only rows for the accounts that sent requests in the last minute or so.
  sql.run('DELETE FROM rate_windows WHERE reset_at <= ?', at)
  for (const { kind, userId, used, resetAt } of windows) {
    sql.run(
      `INSERT INTO rate_windows (kind, user_id, used, reset_at) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET used = excluded.used, reset_at = excluded.reset_at`,
      kind,
      userId,
      used,
      resetAt,
    )
  }
  return []
}

export function listRateWindows(sql: Sql, at: number): RateWindowRow[] {
  return sql.all<RateWindowRow>(
    'SELECT kind, user_id AS userId, used, reset_at AS resetAt FROM rate_windows WHERE reset_at > ?',
    at,
  )
}
