import {
  fittingSteps,
  type JobFacts,
  type OpenRun,
  type OpenRunPage,
  type RecentSteps,
  type StepLimits,
} from '../../../domain/run/job.ts'
import { jobStates, jobTriggers } from '../../stored-values.ts'
import { listOf, type Sql, storable } from '../connection.ts'
import { fromJobs, selectFacts } from './jobs.ts'

type Row = JobFacts & { number: number; state: number; trigger: number; workflowName: string }

/** The jobs of a workspace, newest first. Paused ones may be very many, so lists of other jobs do not read them. */
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
  return rows.map(runOf)
}

/** A job, with the facts that lists show. */
export async function getOpenRun(sql: Sql, executionId: string): Promise<OpenRun | undefined> {
  const row = await sql.get<Row>(`${select} WHERE j.execution_id = $1`, storable(executionId))
  return row && runOf(row)
}

/** The latest recorded steps of a job, as far as they fit. */
export async function listRecentSteps(sql: Sql, executionId: string, limits: StepLimits): Promise<RecentSteps> {
  const newest = await sql.all<{ job: number; number: number; bytes: number }>(
    `SELECT s.job, s.number, length(s.content) AS bytes
     FROM millrace.jobs j JOIN millrace.job_steps s ON s.job = j.number
     WHERE j.execution_id = $1 ORDER BY s.number DESC LIMIT $2`,
    ...[storable(executionId), limits.countMax],
  )
  const { numbers, isComplete } = fittingSteps(newest, limits)
  const [first] = newest
  if (!first) return { contents: [], isComplete }
  const steps = await sql.all<{ content: Uint8Array }>(
    'SELECT content FROM millrace.job_steps WHERE job = $1 AND number = ANY($2::integer[]) ORDER BY number',
    ...[first.job, listOf(numbers)],
  )
  return { contents: steps.map(({ content }) => content), isComplete }
}

const runOf = (row: Row): OpenRun => ({
  ...row,
  ...{ state: jobStates[row.state]!, trigger: jobTriggers[row.trigger]! },
})

const ofWorkspace = 'workspace = (SELECT number FROM millrace.workspaces WHERE id = $1)'
const ofWorkflow = `workflow = (
  SELECT own.number FROM millrace.workflows own JOIN millrace.workspaces home ON home.number = own.workspace
  WHERE own.id = $4 AND home.id = $1)`
const page = 'number < $2 ORDER BY number DESC LIMIT $3'

// Literals instead of parameters, so that PostgreSQL always uses the partial indexes. One statement, so that a job that
// pauses or continues at the moment is listed once.
const others = `(SELECT number FROM millrace.jobs
  WHERE state < 3 AND state = ANY($5::smallint[]) AND ($4::text IS NULL OR ${ofWorkflow}) AND ${ofWorkspace} AND ${page})`
const select = `${selectFacts}, j.number, j.state, j.trigger, f.name AS "workflowName" ${fromJobs}`
const listed = (numbers: string) => `
  ${select} WHERE j.number IN (${numbers}) ORDER BY j.number DESC LIMIT $3`
const pausedIn = (scope: string) => `(SELECT number FROM millrace.jobs WHERE state = 3 AND ${scope} AND ${page})`

const onlyOthers = listed(others)
const alsoPaused = listed(`${others} UNION ALL ${pausedIn(ofWorkspace)}`)
const alsoPausedOfWorkflow = listed(`${others} UNION ALL ${pausedIn(ofWorkflow)}`)
