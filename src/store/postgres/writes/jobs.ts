import type { Refusal } from '../../../domain/run/claim.ts'
import type { Job, JobFacts, JobPage, JobStatus, NewJob } from '../../../domain/run/job.ts'
import type { JobWrite, LogWrite } from '../../../domain/run/write.ts'
import { unknownWorkflow } from '../../errors/unknown-workflow.ts'
import { jobStates, jobTriggers } from '../../stored-values.ts'
import { listOf, rowsOf, type Sql, storable } from '../connection.ts'
import { endPauses } from './ended-pauses.ts'

// A process claims a job when it starts it, or when it takes it from the queue into its memory. `owner` is its number;
// only that process may write for the job, and the writes of others are refused.

/** A write and its place in the group. */
export type Placed<W> = { index: number; write: W }

/** Throws NOT_FOUND when a workflow never existed. A job that starts at once belongs to this process. */
export async function insertJobs(sql: Sql, jobs: readonly NewJob[]): Promise<void> {
  if (jobs.length === 0) return
  const rows = jobs.map((job, index) => ({
    ...{ ...job, index, trigger: jobTriggers.indexOf(job.trigger) },
    state: jobStates.indexOf(job.startedAt === null ? 'queued' : 'running'),
    owner: job.startedAt === null && !job.isClaimed ? 0 : sql.owner,
  }))
  const inserted = await sql.all<{ executionId: string }>(insertRows, rowsOf(rows))
  if (inserted.length === jobs.length) return
  const known = new Set(inserted.map(({ executionId }) => executionId))
  throw unknownWorkflow(jobs.find(({ executionId }) => !known.has(executionId))!)
}

const insertRows = `
  INSERT INTO millrace.jobs
    (execution_id, workspace, workflow, version, trigger, state, owner, created_at, started_at, input)
  SELECT r."executionId", w.number, f.number, r.version, r.trigger, r.state, r.owner, r."createdAt", r."startedAt",
    decode(r.input, 'base64')
  FROM json_to_recordset($1::text::json) AS r (index integer, "executionId" text, "workflowId" text,
      "workspaceId" text, version integer, trigger smallint, state smallint, owner integer, "createdAt" bigint,
      "startedAt" bigint, input text)
    JOIN millrace.workflows f ON f.id = r."workflowId"
    JOIN millrace.workspaces w ON w.number = f.workspace AND w.id = r."workspaceId"
  ORDER BY r.index
  RETURNING execution_id AS "executionId"`

type MoveWrite = Extract<JobWrite, { kind: 'job-start' | 'job-wait' }>
type StepWrite = Extract<JobWrite, { kind: 'job-step' }>

/**
 * Starts jobs and lets jobs wait, in the order of the writes: a group may contain both for one job. Refuses those of
 * other processes.
 */
export async function moveJobs(sql: Sql, moves: readonly Placed<MoveWrite>[]): Promise<Refusal[]> {
  const refusals: Refusal[] = []
  for (let at = 0; at < moves.length; ) {
    const { kind } = moves[at]!.write
    const end = moves.findIndex(({ write }, index) => index > at && write.kind !== kind)
    const alike = moves.slice(at, end === -1 ? undefined : end)
    const rows = rowsOf(alike.map(({ write }) => write))
    const moved = await sql.all<{ executionId: string }>(
      kind === 'job-start' ? startJobs : suspendJobs,
      rows,
      sql.owner,
    )
    refusals.push(...refusalsOf(alike, moved))
    at += alike.length
  }
  return refusals
}

/** The writes whose jobs are not among those that were changed. */
function refusalsOf(
  placed: readonly Placed<{ executionId: string }>[],
  changed: readonly { executionId: string }[],
): Refusal[] {
  const ids = new Set(changed.map(({ executionId }) => executionId))
  return placed.flatMap(({ index, write }) => (ids.has(write.executionId) ? [] : [{ index, executionId: null }]))
}

// When two processes start the same job, the second one waits here, and then finds its new owner.
const startJobs = `
  UPDATE millrace.jobs j SET state = 1, owner = $2, started_at = coalesce(j.started_at, r.at),
    waited_ms = j.waited_ms + greatest(0, r.at - coalesce(j.waiting_since, r.at)), waiting_since = NULL
  FROM json_to_recordset($1::text::json) AS r ("executionId" text, at bigint)
  WHERE j.execution_id = r."executionId" AND j.owner IN (0, $2)
  RETURNING j.execution_id AS "executionId"`

