import type { LogRow } from '../../../domain/run/log.ts'
import type { ModelUsageRow } from '../../dashboard-store.ts'
import { modelCostsOf } from '../../model-costs.ts'
import type { Sql } from '../connection.ts'

/** Adds a run's model costs to the owner's total of the day. Called only for runs with costs, which are slow anyway. */
export function addModelUsage(sql: Sql, workspace: number, row: LogRow): void {
  for (const { day, model, cost, prompt, completion } of modelCostsOf(row)) {
    sql.run(addDay, day, model, cost, prompt, completion, workspace)
  }
}

const addDay = `
  INSERT INTO model_usage (user_id, day, model, runs, cost, prompt_tokens, completion_tokens)
  SELECT owner_id, ?, ?, 1, ?, ?, ? FROM workspaces WHERE number = ?
  ON CONFLICT DO UPDATE SET runs = runs + 1, cost = cost + excluded.cost,
    prompt_tokens = prompt_tokens + excluded.prompt_tokens,
    completion_tokens = completion_tokens + excluded.completion_tokens`

/** Oldest first. */
export function listModelUsage(sql: Sql, userId: string, from: number): ModelUsageRow[] {
  return sql.all<ModelUsageRow>(
    `SELECT day, model, runs, cost, prompt_tokens AS promptTokens, completion_tokens AS completionTokens
     FROM model_usage WHERE user_id = ? AND day >= ? ORDER BY day, model`,
    userId,
    from,
  )
}
