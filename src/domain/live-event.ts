import type { Cost } from './cost.ts'
import type { RunFailureCode, SpanStatus } from './log.ts'
import type { TriggerKind } from './workflow.ts'

/**
 * What those hear who watch a run: a message each, as JSON. Times are ISO 8601, durations milliseconds. Whoever comes
 * late hears first of what has happened so far: `run.started`, `block.ended` of blocks that have ended, `block.started`
 * of those that have not, with the text that they have streamed.
 */
export type LiveEvent =
  | {
      event: 'run.started'
      executionId: string
      workflowId: string
      trigger: TriggerKind
      startedAt: string
      /** Blocks that had ended before and are not told of any more, because there were too many. */
      earlier: number
    }
  | ({
      event: 'block.started'
      span: Pick<LiveSpan, 'id' | 'name' | 'type' | 'blockId' | 'startTime'>
    } & LivePlace)
  /** A piece of what the block streams; the pieces of a span belong together. */
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
  /** There will be no log entry: it could not be written, or the run goes on after a restart. */
  | { event: 'run.lost'; executionId: string; message: string }
  /** The reader was too slow; the run goes on. */
  | { event: 'dropped'; message: string }

/**
 * Where in the run: below how many sub-workflows, in which iteration of each loop and parallel around it, and the span of
 * the block around it (a loop, a parallel, what called the sub-workflow). Numbers of span ids grow in the order in which
 * spans began.
 */
export type LivePlace = { depth: number; iterations: readonly number[]; parentId: string | null }

/** A trace span as in the log. What has events of its own, the blocks of a container say, does not stand in `children`. */
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
  /** Set when its outputs were taken from an earlier run. */
  reused?: true
  children: readonly unknown[]
}