/** From then on, a crash does not count as an interruption of the job. */
const suspendJobs = `
  UPDATE millrace.jobs j SET state = 2, waiting_since = r.at
  FROM json_to_recordset($1::text::json) AS r ("executionId" text, at bigint)
  WHERE j.execution_id = r."executionId" AND j.state = 1 AND j.owner = $2
  RETURNING j.execution_id AS "executionId"`

/** Refuses the steps of jobs that another process has. */
export async function insertSteps(sql: Sql, steps: readonly Placed<StepWrite>[]): Promise<Refusal[]> {
  if (steps.length === 0) return []
  const owned = await sql.all<{ executionId: string }>(
    insertOwnSteps,
    rowsOf(steps.map(({ write }) => write)),
    sql.owner,
  )
  return refusalsOf(steps, owned)
}

// Locks the jobs: a process that is burying this one waits, or this one finds that the jobs are no longer its own.
const insertOwnSteps = `
  WITH step AS (
    SELECT * FROM json_to_recordset($1::text::json) AS r ("executionId" text, number integer, content text)
  ), job AS MATERIALIZED (
    SELECT number, execution_id FROM millrace.jobs
    WHERE execution_id IN (SELECT "executionId" FROM step) AND owner = $2 ORDER BY number FOR SHARE
  ), written AS (
    INSERT INTO millrace.job_steps (job, number, content)
    SELECT job.number, step.number, decode(step.content, 'base64')
    FROM step JOIN job ON job.execution_id = step."executionId"
  )
  SELECT execution_id AS "executionId" FROM job`

/**
 * Deletes jobs that ended. Their log entries remain. Returns the ended jobs; the others never were on disk, have ended
 * before, or belong to another process.
 */
export async function endJobs(sql: Sql, logs: readonly LogWrite[]): Promise<ReadonlySet<string>> {
  if (logs.length === 0) return new Set()
  const ended = await sql.all<{ executionId: string; pauses: number }>(
    `WITH ended AS (
       DELETE FROM millrace.jobs WHERE execution_id = ANY($1::text[]) AND owner IN (0, $2)
       RETURNING number, execution_id, pauses
     ), steps AS (
       DELETE FROM millrace.job_steps s USING ended WHERE s.job = ended.number
     ), changes AS (
       DELETE FROM millrace.store_changes c USING ended WHERE c.execution_id = ended.execution_id
     )
     SELECT execution_id AS "executionId", pauses FROM ended`,
    listOf(logs.map(({ row }) => row.executionId)),
    sql.owner,
  )
  const paused = ended.filter(({ pauses }) => pauses > 0).map(({ executionId }) => executionId)
  await endPauses(sql, paused, logs[0]!.row.endedAt)
  return new Set(ended.map(({ executionId }) => executionId))
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
  const row = await sql.get<SqlJobStatus & { isElsewhere: boolean }>(
    `${selectStatus}, j.owner NOT IN (0, $2) AS "isElsewhere" ${fromJobs} WHERE j.execution_id = $1`,
    storable(executionId),
    sql.owner,
  )
  if (!row) return undefined
  const { isElsewhere, ...job } = row
  return { ...job, ...textsOf(row), ...(isElsewhere && { isElsewhere }) }
}

const textsOf = ({ trigger, state, hasPauses }: Pick<SqlJobStatus, 'trigger' | 'state' | 'hasPauses'>) => ({
  hasPauses: hasPauses > 0,
  trigger: jobTriggers[trigger]!,
  state: jobStates[state]!,
})

/** The recorded steps of a job, ordered by number. */
export async function getJobSteps(sql: Sql, executionId: string): Promise<Uint8Array[]> {
  const steps = await sql.all<{ content: Uint8Array }>(
    `SELECT s.content FROM millrace.jobs j JOIN millrace.job_steps s ON s.job = j.number
     WHERE j.execution_id = $1 ORDER BY s.number`,
    storable(executionId),
  )
  return steps.map(({ content }) => content)
}

/** The oldest jobs of each workflow that have not started and that no other process has claimed. */
export function claimQueuedJobs(sql: Sql, { perWorkflow, workflowsMax, after }: JobPage): Promise<JobFacts[]> {
  return sql.all<JobFacts>(claimQueued, after ?? null, workflowsMax, perWorkflow, sql.owner)
}

/** Interrupted jobs that no process has claimed, oldest first. */
export function claimInterruptedJobs(sql: Sql, limit: number): Promise<JobFacts[]> {
  return sql.all<JobFacts>(claimInterrupted, limit, sql.owner)
}

/** Facts of jobs that were just interrupted. */
export function interruptedJobs(sql: Sql, numbers: readonly number[]): Promise<JobFacts[]> {
  return sql.all<JobFacts>(
    `${selectWaiting} ${fromJobs} WHERE j.number = ANY($1::bigint[]) ORDER BY j.number`,
    listOf(numbers),
  )
}

