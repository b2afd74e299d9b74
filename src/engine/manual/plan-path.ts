import type { Plan, PlanNode, PlanScope } from '../compile/plan.ts'
import type { PlanStep } from '../run/contracts.ts'

/** The paths to all blocks of a plan, by block id. */
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

/** The slots of the same scope that a run can reach from a block. */
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

/** The slots of the same scope from which a run can reach a block. */
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

/** The ids of a block and of all blocks inside it. */
export function idsInside({ id, body }: PlanNode): string[] {
  return [id, ...(body?.scope.nodes.flatMap(idsInside) ?? [])]
}
