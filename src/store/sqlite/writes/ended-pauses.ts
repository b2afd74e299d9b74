import type { Sql } from '../connection.ts'
import { executionKey } from '../tables/rows.ts'

/** To be called when a run ends. Its waits are deleted, because nobody asks for them. */
export function endPauses(sql: Sql, executionId: string, at: number): void {
  const key = executionKey(executionId)
  sql.run('DELETE FROM pauses WHERE execution_id = ? AND kind = 0', key)
  sql.run('UPDATE pauses SET state = 3, ended_at = ? WHERE execution_id = ? AND state = 0', at, key)
}
