import type { StartKind } from '../workflow/workflow.ts'

/** An asynchronous run that the service accepted, as the store writes it. Times are in epoch milliseconds. */
export type NewJob = {
  /** Also the ID of the job. */
  executionId: string
  workflowId: string
  workspaceId: string
  /** The version that was active when the job was accepted. The job runs this version. */
  version: number
  /** The kind of trigger that the run starts at. */
  trigger: StartKind
  createdAt: number
  /** Set when the job starts immediately, null when it has to wait. */
  startedAt: number | null
  /** The encrypted input. */
  input: Uint8Array
  /** Whether a job that has to wait belongs to this process. Otherwise any process may take it. */
  isClaimed?: boolean
}

/**
 * A queued job becomes running when its turn comes. When the run ends, its log entry replaces the job. A running job
 * becomes interrupted when the process crashes or stops, and when it has to wait for memory. It becomes paused when all
 * that is left of it waits for a time or an answer, and interrupted when that has come. It becomes running again when
 * it resumes.
 */
export type JobState = 'queued' | 'running' | 'interrupted' | 'paused'

export type Job = NewJob & {
  state: JobState
  /** How many times the process crashed while the job ran. */
  interruptions: number
  /**
   * How long it has waited for memory, or was paused, up to the latest resumption. This time does not count against its
   * timeout.
   */
  waitedMs: number
  /** Set while it waits for memory, or is paused. */
  waitingSince: number | null
  /** Whether it has, or had, pauses. */
  hasPauses: boolean
}

/** A job without its input. `isElsewhere`: another process has claimed it; absent when there is no other. */
export type JobStatus = Omit<Job, 'input'> & { isElsewhere?: boolean }

/** The identity of a job, and its times. `inputBytes`: the size of the encrypted input of a job that is to start. */
export type JobFacts = Pick<Job, 'executionId' | 'workflowId' | 'workspaceId' | 'createdAt' | 'startedAt'> & {
  inputBytes?: number
}

/** Which waiting jobs to claim: the first of each workflow, for a number of workflows in a fixed order. */
export type JobPage = { perWorkflow: number; workflowsMax: number; after: string | undefined }

/** Asks for the runs of a workspace that have not ended, newest first. `before`: the number of the last one read. */
export type OpenRunPage = {
  workspaceId: string
  workflowId: string | undefined
  states: readonly JobState[]
  before: number
  limit: number
}
export type OpenRun = JobFacts & Pick<Job, 'state' | 'trigger'> & { number: number; workflowName: string }

/** Which steps of a job to read: the latest `countMax`, without those that do not fit into `bytesMax`. */
export type StepLimits = { countMax: number; bytesMax: number }

/** `contents`: the steps in the order of their numbers. `isComplete`: whether these are all steps of the job. */
export type RecentSteps = { contents: Uint8Array[]; isComplete: boolean }

/** The numbers of the steps that fit into `bytesMax`. `newest`: the latest steps, newest first. The first is 1. */
export function fittingSteps(
  newest: readonly { number: number; bytes: number }[],
  { bytesMax }: StepLimits,
): { numbers: number[]; isComplete: boolean } {
  let bytes = 0
  const numbers: number[] = []
  for (const step of newest) {
    if (bytes + step.bytes > bytesMax) continue
    bytes += step.bytes
    numbers.push(step.number)
  }
  return { numbers, isComplete: numbers.length === (newest[0]?.number ?? 0) }
}
