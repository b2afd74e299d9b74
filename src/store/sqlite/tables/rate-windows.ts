import type { RateKind } from '../../../domain/account/tiers.ts'
import type { RateWindowRow } from '../../store.ts'
import type { Sql } from '../connection.ts'

export function saveRateWindows(sql: Sql, windows: readonly RateWindowRow[], at: number): void {
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
}

export function listRateWindows(sql: Sql, at: number): RateWindowRow[] {
  return sql
    .all<{ kind: RateKind; user_id: string; used: number; reset_at: number }>(
      'SELECT kind, user_id, used, reset_at FROM rate_windows WHERE reset_at > ?',
      at,
    )
    .map(({ kind, user_id, used, reset_at }) => ({ kind, userId: user_id, used, resetAt: reset_at }))
}
