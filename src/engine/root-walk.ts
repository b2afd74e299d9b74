import type { Span } from '../domain/log.ts'
import { Frame } from './frame.ts'
import type { PlanNode } from './plan.ts'
import type { Run } from './run.ts'
import { type ScopeEnd, walk } from './walk.ts'

/** Walks a run, or a sub-run, from its trigger. */
export function walkRoot(run: Run, trigger: PlanNode | undefined, root: Span): ScopeEnd | Promise<ScopeEnd> {
  const scope = run.plan.root
  const frame = new Frame(run, undefined, undefined, scope.nodes.length)
  return walk({ run, scope, frame, halt: run.halt, spans: root.children, trigger })
}
