import type { Span } from '../../domain/run/log.ts'
import { bodyTypes } from '../../domain/run/trace.ts'
import type { Outputs } from '../block.ts'
import type { PlanNode } from '../compile/plan.ts'
import { BlockContextImpl, type BlockExecution } from './block-context.ts'
import type { Run } from './run.ts'
import { spanNumber } from './spans.ts'

/**
 * A copy of the span of a block that does not run again: at the present time, with no duration and no usage. `mark`:
 * where its outputs come from.
 */
export function cachedSpan(run: Run, span: Span, mark: Pick<Span, 'reused' | 'pinned'>): Span {
  const now = run.capabilities.clock.now()
  const ids = new Map<Span, string>()
  // The order of the ids must stay the order in which the blocks ran.
  for (const each of spansInOrder(span)) ids.set(each, run.nextSpanId())
  const copy = (
    { usage: _usage, pauses: _pauses, reused: _reused, pinned: _pinned, ...each }: Span,
    of: Span,
  ): Span => ({
    ...each,
    id: ids.get(of) as string,
    startTime: now,
    endTime: now,
    durationMs: 0,
    attempts: null,
    ...mark,
    children: each.children.map((child) => copy(child, child)),
  })
  return copy(span, span)
}

/** Repeats, in the original order, what the block and the blocks inside it changed in the run itself. */
export function restoreVariables(execution: BlockExecution, span: Span): void {
  const { node } = execution
  if (!node.body) {
    node.definition.restore?.((span.output ?? {}) as Outputs, new BlockContextImpl(execution, span), span.input)
    return
  }
  const inner = new Map<string, PlanNode>(innerNodes(node).map((each) => [each.id, each]))
  for (const each of spansInOrder(span, (above) => above.type !== 'workflow' && mayContainBlocks(above))) {
    const found = each.status === 'success' && each.blockId !== null ? inner.get(each.blockId) : undefined
    if (!found || found.body || found.type !== each.type) continue
    const context = new BlockContextImpl({ ...execution, node: found, body: undefined }, each)
    found.definition.restore?.((each.output ?? {}) as Outputs, context, each.input)
  }
}

function innerNodes({ body }: PlanNode): PlanNode[] {
  return body?.scope.nodes.flatMap((node) => [node, ...innerNodes(node)]) ?? []
}

/** Whether the span may have spans of blocks of the same run below it. */
function mayContainBlocks({ type }: Span): boolean {
  return type === 'iteration' || bodyTypes.has(type)
}

/** A span and its descendants, in the order in which they were opened. */
function spansInOrder(root: Span, descendsInto: (span: Span) => boolean = () => true): Span[] {
  const found: Span[] = []
  const visit = (span: Span) => {
    found.push(span)
    if (descendsInto(span)) for (const child of span.children) visit(child)
  }
  visit(root)
  return found.sort((a, b) => spanNumber(a) - spanNumber(b))
}
