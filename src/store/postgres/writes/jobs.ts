import type { Job, JobFacts, JobPage, JobStatus, NewJob } from '../../../domain/run/job.ts'
import type { JobWrite, LogWrite } from '../../../domain/run/write.ts'
import { jobStates, triggers } from '../../stored-values.ts'
import { unknownWorkflow } from '../../unknown-workflow.ts'
import { listOf, rowsOf, type Sql, storable } from '../connection.ts'

/** Throws NOT_FOUND when a workflow never existed. */
export async function insertJobs(sql: Sql, jobs: readonly NewJob[]): Promise<void> {
  if (jobs.length === 0) return
  const rows = jobs.map((job, index) => ({
    ...{ ...job, index, trigger: triggers.indexOf(job.trigger) },
    state: jobStates.indexOf(job.startedAt === null ? 'queued' : 'running'),
  }))
  const inserted = await sql.all<{ executionId: string }>(insertRows, rowsOf(rows))
  if (inserted.length === jobs.length) return
  const known = new Set(inserted.map(({ executionId }) => executionId))
  throw unknownWorkflow(jobs.find(({ executionId }) => !known.has(executionId))!)
}

const insertRows = `
  INSERT INTO millrace.jobs
    (execution_id, workspace, workflow, version, trigger, state, created_at, started_at, input)
  SELECT r."executionId", w.number, f.number, r.version, r.trigger, r.state, r."createdAt", r."startedAt",
    decode(r.input, 'base64')
  FROM json_to_recordset($1::text::json) AS r (index integer, "executionId" text, "workflowId" text,
      "workspaceId" text, version integer, trigger smallint, state smallint, "createdAt" bigint, "startedAt" bigint,
      input text)
    JOIN millrace.workflows f ON f.id = r."workflowId"
    JOIN millrace.workspaces w ON w.number = f.workspace AND w.id = r."workspaceId"
  ORDER BY r.index
  RETURNING execution_id AS "executionId"`

type MoveWrite = Extract<JobWrite, { kind: 'job-start' | 'job-wait' }>
type StepWrite = Extract<JobWrite, { kind: 'job-step' }>

/** Starts jobs and lets jobs wait, in the order of the writes: a group may contain both for one job. */
export async function moveJobs(sql: Sql, moves: readonly MoveWrite[]): Promise<void> {
  for (let at = 0; at < moves.length; ) {
    const { kind } = moves[at]!
    const end = moves.findIndex((move, index) => index > at && move.kind !== kind)
    const alike = moves.slice(at, end === -1 ? undefined : end)
    await sql.run(kind === 'job-start' ? startJobs : suspendJobs, rowsOf(alike))
    at += alike.length
  }
}

const startJobs = `
  UPDATE millrace.jobs j SET state = 1, started_at = coalesce(j.started_at, r.at),
    waited_ms = j.waited_ms + greatest(0, r.at - coalesce(j.waiting_since, r.at)), waiting_since = NULL
  FROM json_to_recordset($1::text::json) AS r ("executionId" text, at bigint)
  WHERE j.execution_id = r."executionId"`

/** From then on, a crash does not count as an interruption of the job. */
const suspendJobs = `
  UPDATE millrace.jobs j SET state = 2, waiting_since = r.at
  FROM json_to_recordset($1::text::json) AS r ("executionId" text, at bigint)
  WHERE j.execution_id = r."executionId" AND j.state = 1`

export async function insertSteps(sql: Sql, steps: readonly StepWrite[]): Promise<void> {
  if (steps.length === 0) return
  await sql.run(
    `INSERT INTO millrace.job_steps (job, number, content)
     SELECT j.number, r.number, decode(r.content, 'base64')
     FROM json_to_recordset($1::text::json) AS r ("executionId" text, number integer, content text)
       JOIN millrace.jobs j ON j.execution_id = r."executionId"`,
    rowsOf(steps),
  )
}

/** Deletes jobs that ended. Their log entries remain. */
export async function endJobs(sql: Sql, logs: readonly LogWrite[]): Promise<void> {
  if (logs.length === 0) return
  await sql.run(
    `WITH ended AS (DELETE FROM millrace.jobs WHERE execution_id = ANY($1::text[]) RETURNING number)
     DELETE FROM millrace.job_steps s USING ended WHERE s.job = ended.number`,
    listOf(logs.map(({ row }) => row.executionId)),
  )
}

/** Keeps the outputs that the log entries do not show completely. */
export async function insertOutputs(sql: Sql, logs: readonly LogWrite[]): Promise<void> {
  const rows = logs.flatMap(({ row: { sequence, executionId }, output }) =>
    output ? [{ sequence, executionId, output }] : [],
  )
  if (rows.length === 0) return
  await sql.run(
    `INSERT INTO millrace.job_outputs (sequence, execution_id, content)
     SELECT r.sequence, r."executionId", decode(r.output, 'base64')
     FROM json_to_recordset($1::text::json) AS r (sequence bigint, "executionId" text, output text)
     ON CONFLICT (sequence) DO NOTHING`,
    rowsOf(rows),
  )
}

