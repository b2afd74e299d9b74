import type { Job, JobFacts, JobPage, JobStatus } from '../../domain/run/job.ts'
import type { StoredPause } from '../../domain/run/pause.ts'

/** The part of the store that jobs use. */
export type JobStore = {
  getJob(executionId: string): Promise<Job | undefined>
  /** The same without the input, which may be large. */
  findJob(executionId: string): Promise<JobStatus | undefined>
  /** The contents of a job's `job-step` writes, in the order of their numbers. */
  getJobSteps(executionId: string): Promise<Uint8Array[]>
  /** See `RunStore`. */
  listRunPauses(executionId: string): Promise<StoredPause[]>
  /** Jobs that have not started, and that no other process has claimed: the oldest ones of each workflow. */
  claimQueuedJobs(page: JobPage): Promise<JobFacts[]>
  claimInterruptedJobs(limit: number): Promise<JobFacts[]>
  /** See `RunStore`. */
  parkJobs(crashed: boolean): Promise<{ queued: number; interrupted: number }>
}
