import { type Cost, noCost } from '../domain/cost.ts'
import type { Job, JobFacts } from '../domain/job.ts'
import type { RunFailure, RunRecord, Span } from '../domain/log.ts'
import type { Redactor } from '../domain/redaction.ts'
import type { Journal } from './journal.ts'

type EndedJob = JobFacts & Pick<Job, 'version' | 'trigger'>
type JobFailureCode = Extract<RunFailure['code'], 'CANCELLED' | 'EXECUTION_FAILED' | 'INTERRUPTED'>

/** The record of a job that ends without being walked (on). */
export function failedJob(job: EndedJob, code: JobFailureCode, at: number, message = messages[code]): RunRecord {
  return recordOf(job, { code, message, blockId: null, blockName: null }, [], at, undefined, noCost)
}

/** The record of a job that is not led on after it was cut too often; it shows the blocks that ended. */
export function interrupted(job: EndedJob, journal: Journal, at: number, secrets: Redactor | undefined): RunRecord {
  const failure: RunFailure = {
    code: 'INTERRUPTED',
    message: messages.INTERRUPTED,
    blockId: null,
    blockName: null,
  }
  return recordOf(
    job,
    failure,
    Array.from(journal.blocks, ({ span }) => span),
    at,
    secrets,
    journal.cost,
  )
}

const messages: Record<JobFailureCode, string> = {
  CANCELLED: 'The run was cancelled.',
  EXECUTION_FAILED: 'The run failed.',
  INTERRUPTED: 'The service ended three times while this run was in progress, so it was not started again.',
}

function recordOf(
  job: EndedJob,
  failure: RunFailure,
  children: Span[],
  at: number,
  secrets: Redactor | undefined,
  cost: Cost,
): RunRecord {
  const { executionId, workflowId, workspaceId, version, trigger, createdAt } = job
  const startedAt = Math.min(job.startedAt ?? at, at)
  const root: Span = {
    id: 's0',
    name: workflowId,
    type: 'workflow',
    blockId: null,
    status: failure.code === 'CANCELLED' ? 'cancelled' : 'error',
    startTime: startedAt,
    endTime: at,
    durationMs: at - startedAt,
    input: null,
    output: null,
    error: { code: failure.code, message: failure.message },
    attempts: null,
    children,
  }
  return {
    executionId,
    workflowId,
    workspaceId,
    version,
    trigger,
    createdAt,
    startedAt,
    endedAt: at,
    durationMs: at - startedAt,
    failure,
    output: null,
    cost,
    root,
    secrets,
  }
}
