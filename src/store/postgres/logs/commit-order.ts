import type { Database } from '../connection.ts'

/**
 * The place of a transaction in the order in which readers follow the log. Transaction IDs of a server only rise, but
 * another server, on which a dump was restored, may have lower ones: the mark `transactions` makes up for that.
 */
export function commitOrderOf(transaction: string): string {
  return `(SELECT ${transaction}::text::bigint + value FROM millrace.marks WHERE name = 'transactions')`
}

/**
 * Raises the mark if entries have higher places than new ones would get. The service calls it at its start: without it,
 * readers would not see new entries until the transaction IDs of this server have caught up.
 */
export async function continueCommitOrder(database: Database): Promise<void> {
  await database.change(async (sql) => {
    const row = await sql.get<{ behind: number }>(selectBehind)
    if (!row || row.behind <= 0) return
    await sql.run("UPDATE millrace.marks SET value = value + $1::bigint WHERE name = 'transactions'", row.behind)
  })
}

// One look at the index for each workspace. The transaction's own ID is lower than that of every later one.
const selectBehind = `
  SELECT coalesce(max(last.commit_order), 0) - ${commitOrderOf('pg_current_xact_id()')} + 1 AS behind
  FROM millrace.workspaces w CROSS JOIN LATERAL (
    SELECT l.commit_order FROM millrace.logs l WHERE l.workspace = w.number ORDER BY l.commit_order DESC LIMIT 1
  ) last`
