import type { PlanNode, PlanScope } from '../../compile/plan.ts'

/** The slots of the blocks that only this handle leads to, directly or through other such blocks. */
export function slotsBehind(scope: PlanScope, node: PlanNode, port: string): ReadonlySet<number> {
  const slots = reachable(scope, targetsOf(node, port))
  const within = edgesWithin(scope, { node, port, slots })
  const starts = new Set([...scope.joinedStarts, ...scope.entries.map(({ slot }) => slot)])
  const others = [...slots].filter((slot) => starts.has(slot) || within[slot] !== scope.incoming[slot])
  for (const slot of reachable(scope, others)) slots.delete(slot)
  return slots
}

/** For each slot, the number of incoming edges that come from the given blocks or from the handle. */
export function edgesWithin(
  { nodes }: PlanScope,
  { node, port, slots }: { node: PlanNode; port: string; slots: ReadonlySet<number> },
): number[] {
  const counts = new Array<number>(nodes.length).fill(0)
  const targets = [...slots].flatMap((slot) => nodes[slot]?.outgoing.map(({ target }) => target) ?? [])
  for (const target of [...targetsOf(node, port), ...targets]) counts[target] = (counts[target] ?? 0) + 1
  return counts
}

function targetsOf({ outgoing }: PlanNode, port: string): number[] {
  return outgoing.flatMap((edge) => (edge.port === port ? [edge.target] : []))
}

/** The given slots and all that follow them. */
function reachable({ nodes }: PlanScope, from: readonly number[]): Set<number> {
  const found = new Set(from)
  // The set grows while this loop reads it.
  for (const slot of found) for (const { target } of nodes[slot]?.outgoing ?? []) found.add(target)
  return found
}
