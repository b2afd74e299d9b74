import type { LogRow } from '../../../domain/run/log.ts'
import type { ModelUsageRow } from '../../dashboard-store.ts'
import { modelCostsOf } from '../../model-costs.ts'
import { rowsOf, type Sql, storable } from '../connection.ts'

/** Adds the model costs of runs to the totals of their owners by day. */
export async function addModelUsage(sql: Sql, rows: readonly LogRow[]): Promise<void> {
  const costs = rows.flatMap((row) =>
    modelCostsOf(row).map((each) => ({ ...each, model: storable(each.model), workspaceId: row.workspaceId })),
  )
  if (costs.length > 0) await sql.run(addDays, rowsOf(costs))
}

const addDays = `
  INSERT INTO millrace.model_usage AS u (user_id, day, model, runs, cost, prompt_tokens, completion_tokens)
  SELECT w.owner_id, r.day, r.model, count(*), sum(r.cost), sum(r.prompt), sum(r.completion)
  FROM json_to_recordset($1::text::json)
      AS r ("workspaceId" text, day bigint, model text, cost double precision, prompt bigint, completion bigint)
    JOIN millrace.workspaces w ON w.id = r."workspaceId"
  GROUP BY w.owner_id, r.day, r.model ORDER BY w.owner_id, r.day, r.model COLLATE "C"
  ON CONFLICT (user_id, day, model) DO UPDATE SET runs = u.runs + excluded.runs, cost = u.cost + excluded.cost,
    prompt_tokens = u.prompt_tokens + excluded.prompt_tokens,
    completion_tokens = u.completion_tokens + excluded.completion_tokens`

/** Oldest first. */
export function listModelUsage(sql: Sql, userId: string, from: number): Promise<ModelUsageRow[]> {
  return sql.all<ModelUsageRow>(
    `SELECT day, model, runs, cost, prompt_tokens AS "promptTokens", completion_tokens AS "completionTokens"
     FROM millrace.model_usage WHERE user_id = $1 AND day >= $2::bigint ORDER BY day, model`,
    userId,
    from,
  )
}
