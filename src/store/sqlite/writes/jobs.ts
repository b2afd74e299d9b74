import {
  fittingSteps,
  type Job,
  type JobFacts,
  type JobPage,
  type JobStatus,
  type NewJob,
  type RecentSteps,
  type StepLimits,
} from '../../../domain/run/job.ts'
import type { JobWrite } from '../../../domain/run/write.ts'
import { jobStates, jobTriggers } from '../../stored-values.ts'
import type { Sql } from '../connection.ts'
import { executionIdOf, executionKey } from '../tables/rows.ts'
import { endPauses } from './ended-pauses.ts'
import { numbersOf } from './logs.ts'

/** Throws NOT_FOUND when the workflow never existed. */
export function insertJob(sql: Sql, job: NewJob): void {
  const { workspace, workflow } = numbersOf(sql, job)
  sql.run(
    `INSERT INTO jobs (execution_id, workspace, workflow, version, trigger, state, created_at, started_at, input)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    executionKey(job.executionId),
    workspace,
    workflow,
    job.version,
    jobTriggers.indexOf(job.trigger),
    jobStates.indexOf(job.startedAt === null ? 'queued' : 'running'),
    job.createdAt,
    job.startedAt,
    job.input,
  )
}

export function startJob(sql: Sql, executionId: string, at: number): void {
  sql.run(
    `UPDATE jobs SET state = 1, started_at = coalesce(started_at, ?),
       waited_ms = waited_ms + max(0, ? - coalesce(waiting_since, ?)), waiting_since = NULL WHERE execution_id = ?`,
    at,
    at,
    at,
    executionKey(executionId),
  )
}

/** False when the job has begun. */
export function replaceInput(sql: Sql, write: Extract<JobWrite, { kind: 'job-input' }>): boolean {
  const changed = sql.get<{ number: number }>(
    'UPDATE jobs SET input = ?, version = ? WHERE execution_id = ? AND state = 0 RETURNING number',
    write.input,
    write.version,
    executionKey(write.executionId),
  )
  return changed !== undefined
}

/** From now on, a crash does not count as an interruption of the job. */
export function suspendJob(sql: Sql, executionId: string, at: number): void {
  sql.run(
    'UPDATE jobs SET state = 2, waiting_since = ? WHERE execution_id = ? AND state = 1',
    at,
    executionKey(executionId),
  )
}

export function insertStep(sql: Sql, { executionId, number, content }: Extract<JobWrite, { kind: 'job-step' }>): void {
  sql.run(
    'INSERT INTO job_steps (job, number, content) SELECT number, ?, ? FROM jobs WHERE execution_id = ?',
    number,
    content,
    executionKey(executionId),
  )
}

/** Deletes a job that ended. Its log entry remains, and its `output` if the entry does not show the complete output. */
export function endJob(sql: Sql, executionId: string, output: Uint8Array | null, at: number): void {
  const key = executionKey(executionId)
  const job = sql.get<{ number: number; pauses: number }>('SELECT number, pauses FROM jobs WHERE execution_id = ?', key)
  if (job) {
    if (job.pauses > 0) endPauses(sql, executionId, at)
    sql.run('DELETE FROM job_steps WHERE job = ?', job.number)
    sql.run('DELETE FROM jobs WHERE number = ?', job.number)
    sql.run('DELETE FROM store_changes WHERE execution_id = ?', key)
  }
  if (output) sql.run('INSERT INTO job_outputs (execution_id, content) VALUES (?, ?)', key, output)
}

export function getJob(sql: Sql, executionId: string): Job | undefined {
  const row = sql.get<SqlJobStatus & Pick<Job, 'input'>>(
    `${selectStatus}, j.input ${fromJobs} WHERE j.execution_id = ?`,
    executionKey(executionId),
  )
  return row && { ...row, ...textsOf(row) }
}

/** The job without its input. */
export function findJob(sql: Sql, executionId: string): JobStatus | undefined {
  const row = sql.get<SqlJobStatus>(`${selectStatus} ${fromJobs} WHERE j.execution_id = ?`, executionKey(executionId))
  return row && { ...row, ...textsOf(row) }
}

function textsOf(row: SqlJobStatus): Pick<Job, 'executionId' | 'trigger' | 'state' | 'hasPauses'> {
  return {
    hasPauses: row.hasPauses > 0,
    executionId: executionIdOf(row.executionId),
    trigger: jobTriggers[row.trigger]!,
    state: jobStates[row.state]!,
  }
}

/** The recorded steps of a job, ordered by number. */
export function getJobSteps(sql: Sql, executionId: string): Uint8Array[] {
  return sql
    .all<{ content: Uint8Array }>(
      'SELECT s.content FROM jobs j JOIN job_steps s ON s.job = j.number WHERE j.execution_id = ? ORDER BY s.number',
      executionKey(executionId),
    )
    .map(({ content }) => content)
}

/** The latest recorded steps of a job, as far as they fit. */
export function listRecentSteps(sql: Sql, executionId: string, limits: StepLimits): RecentSteps {
  const job = sql.get<{ number: number }>('SELECT number FROM jobs WHERE execution_id = ?', executionKey(executionId))
  if (!job) return { contents: [], isComplete: true }
  const newest = sql.all<{ number: number; bytes: number }>(
    'SELECT number, length(content) AS bytes FROM job_steps WHERE job = ? ORDER BY number DESC LIMIT ?',
    ...[job.number, limits.countMax],
  )
  const { numbers, isComplete } = fittingSteps(newest, limits)
  const steps = sql.all<{ content: Uint8Array }>(
    `SELECT content FROM job_steps WHERE job = ? AND number IN (SELECT value FROM json_each(?)) ORDER BY number`,
    ...[job.number, JSON.stringify(numbers)],
  )
  return { contents: steps.map(({ content }) => content), isComplete }
}

/** The oldest jobs of each workflow that have not started. The only process need not claim them. */
export function claimQueuedJobs(sql: Sql, { perWorkflow, workflowsMax, after }: JobPage): JobFacts[] {
  const jobs: JobFacts[] = []
  const previous =
    after === undefined ? undefined : sql.get<{ number: number }>('SELECT number FROM workflows WHERE id = ?', after)
  let workflow = previous?.number ?? -1
  for (let count = 0; count < workflowsMax; count += 1) {
    const next = sql.get<{ workflow: number }>(
      'SELECT workflow FROM jobs WHERE state = 0 AND workflow > ? ORDER BY workflow LIMIT 1',
      workflow,
    )
    if (!next) break
    workflow = next.workflow
    const rows = sql.all<SqlJobFacts>(
      `${selectWaiting} ${fromJobs} WHERE j.state = 0 AND j.workflow = ? ORDER BY j.number LIMIT ?`,
      workflow,
      perWorkflow,
    )
    jobs.push(...rows.map(factsOf))
  }
  return jobs
}

/** Interrupted jobs, oldest first. */
export function claimInterruptedJobs(sql: Sql, limit: number): JobFacts[] {
  const text = `${selectWaiting} ${fromJobs} WHERE j.state > 0 AND j.state = 2 ORDER BY j.number LIMIT ?`
  return sql.all<SqlJobFacts>(text, limit).map(factsOf)
}

/** A job that was just interrupted. */
export function interruptedJob(sql: Sql, executionId: string): JobFacts | undefined {
  const row = sql.get<SqlJobFacts>(`${selectWaiting} ${fromJobs} WHERE j.execution_id = ?`, executionKey(executionId))
  return row && factsOf(row)
}

export function listScheduledJobs(sql: Sql): Pick<JobFacts, 'executionId' | 'workflowId'>[] {
  // A literal instead of a parameter, as in `parkJobs`: only then does SQLite use the partial index.
  return sql
    .all<Pick<SqlJobFacts, 'executionId' | 'workflowId'>>(
      `SELECT j.execution_id AS executionId, f.id AS workflowId
       FROM jobs j CROSS JOIN workflows f ON f.number = j.workflow WHERE j.trigger = 2`,
    )
    .map((row) => ({ ...row, executionId: executionIdOf(row.executionId) }))
}

/** Marks running jobs as interrupted, and counts a crash for each if `crashed`. Returns how many jobs are left. */
export function parkJobs(sql: Sql, crashed: boolean): { queued: number; interrupted: number } {
  // SQLite uses a partial index only if its condition is repeated, with literals instead of parameters.
  sql.run('UPDATE jobs SET state = 2, cuts = cuts + ? WHERE state > 0 AND state = 1', crashed ? 1 : 0)
  const queued = sql.get<{ count: number }>('SELECT count(*) AS count FROM jobs WHERE state = 0')
  const interrupted = sql.get<{ count: number }>('SELECT count(*) AS count FROM jobs WHERE state > 0 AND state = 2')
  return { queued: queued?.count ?? 0, interrupted: interrupted?.count ?? 0 }
}

/** The sealed output of a job that ended; undefined when its log entry shows the complete output. */
export function getJobOutput(sql: Sql, executionId: string): Uint8Array | undefined {
  return sql.get<{ content: Uint8Array }>(
    'SELECT content FROM job_outputs WHERE execution_id = ?',
    executionKey(executionId),
  )?.content
}

export type SqlJobFacts = Omit<JobFacts, 'executionId'> & { executionId: string | Uint8Array }
type SqlJobStatus = Omit<JobStatus, 'executionId' | 'trigger' | 'state' | 'hasPauses'> &
  SqlJobFacts & { trigger: number; state: number; hasPauses: number }

export const selectFacts = `
  SELECT j.execution_id AS executionId, f.id AS workflowId, w.id AS workspaceId, j.created_at AS createdAt,
    j.started_at AS startedAt`
const selectStatus = `${selectFacts}, j.version, j.trigger, j.state, j.cuts AS interruptions,
    j.waited_ms AS waitedMs, j.waiting_since AS waitingSince, j.pauses AS hasPauses`
// SQLite knows the length without reading the value.
const selectWaiting = `${selectFacts}, length(j.input) AS inputBytes`
export const fromJobs = `
  FROM jobs j CROSS JOIN workflows f ON f.number = j.workflow CROSS JOIN workspaces w ON w.number = j.workspace`

const factsOf = (row: SqlJobFacts): JobFacts => ({ ...row, executionId: executionIdOf(row.executionId) })
