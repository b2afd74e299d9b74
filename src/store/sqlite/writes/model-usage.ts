import type { Cost } from '../../../domain/run/cost.ts'
import type { LogRow } from '../../../domain/run/log.ts'
import type { ModelUsageRow } from '../../dashboard-store.ts'
import type { Sql } from '../connection.ts'

const dayMs = 86_400_000

/** Adds a run's model costs to the owner's total of the day. Called only for runs with costs, which are slow anyway. */
export function addModelUsage(sql: Sql, workspace: number, { endedAt, cost, models }: LogRow): void {
  if (cost === null || models.length === 0) return
  const day = Math.floor(endedAt / dayMs) * dayMs
  // Tolerates any text as the cost: a chart must not prevent a run from being recorded.
  const costs = (JSON.parse(cost) as Partial<Cost> | null)?.models
  for (const model of new Set(models)) {
    const spent = costs?.[model]
    if (typeof spent?.total !== 'number') continue
    const { prompt = 0, completion = 0 } = spent.tokens ?? {}
    sql.run(addDay, day, model, spent.total, prompt, completion, workspace)
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