export async function getJob(sql: Sql, executionId: string): Promise<Job | undefined> {
  const text = `${selectStatus}, j.input ${fromJobs} WHERE j.execution_id = $1`
  const row = await sql.get<SqlJobStatus & Pick<Job, 'input'>>(text, storable(executionId))
  return row && { ...row, ...textsOf(row) }
}

/** The job without its input. */
export async function findJob(sql: Sql, executionId: string): Promise<JobStatus | undefined> {
  const row = await sql.get<SqlJobStatus>(
    `${selectStatus} ${fromJobs} WHERE j.execution_id = $1`,
    storable(executionId),
  )
  return row && { ...row, ...textsOf(row) }
}

const textsOf = ({ trigger, state }: SqlJobStatus) => ({ trigger: triggers[trigger]!, state: jobStates[state]! })

/** The recorded steps of a job, ordered by number. */
export async function getJobSteps(sql: Sql, executionId: string): Promise<Uint8Array[]> {
  const steps = await sql.all<{ content: Uint8Array }>(
    `SELECT s.content FROM millrace.jobs j JOIN millrace.job_steps s ON s.job = j.number
     WHERE j.execution_id = $1 ORDER BY s.number`,
    storable(executionId),
  )
  return steps.map(({ content }) => content)
}

/** The oldest jobs of each workflow that have not started. */
export function listQueuedJobs(sql: Sql, { perWorkflow, workflowsMax, after }: JobPage): Promise<JobFacts[]> {
  return sql.all<JobFacts>(selectQueued, after ?? null, workflowsMax, perWorkflow)
}

/** Interrupted jobs, oldest first. Each of them has started, so they are far fewer than the jobs in the queue. */
export function listInterruptedJobs(sql: Sql): Promise<JobFacts[]> {
  return sql.all<JobFacts>(`${selectWaiting} ${fromJobs} WHERE j.state = 2 ORDER BY j.number`)
}

export function listScheduledJobs(sql: Sql): Promise<Pick<JobFacts, 'executionId' | 'workflowId'>[]> {
  return sql.all<Pick<JobFacts, 'executionId' | 'workflowId'>>(
    `SELECT j.execution_id AS "executionId", f.id AS "workflowId"
     FROM millrace.jobs j JOIN millrace.workflows f ON f.number = j.workflow WHERE j.trigger = 2`,
  )
}

/** Marks running jobs as interrupted, and counts a crash for each if `crashed`. Returns how many jobs are left. */
export async function parkJobs(sql: Sql, crashed: boolean): Promise<{ queued: number; interrupted: number }> {
  await sql.run('UPDATE millrace.jobs SET state = 2, cuts = cuts + $1::integer WHERE state = 1', crashed ? 1 : 0)
  const counts = await sql.get<{ queued: number; interrupted: number }>(
    `SELECT count(*) FILTER (WHERE state = 0) AS queued, count(*) FILTER (WHERE state = 2) AS interrupted
     FROM millrace.jobs`,
  )
  return counts!
}

/** The sealed output of a job that ended; undefined when its log entry shows the complete output. */
export async function getJobOutput(sql: Sql, executionId: string): Promise<Uint8Array | undefined> {
  const row = await sql.get<{ content: Uint8Array }>(
    'SELECT content FROM millrace.job_outputs WHERE execution_id = $1',
    storable(executionId),
  )
  return row?.content
}

type SqlJobStatus = Omit<JobStatus, 'trigger' | 'state'> & { trigger: number; state: number }

const selectFacts = `
  SELECT j.execution_id AS "executionId", f.id AS "workflowId", w.id AS "workspaceId", j.created_at AS "createdAt",
    j.started_at AS "startedAt"`
const selectStatus = `${selectFacts}, j.version, j.trigger, j.state, j.cuts AS interruptions,
    j.waited_ms AS "waitedMs", j.waiting_since AS "waitingSince"`
const selectWaiting = `${selectFacts}, length(j.input) AS "inputBytes"`
const joins = 'JOIN millrace.workflows f ON f.number = j.workflow JOIN millrace.workspaces w ON w.number = j.workspace'
const fromJobs = `FROM millrace.jobs j ${joins}`

// Each step of the recursion finds the next workflow with one look at the index, however many jobs the others have.
const selectQueued = `
  WITH RECURSIVE queues (workflow, position) AS (
    (SELECT workflow, 1 FROM millrace.jobs
     WHERE state = 0 AND workflow > coalesce((SELECT number FROM millrace.workflows WHERE id = $1), -1)
     ORDER BY workflow LIMIT 1)
    UNION ALL
    SELECT (SELECT n.workflow FROM millrace.jobs n WHERE n.state = 0 AND n.workflow > q.workflow
            ORDER BY n.workflow LIMIT 1), q.position + 1
    FROM queues q WHERE q.workflow IS NOT NULL AND q.position < $2::integer
  )
  ${selectWaiting}
  FROM queues q
    CROSS JOIN LATERAL (
      SELECT * FROM millrace.jobs WHERE state = 0 AND workflow = q.workflow ORDER BY number LIMIT $3::integer
    ) j
    ${joins}
  ORDER BY q.position, j.number`
