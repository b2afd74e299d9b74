import type { OpenRun, OpenRunPage } from '../../../domain/run/job.ts'
import { jobStates, triggers } from '../../stored-values.ts'
import type { Sql } from '../connection.ts'
import { executionIdOf } from '../tables/rows.ts'
import { fromJobs, type SqlJobFacts, selectFacts } from './jobs.ts'

/** Jobs of a workspace, newest first. */
export function listOpenRuns(sql: Sql, { workspaceId, workflowId, states, before, limit }: OpenRunPage): OpenRun[] {
  const rows = sql.all<SqlJobFacts & { number: number; state: number; trigger: number; workflowName: string }>(
    `${selectFacts}, j.number, j.state, j.trigger, f.name AS workflowName ${fromJobs}
     WHERE j.workspace = (SELECT number FROM workspaces WHERE id = ?) AND j.number < ? AND (? IS NULL OR f.id = ?)
       AND j.state IN (SELECT value FROM json_each(?)) ORDER BY j.number DESC LIMIT ?`,
    ...[workspaceId, before, workflowId ?? null, workflowId ?? null],
    ...[JSON.stringify(states.map((state) => jobStates.indexOf(state))), limit],
  )
  return rows.map((row) => ({
    ...row,
    ...{ executionId: executionIdOf(row.executionId), state: jobStates[row.state]!, trigger: triggers[row.trigger]! },
  }))
}
