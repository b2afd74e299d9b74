import type { TriggerKind } from '../workflow/workflow.ts'
import type { Cost } from './cost.ts'
import type { RunFailureCode, SpanStatus } from './log.ts'

/**
 * The messages that watchers of a run receive, as JSON. Times are ISO 8601, durations milliseconds. A watcher that
 * joins late first receives what has already happened: `run.started`, `block.ended` for each block that has ended, and
 * `block.started` for each that has not, with the text that it has streamed so far.
 */
export type LiveEvent =
  | {
      event: 'run.started'
      executionId: string
      workflowId: string
      trigger: TriggerKind
      startedAt: string
      /** How many blocks ended earlier and are not reported because there were too many. */
      earlier: number
    }
  | ({
      event: 'block.started'
      span: Pick<LiveSpan, 'id' | 'name' | 'type' | 'blockId' | 'startTime'>
    } & LivePlace)
  /** A piece of streamed output. Pieces with the same span ID belong together. */
  | ({ event: 'block.chunk'; spanId: string; blockId: string; chunk: string } & LivePlace)
  | ({ event: 'block.ended'; span: LiveSpan } & LivePlace)
  /** The run has ended, and its log entry is on disk. */
  | {
      event: 'run.ended'
      executionId: string
      status: 'success' | 'error' | 'cancelled'
      endedAt: string
      duration: number
      output: unknown
      error: { code: RunFailureCode; message: string; blockId: string | null; blockName: string | null } | null
      cost: Cost
    }
  /** There will be no log entry: it could not be written, or the run continues after a restart. */
  | { event: 'run.lost'; executionId: string; message: string }
  /** The watcher was too slow and was disconnected. The run continues. */
  | { event: 'dropped'; message: string }

/**
 * A position in the run: the number of enclosing sub-workflows, the iteration of each enclosing loop and parallel, and
 * the span of the enclosing block (a loop, a parallel, or the block that called the sub-workflow). The numbers in span
 * IDs grow in the order in which spans started.
 */
export type LivePlace = { depth: number; iterations: readonly number[]; parentId: string | null }

/** A trace span as in the log. `children` omits spans that have events of their own, such as blocks in a container. */
export type LiveSpan = {
  id: string
  name: string
  type: string
  blockId: string
  status: SpanStatus
  startTime: string
  endTime: string
  duration: number
  input: unknown
  output: unknown
  error?: { code: string; message: string }
  attempts?: readonly { number: number; startTime: string; duration: number; status?: number; error?: string }[]
  /** Set when the outputs come from an earlier run. */
  reused?: true
  /** Set when the outputs are those that are pinned to the block. */
  pinned?: true
  children: readonly unknown[]
}
