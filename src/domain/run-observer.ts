import type { RunRecord, Span } from './log.ts'
import type { Redactor } from './redaction.ts'
import type { TriggerKind } from './workflow.ts'

/** Told of what happens in a run while it goes on: live readers, the command line's progress. Must not throw. */
export type RunObserver = {
  /** Before its first block; of a run that was in flight already, when the observer comes to it. */
  began?(run: RunInSight): void
  started?(span: Span, place: BlockPlace): void
  /** Also of a block that was passed over: its status is `skipped`, and it did not start. */
  ended?(span: Span, place: BlockPlace): void
  /** A piece of the output that the block streams. */
  chunk?(span: Span, text: string, place: BlockPlace): void
  /** The run has ended, and its log entry is on disk. */
  recorded?(record: RunRecord): void
  /** It has ended, and its log entry could not be written; or it goes on later, elsewhere. */
  lost?(reason: unknown): void
}

/** Where in a run something happens. */
export type BlockPlace = {
  /** Sub-workflows above it; 0 in the run itself. */
  depth: number
  /** The index of the iteration of each loop and parallel that it stands in, the outermost first. */
  iterations: readonly number[]
  /** The id of the span of the block around it: a loop, a parallel, or what called the sub-workflow; null for none. */
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
  /** The spans so far: those of blocks that have not ended are open (`isOpen`). */
  readonly root: Span
  /** What keeps the workspace's secrets from readers. */
  readonly secrets: Redactor | undefined
}

/** Tells both. */
export function observers(one: RunObserver | undefined, other: RunObserver): RunObserver {
  if (!one) return other
  return {
    began: (run) => each((observer) => observer.began?.(run)),
    started: (span, place) => each((observer) => observer.started?.(span, place)),
    ended: (span, place) => each((observer) => observer.ended?.(span, place)),
    chunk: (span, text, place) => each((observer) => observer.chunk?.(span, text, place)),
    recorded: (record) => each((observer) => observer.recorded?.(record)),
    lost: (reason) => each((observer) => observer.lost?.(reason)),
  }

  function each(tell: (observer: RunObserver) => void): void {
    tell(one as RunObserver)
    tell(other)
  }
}
