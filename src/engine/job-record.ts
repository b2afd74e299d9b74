import type { Job, JobFacts } from '../domain/job.ts'
import type { RunFailure, RunRecord, Span } from '../domain/log.ts'
import type { Redactor } from '../domain/redaction.ts'
import type { Journal } from './journal.ts'

type EndedJob = JobFacts & Pick<Job, 'version' | 'trigger'>
type JobFailureCode = Extract<RunFailure['code'], 'CANCELLED' | 'EXECUTION_FAILED' | 'INTERRUPTED'>

/** Why a job ends without being walked (on). */
export type JobEnding = { code: JobFailureCode; message?: string }

/** The record of such a job: with the blocks that ended before it was cut, and what was spent until then. */
export function endedJob(
  job: EndedJob,
  { code, message = messages[code] }: JobEnding,
  journal: Journal,
  at: number,
  secrets: Redactor | undefined,
): RunRecord {
  const failure: RunFailure = { code, message, blockId: null, blockName: null }
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
    children: Array.from(journal.blocks, ({ span }) => span),
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
    cost: journal.cost,
    root,
    secrets: journal.hide(secrets),
  }
}

const messages: Record<JobFailureCode, string> = {
  CANCELLED: 'The run was cancelled.',
  EXECUTION_FAILED: 'The run failed.',
  INTERRUPTED: 'The service ended three times while this run was in progress, so it was not started again.',
}
