import type { Claim, RequestClaim } from './claim.ts'
import type { NewJob } from './job.ts'
import type { LogRow } from './log.ts'
import type { ScheduleStep } from './schedule.ts'

/** One of the things that go to the disk in groups, many in one commit. */
export type Write = LogWrite | JobWrite | ChatWrite

/**
 * A run that ended; when it was a job, the job is done with it. `output`: what its caller may fetch, sealed, where that
 * differs from what the log shows. `claim`: of a run that was no job, for the request that it answered.
 */
export type LogWrite = { kind: 'log'; row: LogRow; output: Uint8Array | null; claim?: RequestClaim }

export type JobWrite =
  /** Refused, and there is no job, when its claim is. `chars`: roughly what its input has, where that is sealed when it is read. */
  | { kind: 'job'; row: NewJob; claim?: Claim; chars?: number }
  /** A job that starts, or goes on. */
  | { kind: 'job-start'; executionId: string; at: number }
  /** What it takes to go on behind a step of a job. `number` counts from 1 in each job; `content` is sealed. */
  | { kind: 'job-step'; executionId: string; number: number; content: Uint8Array }
  /** A decision about a schedule that starts no run. */
  | { kind: 'schedule'; step: ScheduleStep }

/** An exchange of a chat, sealed. `kept`: exchanges of its conversation that stay, the latest. */
export type ChatWrite = {
  kind: 'chat'
  workflowId: string
  conversationId: string
  at: number
  kept: number
  content: Uint8Array
}

export function logWrite(row: LogRow, output: Uint8Array | null = null, claim?: RequestClaim): LogWrite {
  return claim ? { kind: 'log', row, output, claim } : { kind: 'log', row, output }
}

/** Characters or bytes of what is long in a write. */
export function lengthOfWrite(write: Write): number {
  switch (write.kind) {
    case 'log':
      return write.row.finalOutput.length + write.row.traceSpans.length + (write.output?.length ?? 0)
    case 'job':
      return write.chars ?? write.row.input.length
    case 'job-start':
    case 'schedule':
      return 0
    case 'job-step':
    case 'chat':
      return write.content.length
  }
}
