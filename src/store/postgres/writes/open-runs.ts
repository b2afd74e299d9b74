import type { JobFacts, OpenRun, OpenRunPage } from '../../../domain/run/job.ts'
import { jobStates, triggers } from '../../stored-values.ts'
import { listOf, type Sql, storable } from '../connection.ts'
import { fromJobs, selectFacts } from './jobs.ts'

/** Jobs of a workspace, newest first. */
export async function listOpenRuns(
  sql: Sql,
  { workspaceId, workflowId, states, before, limit }: OpenRunPage,
): Promise<OpenRun[]> {
  const rows = await sql.all<JobFacts & { number: number; state: number; trigger: number; workflowName: string }>(
    `${selectFacts}, j.number, j.state, j.trigger, f.name AS "workflowName" ${fromJobs}
     WHERE j.workspace = (SELECT number FROM millrace.workspaces WHERE id = $1) AND j.number < $2
       AND ($3::text IS NULL OR f.id = $3) AND j.state = ANY($4::smallint[]) ORDER BY j.number DESC LIMIT $5`,
    ...[storable(workspaceId), before, workflowId === undefined ? null : storable(workflowId)],
    ...[listOf(states.map((state) => jobStates.indexOf(state))), limit],
  )
  return rows.map((row) => ({ ...row, state: jobStates[row.state]!, trigger: triggers[row.trigger]! }))
}
