import type { JobFacts, JobStatus } from '../../domain/run/job.ts'
import type { RunRequest } from '../run/run-request.ts'
import type { QueueWindow } from './job-queue.ts'
import type { TurnOptions } from './job-turn.ts'

/** A run that is to be accepted as a job. */
export type JobRequest = Pick<
  RunRequest,
  'workflowId' | 'workspaceId' | 'version' | 'trigger' | 'input' | 'executionId'
>

export type JobsOptions = TurnOptions & {
  runner: { cancel(executionId: string): boolean }
  /** The priority of a workflow among those of its workspace; 0 when absent. */
  priorityOf?(workflowId: string): number
  /** Jobs that run at the same time, at most. */
  concurrency: number
  /** Jobs in the queue at most; further ones are refused. */
  waitingMax: number
  /** How many waiting jobs this process may hold; `interrupted`: interrupted ones that it reads at once. */
  window?: QueueWindow & { interrupted: number }
  /** Whether this process may start jobs now: its claims count, and it is not being drained. True when absent. */
  mayStart?(): boolean
}

/** A job that has not ended. `isElsewhere`: another process has claimed it. */
export type JobInFlight = JobFacts & { status: 'queued' | 'processing' | 'paused'; isElsewhere?: boolean }

export function statusOf({ state, startedAt }: JobStatus): JobInFlight['status'] {
  if (state === 'paused') return 'paused'
  return startedAt === null ? 'queued' : 'processing'
}
