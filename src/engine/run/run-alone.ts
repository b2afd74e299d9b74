import { itemsOf } from '../../domain/run/items.ts'
import type { Span } from '../../domain/run/log.ts'
import { BlockError, type Iteration, type Outputs } from '../block.ts'
import type { PlanNode } from '../compile/plan.ts'
import { BlockContextImpl } from './block-context.ts'
import type { PlanStep, RunOnly, ScopeEnd } from './contracts.ts'
import { Frame } from './frame.ts'
import type { Run } from './run.ts'
import { outputsOf } from './step-history.ts'
import { executeNode } from './walk.ts'

/** Runs one block alone, with the outputs that the blocks around it had in the previous run. */
export async function runAlone(run: Run, { steps, iterations, before }: RunOnly, root: Span): Promise<ScopeEnd> {
  const { cancellation } = run
  const first = new Frame(run, undefined, undefined, run.plan.root.nodes.length)
  for (const { node, span } of before) {
    const execution = { run, frame: first, cancellation, spans: [], node, body: undefined }
    node.definition.restore?.((span.output ?? {}) as Outputs, new BlockContextImpl(execution, span))
  }
  let frame: Frame | undefined
  let inner: Iteration | undefined
  for (const [depth, { scope, node }] of steps.entries()) {
    const place = iterations.slice(0, depth)
    frame = new Frame(run, frame, inner, scope.nodes.length)
    for (const other of scope.nodes) {
      const cached = other === node ? undefined : run.partial?.cached(other, place)
      if (cached) frame.outputs[other.slot] = outputsOf(cached)
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
  const end = await executeNode({ run, frame: frame as Frame, cancellation, spans: root.children }, node)
  if (end.kind === 'failed') return { kind: 'failed', node, error: end.error }
  return end.kind === 'ended' ? { kind: 'completed', output: end.outputs } : { kind: 'stopped' }
}

/** One iteration of a container, without those before it. */
function iterationOf({ body }: PlanNode, frame: Frame, index: number): Iteration {
  const { loopType, forEachItems, parallelType, distribution } = body?.settings(frame) ?? {}
  const list = loopType === 'forEach' ? forEachItems : parallelType === 'collection' ? distribution : undefined
  const items = itemsOf(list) ?? null
  return { index, currentItem: items ? items[index] : index, items }
}
