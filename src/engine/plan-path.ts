import type { Plan, PlanNode, PlanScope } from './plan.ts'

/** One step of the way from the root of a plan to a block: a container, and at last the block itself. */
export type PlanStep = { scope: PlanScope; node: PlanNode }

/** The ways to all blocks of a plan, by id. */
export function pathsOf({ root }: Plan): Map<string, readonly PlanStep[]> {
  const paths = new Map<string, readonly PlanStep[]>()
  const visit = (scope: PlanScope, above: readonly PlanStep[]) => {
    for (const node of scope.nodes) {
      const path = [...above, { scope, node }]
      paths.set(node.id, path)
      if (node.body) visit(node.body.scope, path)
    }
  }
  visit(root, [])
  return paths
}

/** The slots that a run can come to behind a block. */
export function slotsAfter({ scope, node }: PlanStep): Set<number> {
  const after = new Set<number>()
  const open = [node]
  for (let current = open.pop(); current; current = open.pop()) {
    for (const { target } of current.outgoing) {
      if (after.has(target)) continue
      after.add(target)
      open.push(scope.nodes[target] as PlanNode)
    }
  }
  return after
}

/** The slots that a run can come to a block from. */
export function slotsBefore({ scope, node }: PlanStep): Set<number> {
  const before = new Set<number>()
  const isBefore = (target: number) => target === node.slot || before.has(target)
  for (let grown = true; grown; ) {
    grown = false
    for (const { slot, outgoing } of scope.nodes) {
      if (before.has(slot) || !outgoing.some(({ target }) => isBefore(target))) continue
      before.add(slot)
      grown = true
    }
  }
  return before
}

/** The ids of a block and of all that are inside of it. */
export function idsInside({ id, body }: PlanNode): string[] {
  return [id, ...(body?.scope.nodes.flatMap(idsInside) ?? [])]
}
