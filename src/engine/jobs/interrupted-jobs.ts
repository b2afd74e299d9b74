import type { JobFacts } from '../../domain/run/job.ts'
import type { JobQueue } from './job-queue.ts'
import type { JobStore } from './job-store.ts'
import type { ActiveJob } from './job-turn.ts'

export type InterruptedJobsOptions = {
  store: Pick<JobStore, 'claimInterruptedJobs'>
  queue: Pick<JobQueue, 'putFirst'>
  active: ReadonlyMap<string, ActiveJob>
  /** `interrupted`: how many to read at once. */
  window?: { interrupted: number }
}

/**
 * Claims interrupted jobs that no process has. When another process gave up the jobs of this one because it was away
 * for too long, their turns may still go on here: such a turn ends before the job gets another one.
 */
export async function takeInterrupted({ store, queue, active, window }: InterruptedJobsOptions): Promise<void> {
  const limit = window?.interrupted ?? 1_000_000
  for (const job of await store.claimInterruptedJobs(limit)) putAfterTurn(job, queue, active)
}

/** Puts an interrupted job into the queue, at once or when its turn has ended. */
export function putAfterTurn(
  job: JobFacts,
  queue: Pick<JobQueue, 'putFirst'>,
  active: ReadonlyMap<string, ActiveJob>,
): void {
  const turn = active.get(job.executionId)
  // It may have got its next turn by then. Two turns at once would run it twice.
  if (turn) void turn.ended.promise.then(() => putAfterTurn(job, queue, active))
  else queue.putFirst(job)
}
