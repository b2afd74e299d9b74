import type { ModelUsageRow } from '../../dashboard-store.ts'
import type { Sql } from '../connection.ts'

/** Oldest first. */
export function listModelUsage(sql: Sql, userId: string, from: number): Promise<ModelUsageRow[]> {
  return sql.all<ModelUsageRow>(
    `SELECT day, model, runs, cost, prompt_tokens AS "promptTokens", completion_tokens AS "completionTokens"
     FROM millrace.model_usage WHERE user_id = $1 AND day >= $2::bigint ORDER BY day, model`,
    userId,
    from,
  )
}
