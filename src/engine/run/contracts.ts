import type { Span } from '../../domain/run/log.ts'
import type { BlockErrorData, Body, Outputs } from '../block.ts'
import type { PlanNode, PlanScope } from '../compile/plan.ts'

// The types that the parts of a run share, so that no two of these parts have to import each other.

/**
 * How the execution of one block ended. `ended`: with outputs, and the handle that the run leaves by (undefined for
 * none). `failed`: for good, so the scope fails. `cancelled`: something outside of the block stopped it.
 */
export type BlockEnd =
  | { kind: 'ended'; outputs: Outputs; port: string | undefined }
  | { kind: 'failed'; error: BlockErrorData }
  | { kind: 'cancelled' }

/** How one pass through a scope ended. `stopped`: something outside of the scope ended the run. */
export type ScopeEnd =
  | { kind: 'completed'; output: unknown }
  | { kind: 'failed'; node: PlanNode; error: BlockErrorData }
  | { kind: 'stopped' }

/** The body of a container, as the walker creates it for one execution of the container. */
export interface ContainerBody extends Body {
  /** Called once, before the first iteration. The spans of iterations become children of `span`. */
  open(span: Span): void
}

/**
 * How a block ended that does not run again: in an interrupted job, or in a previous run. `span.output` has its
 * outputs.
 */
export type RecordedBlock = {
  span: Span
  /** The handle that the run left by; null for none. */
  port: string | null
  /** Set when the block failed for good. */
  error: BlockErrorData | null
}

/** A manual run of a part of a workflow: what it takes from a previous run, and how far it goes. */
export type PartialRun = {
  /**
   * How a block of the run itself ended in the previous run, if its outputs are used again. `iterations`: outermost
   * first.
   */
  cached(node: PlanNode, iterations: readonly number[]): RecordedBlock | undefined
  /** Ids of the blocks that may run; undefined for all. */
  within: ReadonlySet<string> | undefined
  /** The id of the block that ends the run. */
  until: string | undefined
  /** Set when one block runs alone, without a walk. */
  only: RunOnly | undefined
}

/** `before`: the blocks that ended before the one that runs, in that order. */
export type RunOnly = {
  steps: readonly PlanStep[]
  iterations: readonly number[]
  before: readonly { node: PlanNode; span: Span }[]
}

/** One step on the path from the root of a plan to a block: a container, or at the end the block itself. */
export type PlanStep = { scope: PlanScope; node: PlanNode }
