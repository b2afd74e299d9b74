import type { TriggerKind } from '../workflow/workflow.ts'

/** An asynchronous run that the service accepted, as the store writes it. Times are in epoch milliseconds. */
export type NewJob = {
  /** Also the ID of the job. */
  executionId: string
  workflowId: string
  workspaceId: string
  /** The version that was active when the job was accepted. The job runs this version. */
  version: number
  trigger: TriggerKind
  createdAt: number
  /** Set when the job starts immediately, null when it has to wait. */
  startedAt: number | null
  /** The encrypted input. */
  input: Uint8Array
}

/**
 * queued → running → (its log entry; the job is gone).
 * running → cut, when the process has ended under it or was told to stop; cut → running, when it goes on.
 */
export type JobState = 'queued' | 'running' | 'cut'

export type Job = NewJob & {
  state: JobState
  /** How often the process died while it ran. */
  cuts: number
}

/** A job without its input. */
export type JobFacts = Pick<Job, 'executionId' | 'workflowId' | 'workspaceId' | 'createdAt' | 'startedAt'>

/** Which waiting jobs to read: the first of each workflow, for a number of workflows in a fixed order after `after`. */
export type JobPage = { perWorkflow: number; workflowsMax: number; after: string | undefined }
