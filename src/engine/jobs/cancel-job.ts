import { WorkLost } from '../../domain/run/work-lost.ts'
import type { CrowdedJobs } from './crowded-jobs.ts'
import type { JobQueue } from './job-queue.ts'
import { unwrittenRefusal } from './job-refusals.ts'
import { type ActiveJob, endJob, stepsOf } from './job-turn.ts'
import type { JobsOptions } from './jobs-options.ts'

export type CancelJobOptions = {
  options: JobsOptions
  queue: Pick<JobQueue, 'remove' | 'putFirst'>
  active: Map<string, ActiveJob>
  crowded: Pick<CrowdedJobs, 'remove'>
}

/** See `Jobs.cancel`. */
export async function cancelJob(executionId: string, jobs: CancelJobOptions): Promise<boolean | 'elsewhere'> {
  const { options, queue, active: turns, crowded } = jobs
  const { runner, store, limited } = options
  const active = turns.get(executionId)
  if (active) {
    // If the runner does not have the job yet, its turn finds `isCancelled` and ends it.
    const isEnding = runner.cancel(executionId) || active.isCancelled || !active.isRunning
    if (!isEnding) return false
    active.isCancelled = true
    if ((await active.ended.promise) === 'later') throw unwrittenRefusal()
    return true
  }
  if (runner.cancel(executionId)) return true
  const job = await store.findJob(executionId)
  if (job?.isElsewhere) return 'elsewhere'
  if (!job || turns.has(executionId)) return job ? cancelJob(executionId, jobs) : false
  const ending: ActiveJob = { job, isCancelled: true, isRunning: true, ended: Promise.withResolvers() }
  turns.set(executionId, ending)
  // The job must leave the queue first: otherwise it could start while its end is being written.
  const wasParked = limited?.leave(executionId)
  if (job.state !== 'paused' && !wasParked) queue.remove(executionId)
  try {
    await endJob(options, job, { code: 'CANCELLED' }, await stepsOf(options, job))
    crowded.remove(executionId)
    ending.ended.resolve('done')
    return true
  } catch (error) {
    ending.ended.resolve('later')
    if (error instanceof WorkLost) return 'elsewhere'
    if (job.state !== 'paused') queue.putFirst(job)
    throw error
  } finally {
    turns.delete(executionId)
  }
}
