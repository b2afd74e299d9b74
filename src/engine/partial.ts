import { itemsOf } from '../domain/items.ts'
import type { Span } from '../domain/log.ts'
import { attempt } from './attempt.ts'
import { BlockError, type Iteration, type Outputs } from './block.ts'
import { BlockAttempt } from './block-attempt.ts'
import { Frame } from './frame.ts'
import { type KeptBlock, outputsOf } from './journal.ts'
import type { PlanNode } from './plan.ts'
import type { PlanStep } from './plan-path.ts'
import type { Run } from './run.ts'
import { type ScopeEnd, walk } from './walk.ts'

/** Of a run by hand that does not run everything: what it takes from an earlier run, and how far it goes. */
export type PartialRun = {
  /** How a block of the run itself ended earlier, when it is not to run again. `iterations`: the outermost first. */
  reused(node: PlanNode, iterations: readonly number[]): KeptBlock | undefined
  /** Ids of the blocks that run at all; undefined: every one. */
  within: ReadonlySet<string> | undefined
  /** The block whose end is the end of the run. */
  until: string | undefined
  /** The one block that runs; undefined when a walk finds out which do. */
  only: RunOnly | undefined
}

/** `before`: blocks that ended before the one that runs, in the order in which they did. */
export type RunOnly = {
  steps: readonly PlanStep[]
  iterations: readonly number[]
  before: readonly { node: PlanNode; span: Span }[]
}

/** Runs one block where it stands, with what the blocks around it gave earlier. */
export async function runAlone(run: Run, { steps, iterations, before }: RunOnly, root: Span): Promise<ScopeEnd> {
  const first = new Frame(run, undefined, undefined, run.plan.root.nodes.length)
  for (const { node, span } of before) {
    const context = new BlockAttempt({ run, frame: first, halt: run.halt, spans: [], node, walk }, span)
    node.definition.restore?.((span.output ?? {}) as Outputs, context)
  }
  let frame: Frame | undefined
  let inner: Iteration | undefined
  for (const [depth, { scope, node }] of steps.entries()) {
    const place = iterations.slice(0, depth)
    frame = new Frame(run, frame, inner, scope.nodes.length)
    for (const other of scope.nodes) {
      const kept = other === node ? undefined : run.partial?.reused(other, place)
      if (kept) frame.outputs[other.slot] = outputsOf(kept)
    }
    if (depth < steps.length - 1) {
      try {
        inner = iterationOf(node, frame, iterations[depth] ?? 0)
      } catch (error) {
        if (!(error instanceof BlockError)) throw error
        return { kind: 'failed', node, error: { code: error.code, message: error.message } }
      }
    }
  }
  const { node } = steps.at(-1) as PlanStep
  const end = await attempt({ run, frame: frame as Frame, halt: run.halt, spans: root.children, node, walk })
  if (end.kind === 'failed') return { kind: 'failed', node, error: end.error }
  return end.kind === 'ended' ? { kind: 'completed', output: end.outputs } : { kind: 'stopped' }
}

/** One pass of a container, without the passes before it. */
function iterationOf({ body }: PlanNode, frame: Frame, index: number): Iteration {
  const { loopType, forEachItems, parallelType, distribution } = body?.settings(frame) ?? {}
  const list = loopType === 'forEach' ? forEachItems : parallelType === 'collection' ? distribution : undefined
  const items = itemsOf(list) ?? null
  return { index, currentItem: items ? items[index] : index, items }
}
