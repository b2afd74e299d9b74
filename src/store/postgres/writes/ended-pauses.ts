import { listOf, type Sql } from '../connection.ts'

/** To be called for runs that have ended. Their waits are deleted, because nobody asks for them. */
export async function endPauses(sql: Sql, executionIds: readonly string[], at: number): Promise<void> {
  if (executionIds.length === 0) return
  const ids = listOf(executionIds)
  await sql.run('DELETE FROM millrace.pauses WHERE execution_id = ANY($1::text[]) AND kind = 0', ids)
  await sql.run(
    'UPDATE millrace.pauses SET state = 3, ended_at = $2 WHERE execution_id = ANY($1::text[]) AND state = 0',
    ...[ids, at],
  )
}
