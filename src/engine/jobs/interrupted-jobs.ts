import type { JobQueue } from './job-queue.ts'
import type { JobStore } from './job-store.ts'
import type { ActiveJob } from './job-turn.ts'

export type InterruptedJobsOptions = {
  store: Pick<JobStore, 'claimInterruptedJobs'>
  queue: Pick<JobQueue, 'putFirst'>
  active: ReadonlyMap<string, ActiveJob>
  limit: number
}

/**
 * Claims interrupted jobs that no process has. When another process gave up the jobs of this one because it was away
 * for too long, their turns may still go on here: such a turn ends before the job gets another one.
 */
export async function takeInterrupted({ store, queue, active, limit }: InterruptedJobsOptions): Promise<void> {
  for (const job of await store.claimInterruptedJobs(limit)) {
    const turn = active.get(job.executionId)
    if (turn) void turn.ended.promise.then(() => queue.putFirst(job))
    else queue.putFirst(job)
  }
}
