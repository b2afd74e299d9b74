import type { JobFacts, OpenRun, OpenRunPage } from '../../../domain/run/job.ts'
import { jobStates, jobTriggers } from '../../stored-values.ts'
import { listOf, type Sql, storable } from '../connection.ts'
import { fromJobs, selectFacts } from './jobs.ts'

type Row = JobFacts & { number: number; state: number; trigger: number; workflowName: string }

/** Jobs of a workspace, newest first. Paused ones may be very many, so no list of others reads them. */
export async function listOpenRuns(
  sql: Sql,
  { workspaceId, workflowId, states, before, limit }: OpenRunPage,
): Promise<OpenRun[]> {
  const others = states.filter((state) => state !== 'paused').map((state) => jobStates.indexOf(state))
  const withPaused = workflowId === undefined ? alsoPaused : alsoPausedOfWorkflow
  const rows = await sql.all<Row>(
    states.includes('paused') ? withPaused : onlyOthers,
    ...[storable(workspaceId), before, limit, workflowId === undefined ? null : storable(workflowId), listOf(others)],
  )
  return rows.map((row) => ({ ...row, state: jobStates[row.state]!, trigger: jobTriggers[row.trigger]! }))
}

const ofWorkspace = 'workspace = (SELECT number FROM millrace.workspaces WHERE id = $1)'
const ofWorkflow = `workflow = (
  SELECT own.number FROM millrace.workflows own JOIN millrace.workspaces home ON home.number = own.workspace
  WHERE own.id = $4 AND home.id = $1)`
const page = 'number < $2 ORDER BY number DESC LIMIT $3'

// Literals instead of parameters, so that PostgreSQL always uses the partial indexes. One statement, so that a job that
// pauses or continues at the moment is listed once.
const others = `(SELECT number FROM millrace.jobs
  WHERE state < 3 AND state = ANY($5::smallint[]) AND ($4::text IS NULL OR ${ofWorkflow}) AND ${ofWorkspace} AND ${page})`
const listed = (numbers: string) => `
  ${selectFacts}, j.number, j.state, j.trigger, f.name AS "workflowName" ${fromJobs}
  WHERE j.number IN (${numbers}) ORDER BY j.number DESC LIMIT $3`
const pausedIn = (scope: string) => `(SELECT number FROM millrace.jobs WHERE state = 3 AND ${scope} AND ${page})`

const onlyOthers = listed(others)
const alsoPaused = listed(`${others} UNION ALL ${pausedIn(ofWorkspace)}`)
const alsoPausedOfWorkflow = listed(`${others} UNION ALL ${pausedIn(ofWorkflow)}`)
