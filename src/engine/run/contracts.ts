import type { Span } from '../../domain/run/log.ts'
import type { BlockErrorData, Body, Outputs } from '../block.ts'
import type { PlanNode, PlanScope } from '../compile/plan.ts'
import type { PlanReference } from '../compile/reference-resolver.ts'

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
  /** Set when the outputs are pinned to the block, instead of coming from a run. */
  isPinned?: true
}

/** A manual run in which some blocks do not run: where their outputs come from, and how far the run goes. */
export type PartialRun = {
  /** False when the run goes through the whole workflow, and only pinned blocks do not run. */
  isPart: boolean
  /**
   * How a block of the run itself ended in the previous run, or what is pinned to it, if these outputs are used instead
   * of running the block. `iterations`: outermost first.
   */
  cached(node: PlanNode, iterations: readonly number[]): RecordedBlock | undefined
  /** Ids of the blocks that may run; undefined for all. */
  within: ReadonlySet<string> | undefined
  /** The id of the block that ends the run. */
  until: string | undefined
  /** Set when one block runs alone, without a walk. */
  only: RunOnly | undefined
}

/**
 * `before`: the blocks that ended before the one that runs, in that order. `samples`: outputs of triggers, by block id,
 * for members that the previous run does not have. `given`: the values that replace all others.
 */
export type RunOnly = {
  steps: readonly PlanStep[]
  iterations: readonly number[]
  before: readonly { node: PlanNode; span: Span }[]
  samples: ReadonlyMap<string, Outputs>
  given: readonly GivenValue[]
}

export type GivenValue = { reference: PlanReference; value: unknown }

/** One step on the path from the root of a plan to a block: a container, or at the end the block itself. */
export type PlanStep = { scope: PlanScope; node: PlanNode }
