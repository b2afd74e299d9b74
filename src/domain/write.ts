import type { AttemptOutcome, DeliveryAttempt, DeliveryKey } from './delivery.ts'
import type { NewJob } from './job.ts'
import type { LogRow } from './log.ts'

/** One of the things that go to the disk in groups, many in one commit. */
export type Write = LogWrite | JobWrite | AttemptWrite

/**
 * A run that ended; when it was a job, the job is done with it. `output`: what its caller may fetch, sealed, where that
 * differs from what the log shows.
 */
export type LogWrite = { kind: 'log'; row: LogRow; output: Uint8Array | null }

export type JobWrite =
  | { kind: 'job'; row: NewJob }
  /** A job that starts, or goes on. */
  | { kind: 'job-start'; executionId: string; at: number }
  /** What it takes to go on behind a step of a job. `number` counts from 1 in each job; `content` is sealed. */
  | { kind: 'job-step'; executionId: string; number: number; content: Uint8Array }

/** An attempt to deliver a webhook that has ended. Nothing happens when the delivery is gone. */
export type AttemptWrite = { kind: 'attempt'; delivery: DeliveryKey; attempt: DeliveryAttempt; outcome: AttemptOutcome }

export function logWrite(row: LogRow, output: Uint8Array | null = null): LogWrite {
  return { kind: 'log', row, output }
}

/** Characters or bytes of what is long in a write. */
export function lengthOfWrite(write: Write): number {
  switch (write.kind) {
    case 'log':
      return write.row.finalOutput.length + write.row.traceSpans.length + (write.output?.length ?? 0)
    case 'job':
      return write.row.input.length
    case 'job-start':
      return 0
    case 'job-step':
      return write.content.length
    case 'attempt':
      return (write.attempt.answer?.length ?? 0) + (write.attempt.failure?.message.length ?? 0)
  }
}
