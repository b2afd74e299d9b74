import type { Sql } from '../connection.ts'
import { executionKey } from '../tables/rows.ts'

/**
 * To be called when a run ends. Waits are deleted, except those that a person ended:
 * another person may try the same, and then learns about it.
 */
export function endPauses(sql: Sql, executionId: string, at: number): void {
  const key = executionKey(executionId)
  sql.run('DELETE FROM pauses WHERE execution_id = ? AND kind = 0 AND state <> 1', key)
  sql.run('UPDATE pauses SET state = 3, ended_at = ? WHERE execution_id = ? AND state = 0', at, key)
}
