import type { Span } from '../domain/log.ts'
import { bodyTypes } from '../domain/trace.ts'
import type { Attempt } from './attempt.ts'
import type { Outputs } from './block.ts'
import { BlockAttempt } from './block-attempt.ts'
import type { PlanNode } from './plan.ts'
import type { Run } from './run.ts'

/** The span of a block that did not run again: as it was, but now, and without what running it took. */
export function reusedSpan(run: Run, span: Span): Span {
  const now = run.powers.clock.now()
  const ids = new Map<Span, string>()
  // Ids tell the order in which blocks ran, wherever they stand.
  for (const each of spansInOrder(span)) ids.set(each, run.nextSpanId())
  const copy = ({ usage: _usage, ...each }: Span, of: Span): Span => ({
    ...each,
    id: ids.get(of) as string,
    startTime: now,
    endTime: now,
    durationMs: 0,
    attempts: null,
    reused: true,
    children: each.children.map((child) => copy(child, child)),
  })
  return copy(span, span)
}

/** Does again what blocks did to the run itself, in the order in which they did. */
export function restoreVariables(start: Attempt, span: Span): void {
  const { node } = start
  if (!node.body) {
    node.definition.restore?.((span.output ?? {}) as Outputs, new BlockAttempt(start, span))
    return
  }
  const inner = new Map<string, PlanNode>(innerNodes(node).map((each) => [each.id, each]))
  for (const each of spansInOrder(span, (above) => above.type !== 'workflow' && mayHold(above))) {
    const found = each.status === 'success' && each.blockId !== null ? inner.get(each.blockId) : undefined
    if (!found || found.body || found.type !== each.type) continue
    found.definition.restore?.((each.output ?? {}) as Outputs, new BlockAttempt({ ...start, node: found }, each))
  }
}

function innerNodes({ body }: PlanNode): PlanNode[] {
  return body?.scope.nodes.flatMap((node) => [node, ...innerNodes(node)]) ?? []
}

/** Whether blocks of the same run stand below a span. */
function mayHold({ type }: Span): boolean {
  return type === 'iteration' || bodyTypes.has(type)
}

/** A span and those below it, in the order in which they were opened. */
function spansInOrder(root: Span, goesInto: (span: Span) => boolean = () => true): Span[] {
  const found: Span[] = []
  const visit = (span: Span) => {
    found.push(span)
    if (goesInto(span)) for (const child of span.children) visit(child)
  }
  visit(root)
  return found.sort((a, b) => spanNumber(a) - spanNumber(b))
}

/** `s12` is the twelfth span of its run. */
export function spanNumber({ id }: Span): number {
  return Number(id.slice(1))
}