export function listScheduledJobs(sql: Sql): Promise<Pick<JobFacts, 'executionId' | 'workflowId'>[]> {
  return sql.all<Pick<JobFacts, 'executionId' | 'workflowId'>>(
    `SELECT j.execution_id AS "executionId", f.id AS "workflowId"
     FROM millrace.jobs j JOIN millrace.workflows f ON f.number = j.workflow WHERE j.trigger = 2`,
  )
}

/**
 * Gives up the claims of this process, marks its running jobs as interrupted, and counts a crash for each if `crashed`.
 * Returns how many jobs no process has claimed. The jobs of a process that died are given up when it is buried.
 */
export async function parkJobs(sql: Sql, crashed: boolean): Promise<{ queued: number; interrupted: number }> {
  await sql.run(
    `UPDATE millrace.jobs SET owner = 0, cuts = cuts + CASE WHEN state = 1 THEN $1::integer ELSE 0 END,
       state = CASE WHEN state = 1 THEN 2 ELSE state END
     WHERE owner = $2 AND (state = 1 OR owner > 0)`,
    crashed ? 1 : 0,
    sql.owner,
  )
  const counts = await sql.get<{ queued: number; interrupted: number }>(
    `SELECT (SELECT count(*) FROM millrace.jobs WHERE state = 0 AND owner = 0) AS queued,
       (SELECT count(*) FROM millrace.jobs WHERE state = 2 AND owner = 0) AS interrupted`,
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

type SqlJobStatus = Omit<JobStatus, 'trigger' | 'state' | 'hasPauses'> & {
  trigger: number
  state: number
  hasPauses: number
}

export const selectFacts = `
  SELECT j.execution_id AS "executionId", f.id AS "workflowId", w.id AS "workspaceId", j.created_at AS "createdAt",
    j.started_at AS "startedAt"`
const selectStatus = `${selectFacts}, j.version, j.trigger, j.state, j.cuts AS interruptions,
    j.waited_ms AS "waitedMs", j.waiting_since AS "waitingSince", j.pauses AS "hasPauses"`
const selectWaiting = `${selectFacts}, length(j.input) AS "inputBytes"`
const joins = 'JOIN millrace.workflows f ON f.number = j.workflow JOIN millrace.workspaces w ON w.number = j.workspace'
export const fromJobs = `FROM millrace.jobs j ${joins}`

// Each step of the recursion finds the next workflow with one look at the index, however many jobs the others have.
// Jobs that another process is claiming at the moment are skipped. With `state = 0` in place of `state < 1`, PostgreSQL
// would compare the jobs that were found with all that are queued.
const claimQueued = `
  WITH RECURSIVE queues (workflow, position) AS (
    (SELECT workflow, 1 FROM millrace.jobs
     WHERE state = 0 AND workflow > coalesce((SELECT number FROM millrace.workflows WHERE id = $1), -1)
     ORDER BY workflow LIMIT 1)
    UNION ALL
    SELECT (SELECT n.workflow FROM millrace.jobs n WHERE n.state = 0 AND n.workflow > q.workflow
            ORDER BY n.workflow LIMIT 1), q.position + 1
    FROM queues q WHERE q.workflow IS NOT NULL AND q.position < $2::integer
  )
  , found AS (
    SELECT q.position, j.number
    FROM queues q
      CROSS JOIN LATERAL (
        SELECT number FROM millrace.jobs WHERE state = 0 AND workflow = q.workflow AND owner IN (0, $4)
        ORDER BY number LIMIT $3::integer
      ) j
  ), locked AS MATERIALIZED (
    SELECT number FROM millrace.jobs
    WHERE number IN (SELECT number FROM found) AND state < 1 AND owner IN (0, $4)
    ORDER BY number FOR UPDATE SKIP LOCKED
  ), claimed AS (
    UPDATE millrace.jobs SET owner = $4 WHERE owner = 0 AND number IN (SELECT number FROM locked)
  )
  ${selectWaiting}
  FROM found JOIN locked USING (number) JOIN millrace.jobs j USING (number) ${joins}
  ORDER BY found.position, j.number`

const claimInterrupted = `
  WITH locked AS MATERIALIZED (
    SELECT number FROM millrace.jobs WHERE state = 2 AND owner = 0 ORDER BY number LIMIT $1 FOR UPDATE SKIP LOCKED
  ), claimed AS (
    UPDATE millrace.jobs SET owner = $2 WHERE number IN (SELECT number FROM locked)
  )
  ${selectWaiting}
  FROM locked JOIN millrace.jobs j USING (number) ${joins}
  ORDER BY j.number`
