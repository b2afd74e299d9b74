import type { Job, JobFacts, JobPage } from '../domain/job.ts'

/** What jobs need of the store. */
export type JobStore = {
  getJob(executionId: string): Promise<Job | undefined>
  /** What `job-step` writes gave, in the order of their numbers. */
  getJobSteps(executionId: string): Promise<Uint8Array[]>
  /** Jobs that have not started: the oldest of each workflow. */
  listQueuedJobs(page: JobPage): Promise<JobFacts[]>
  listCutJobs(): Promise<JobFacts[]>
  /** Makes running jobs cut ones. `crashed`: their process died, which counts. Answers how many are left. */
  parkJobs(crashed: boolean): Promise<{ queued: number; cut: number }>
}
