import type { TriggerKind } from './workflow.ts'

/** An asynchronous run that was accepted, as the store takes it. Times are epoch milliseconds. */
export type NewJob = {
  /** Also the id of the job. */
  executionId: string
  workflowId: string
  workspaceId: string
  /** The version that was active when the job was accepted: the one that runs. */
  version: number
  trigger: TriggerKind
  createdAt: number
  /** Set when it starts at once, null when it has to wait. */
  startedAt: number | null
  /** The input, sealed. */
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

/** What is known of a job without its input. */
export type JobFacts = Pick<Job, 'executionId' | 'workflowId' | 'workspaceId' | 'createdAt' | 'startedAt'>

/** A part of the jobs in line: so many of each of so many workflows, in an order that stays, behind `after` (its id). */
export type JobPage = { perWorkflow: number; workflowsMax: number; after: string | undefined }
