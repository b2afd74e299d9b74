import { listOf, type Sql } from '../connection.ts'

/**
 * To be called for runs that have ended. Waits are deleted, except those that a person ended:
 * another person may try the same, and then learns about it.
 */
export async function endPauses(sql: Sql, executionIds: readonly string[], at: number): Promise<void> {
  if (executionIds.length === 0) return
  const ids = listOf(executionIds)
  await sql.run('DELETE FROM millrace.pauses WHERE execution_id = ANY($1::text[]) AND kind = 0 AND state <> 1', ids)
  await sql.run(
    'UPDATE millrace.pauses SET state = 3, ended_at = $2 WHERE execution_id = ANY($1::text[]) AND state = 0',
    ...[ids, at],
  )
}
