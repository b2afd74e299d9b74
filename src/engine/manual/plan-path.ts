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
  const sources = new Map<number, number[]>()
  for (const { slot, outgoing } of scope.nodes) {
    for (const { target } of outgoing) {
      const known = sources.get(target)
      if (known) known.push(slot)
      else sources.set(target, [slot])
    }
  }
  const before = new Set<number>()
  const open = [node.slot]
  for (let slot = open.pop(); slot !== undefined; slot = open.pop()) {
    for (const source of sources.get(slot) ?? []) {
      if (before.has(source)) continue
      before.add(source)
      open.push(source)
    }
  }
  return before
}

/** The ids of a block and of all blocks inside it. */
export function idsInside({ id, body }: PlanNode): string[] {
  return [id, ...(body?.scope.nodes.flatMap(idsInside) ?? [])]
}
