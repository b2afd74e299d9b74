import type { AlertEvaluation } from '../alert/evaluation.ts'
import type { PollCommit } from '../poll/poll.ts'
import type { ScheduleStep } from '../schedule/schedule.ts'
import type { PauseEvent } from '../webhook/run-event.ts'
import type { Claim, RequestClaim } from './claim.ts'
import type { NewJob } from './job.ts'
import type { LogRow } from './log.ts'
import type { PauseWrite } from './pause.ts'

/** One write. Many writes are committed together as a group. */
export type Write = LogWrite | JobWrite | ChatWrite | AlertWrite

/**
 * The log entry of a run that has ended. If the run was a job, this also completes the job, and is refused when another
 * process has the job. `output` is the encrypted output for the job's caller, if it differs from the log's. `claim`
 * belongs to a synchronous run. `isUnwritten`: the run ended before its job was written, so it has no job.
 */
export type LogWrite = {
  kind: 'log'
  row: LogRow
  output: Uint8Array | null
  claim?: RequestClaim
  isUnwritten?: boolean
}

export type JobWrite =
  | PauseWrite
  /** The result of a poll and the jobs that it starts. Refused, without jobs, when the poll has changed. */
  | PollWrite
  /** Refused, without a job, when its claim is. `chars`: the approximate input size, if it is encrypted later. */
  | { kind: 'job'; row: NewJob; claim?: Claim; chars?: number }
  /** A job that starts or continues. */
  | { kind: 'job-start'; executionId: string; at: number; event?: PauseEvent }
  /** A pause of a running job has ended. */
  | { kind: 'job-event'; executionId: string; event: PauseEvent }
  /** A running job that waits for memory before its next block. */
  | { kind: 'job-wait'; executionId: string; at: number }
  /** The state needed to resume after a step of a job. `number` starts at 1 in each job; `content` is encrypted. */
  | { kind: 'job-step'; executionId: string; number: number; content: Uint8Array }
  /** A later start replaces the input of a queued job. Refused when the job has begun. */
  | { kind: 'job-input'; executionId: string; version: number; input: Uint8Array }
  /** A decision about a schedule that starts no run. */
  | { kind: 'schedule'; step: ScheduleStep }

export type PollWrite = { kind: 'poll'; poll: PollCommit; jobs: readonly NewJob[] }

/** One exchange of a chat, encrypted. `kept`: how many of the latest exchanges of the conversation stay. */
export type ChatWrite = {
  kind: 'chat'
  workflowId: string
  conversationId: string
  at: number
  kept: number
  content: Uint8Array
}

/** The result of an evaluation of alerts. Refused when something changed since its batch was read. */
export type AlertWrite = { kind: 'alerts'; evaluation: AlertEvaluation }

export function logWrite(
  row: LogRow,
  output: Uint8Array | null = null,
  { claim, isUnwritten = false }: { claim?: RequestClaim | undefined; isUnwritten?: boolean } = {},
): LogWrite {
  return { kind: 'log', row, output, ...(claim && { claim }), ...(isUnwritten && { isUnwritten }) }
}

/** The size of the long parts of a write, in characters or bytes. */
export function lengthOfWrite(write: Write): number {
  switch (write.kind) {
    case 'log':
      return write.row.finalOutput.length + write.row.traceSpans.length + (write.output?.length ?? 0)
    case 'job':
      return write.chars ?? write.row.input.length
    case 'job-start':
    case 'job-wait':
    case 'schedule':
    case 'alerts':
      return 0
    case 'poll':
      return write.jobs.reduce((sum, { input }) => sum + input.length, write.poll.seen.length * seenChars)
    case 'job-event':
      return write.event.paused.length
    case 'job-pause':
      return lengthOfPause(write)
    case 'job-input':
      return write.input.length
    case 'job-step':
    case 'chat':
      return write.content.length
  }
}

/** A hash and its place in a list. */
const seenChars = 25

function lengthOfPause({ pauses, accepts, event }: PauseWrite): number {
  const contents = pauses.reduce((sum, { content }) => sum + (content?.length ?? 0), 0)
  const steps = accepts?.steps.reduce((sum, step) => sum + step.length, accepts.row.input.length) ?? 0
  return contents + steps + (event?.paused.length ?? 0)
}
