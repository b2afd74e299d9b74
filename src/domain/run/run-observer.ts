import type { Redactor } from '../redaction/redactor.ts'
import type { TriggerKind } from '../workflow/workflow.ts'
import type { RunRecord, Span } from './log.ts'

/** Receives what happens in a run while it is in progress: for live watchers and the CLI's progress. Must not throw. */
export type RunObserver = {
  /** Before the first block; or, for a run that is already in flight, when the observer attaches. */
  began?(run: RunInSight): void
  started?(span: Span, place: BlockPlace): void
  /** Also called for a skipped block: its status is `skipped`, and `started` was not called. */
  ended?(span: Span, place: BlockPlace): void
  /** A piece of output that the block streams. */
  chunk?(span: Span, text: string, place: BlockPlace): void
  /** Something that an agent does besides generating text. */
  agent?(span: Span, event: AgentEvent, place: BlockPlace): void
  /** The run has ended, and its log entry is on disk. */
  recorded?(record: RunRecord): void
  /** The run ended but its log entry could not be written, or the run continues later in another process. */
  lost?(reason: unknown): void
}

/**
 * `reset`: the text that was streamed since the last one is not a part of the answer, because the model called tools
 * after it. `id`: of the tool call.
 */
export type AgentEvent =
  | { kind: 'thinking'; text: string }
  | { kind: 'tool-start'; id: string; name: string }
  | { kind: 'tool-end'; id: string; name: string; status: 'success' | 'error' }
  | { kind: 'reset' }

/** The position of a block in a run. */
export type BlockPlace = {
  /** The number of enclosing sub-workflows; 0 in the run itself. */
  depth: number
  /** The iteration index of each enclosing loop and parallel, the outermost first. */
  iterations: readonly number[]
  /** The span ID of the enclosing block: a loop, a parallel, or the caller of the sub-workflow; null for none. */
  parentId: string | null
}

/** A run in flight. */
export type RunInSight = {
  readonly executionId: string
  readonly workflowId: string
  readonly workspaceId: string
  readonly trigger: TriggerKind
  /** Epoch milliseconds. */
  readonly startedAt: number
  /** The spans so far. Blocks that have not ended have open spans (`isOpen`). */
  readonly root: Span
  /** Hides the workspace's secrets from watchers. */
  readonly secrets: Redactor | undefined
}

/** Combines two observers. */
export function observers(one: RunObserver | undefined, other: RunObserver): RunObserver {
  if (!one) return other
  return {
    began: (run) => each((observer) => observer.began?.(run)),
    started: (span, place) => each((observer) => observer.started?.(span, place)),
    ended: (span, place) => each((observer) => observer.ended?.(span, place)),
    chunk: (span, text, place) => each((observer) => observer.chunk?.(span, text, place)),
    agent: (span, event, place) => each((observer) => observer.agent?.(span, event, place)),
    recorded: (record) => each((observer) => observer.recorded?.(record)),
    lost: (reason) => each((observer) => observer.lost?.(reason)),
  }

  function each(tell: (observer: RunObserver) => void): void {
    tell(one as RunObserver)
    tell(other)
  }
}
