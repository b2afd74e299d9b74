import type { HeldRequest, Refusal } from '../domain/run/claim.ts'
import type {
  Job,
  JobFacts,
  JobPage,
  JobStatus,
  OpenRun,
  OpenRunPage,
  RecentSteps,
  StepLimits,
} from '../domain/run/job.ts'
import type { EntryFacts, EntryNotes, EntryWorkflow } from '../domain/run/log-entry.ts'
import type {
  DuePauses,
  EndedPause,
  ListedPause,
  PauseCount,
  PauseCountQuery,
  PauseEnd,
  PausePage,
  StoredPause,
} from '../domain/run/pause.ts'
import type { Write } from '../domain/run/write.ts'
import type { LogCountQuery, LogCounts, LogPage, LogQuery } from './log-query.ts'

/** The part of the port for runs: log entries, asynchronous runs, chats, files and usage. */
export interface RunStore {
  // runs
  /**
   * Writes a group, all or none, except the writes whose claim belongs to another run, and those for a job of another
   * process. Returns these refusals;
   * undefined when there are none. Resolves when the group is committed, and flushed to disk if `MILLRACE_SYNC` is
   * `full`.
   */
  append(writes: readonly Write[]): Promise<readonly Refusal[] | undefined>
  /** The run that holds a request's claim at this time. */
  findRequestClaim(workflowId: string, key: string, at: number): Promise<string | undefined>
  /** The same with what the request left for its repeats. */
  findHeldRequest(workflowId: string, key: string, at: number): Promise<HeldRequest | undefined>
  /**
   * Claims an ID that a caller chose for a run that is to start. False when a run of the installation has or had it, as
   * far as the store knows, or another start has claimed it. A claim lasts for a day; then the run itself holds the ID.
   */
  claimRunId(executionId: string, at: number): Promise<boolean>
  /** Gives up the claim of an ID whose run did not start. */
  releaseRunId(executionId: string): Promise<void>
  /** The highest sequence on disk, 0 when there is none. */
  lastSequence(): Promise<number>
  /** One page of a workspace's entries, or the first part of it. */
  queryLogs(query: LogQuery): Promise<LogPage>
  /** Counts entries over time, newest first, until everything is counted or the time limit is reached. */
  countLogs(query: LogCountQuery): Promise<LogCounts>
  getLog(sequence: number): Promise<LogDetailRow | undefined>
  getExecution(executionId: string): Promise<LogDetailRow | undefined>

  // jobs: asynchronous runs that have not ended; `append` creates and ends them
  getJob(executionId: string): Promise<Job | undefined>
  /** The same without the input, which may be large. */
  findJob(executionId: string): Promise<JobStatus | undefined>
  /** The contents of a job's `job-step` writes, in the order of their numbers. */
  getJobSteps(executionId: string): Promise<Uint8Array[]>
  /** The latest of them, as far as they fit. */
  listRecentSteps(executionId: string, limits: StepLimits): Promise<RecentSteps>
  /** The oldest jobs of each workflow that have not started, except those that another process has claimed. */
  claimQueuedJobs(page: JobPage): Promise<JobFacts[]>
  /** Interrupted jobs that no process has claimed, oldest first. */
  claimInterruptedJobs(limit: number): Promise<JobFacts[]>
  /** Jobs of a workspace, newest first. */
  listOpenRuns(page: OpenRunPage): Promise<OpenRun[]>
  getOpenRun(executionId: string): Promise<OpenRun | undefined>
  /** Jobs that were started by a schedule. */
  listScheduledJobs(): Promise<Pick<JobFacts, 'executionId' | 'workflowId'>[]>
  /**
   * Gives up the claims of this process, marks its running jobs as interrupted, and counts a crash for each if
   * `crashed`. Returns how many jobs no process has claimed.
   */
  parkJobs(crashed: boolean): Promise<{ queued: number; interrupted: number }>
  /** The sealed output of a job that ended; undefined when its log entry shows the complete output. */
  getJobOutput(executionId: string): Promise<Uint8Array | undefined>

  // pauses; `append` writes them
  /** The pauses of a run, oldest first. */
  listRunPauses(executionId: string): Promise<StoredPause[]>
  /** Those of them that are open, at most `limit`. */
  listOpenPauses(executionId: string, limit: number): Promise<StoredPause[]>
  listPauses(page: PausePage): Promise<ListedPause[]>
  /** Counts the open pauses of a workspace. Stops counting at `limit`. */
  countPauses(workspaceId: string, limit: number): Promise<number>
  /** Deleted workflows that still have open pauses, at most `limit`. */
  listDeletedWithPauses(limit: number): Promise<{ workspaceId: string; workflowId: string }[]>
  /** Counts the open pauses of each kind; with a workflow, of each of its blocks, too. */
  countPausesByBlock(query: PauseCountQuery): Promise<PauseCount[]>
  getPause(contextId: string): Promise<StoredPause | undefined>
  /** Ends an open pause. Undefined when there is no such pause. */
  endPause(end: PauseEnd): Promise<EndedPause | undefined>
  /** Changes when an open pause ends by itself. Undefined when it is not open. */
  extendPause(contextId: string, until: number | null): Promise<StoredPause | undefined>
  /** Ends open pauses whose time has come, at most `limit`. Their runs continue in this process. */
  endDuePauses(at: number, limit: number): Promise<DuePauses>

  // chats; `append` records the messages
  /** The latest exchanges of a conversation, sealed, oldest first. */
  listTurns(workflowId: string, conversationId: string, limit: number): Promise<Uint8Array[]>

  // files of runs whose log entries were deleted
  /** Their folders (`folderOf` of domain/run/file.ts), at most `limit`. */
  listGoneFiles(limit: number): Promise<string[]>
  /** Call this after the folders have been deleted. */
  forgetGoneFiles(folders: readonly string[]): Promise<void>
  /** The stored files of a workspace whose runs are or were in the log, until `forgetGoneFiles`. */
  getFileUsage(workspaceId: string): Promise<{ files: number; bytes: number }>

  // usage
  /**
   * The cost of an account in the month that starts at `periodStart` (`billingPeriodOf` of domain/run/cost.ts), in
   * USD.
   */
  getUsage(userId: string, periodStart: number): Promise<number>
  /** The cost of a workflow's chat runs that were recorded since a time (epoch milliseconds), in USD. */
  getChatCost(chat: { workspaceId: string; workflowId: string }, since: number): Promise<number>
}

/** A log entry as it was recorded. */
export type LogDetailRow = EntryFacts &
  EntryNotes & {
    workspaceId: string
    /** When an asynchronous run was accepted; null for others. */
    createdAt: number | null
    /** JSON text of the whole `Cost`; null when the run cost nothing. */
    cost: string | null
    finalOutput: string
    traceSpans: string
    /** JSON of its `RunFile`s; null when it has none. */
    files: string | null
    workflow: EntryWorkflow
  }
