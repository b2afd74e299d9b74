import type { Limits } from '../../domain/limits.ts'
import type { WorkflowDocument } from '../../domain/workflow/workflow.ts'
import type { GraphNode, GraphScope } from './graph.ts'
import type { Report } from './report.ts'

/** Puts each block into the root or into the body of its container, and assigns its slot there. */
export function placeInScopes(
  document: WorkflowDocument,
  nodes: Map<string, GraphNode>,
  root: GraphScope,
  limits: Limits,
  report: Report,
) {
  const parents = parentsOf(document, nodes, report)
  for (const node of nodes.values()) {
    if (node.definition.kind === 'container') node.body = { container: node, parent: root, depth: 1, nodes: [] }
  }
  const depths = depthsOf(nodes.keys(), parents)
  for (const node of nodes.values()) {
    const depth = depths.get(node.id) ?? 0
    if (depth === Number.POSITIVE_INFINITY) {
      report.add(
        'error',
        'CONTAINER_CYCLE',
        `blocks.${node.id}.parentId`,
        node.block,
        'The block is inside itself, because its containers form a cycle.',
      )
    }
    // Blocks far beyond the limit go to the root, so that no walk from a block to the root takes more steps than that.
    const body = depth > limits.nestingMax + 1 ? undefined : nodes.get(parents.get(node.id) ?? '')?.body
    if (body && node.definition.kind === 'trigger') {
      report.add(
        'error',
        'TRIGGER_IN_CONTAINER',
        `blocks.${node.id}.parentId`,
        node.block,
        'A trigger cannot be inside a loop or parallel.',
      )
    }
    node.scope = body ?? root
    if (node.body) {
      node.body.parent = node.scope
      node.body.depth = body ? depth + 1 : 1
      if (depth >= limits.nestingMax && depth !== Number.POSITIVE_INFINITY) {
        report.add(
          'error',
          'NESTED_TOO_DEEP',
          `blocks.${node.id}`,
          node.block,
          `Loops and parallels nest at most ${limits.nestingMax} deep here (MILLRACE_NESTING_MAX).`,
        )
      }
    }
  }
  for (const node of nodes.values()) node.slot = node.scope.nodes.push(node) - 1
}

/** A block's `parentId` or its container's `nodes` define the membership. If both are given, they must agree. */
function parentsOf(document: WorkflowDocument, nodes: Map<string, GraphNode>, report: Report): Map<string, string> {
  const parents = new Map<string, string>()
  for (const node of nodes.values()) {
    const { parentId } = node.block
    if (!parentId) continue
    if (nodes.get(parentId)?.definition.kind === 'container') parents.set(node.id, parentId)
    else
      report.add(
        'error',
        'UNKNOWN_CONTAINER',
        `blocks.${node.id}.parentId`,
        node.block,
        `The block's parentId "${parentId}" is not a loop or parallel of this workflow.`,
      )
  }
  for (const [kind, entries] of [
    ['loop', document.loops ?? {}],
    ['parallel', document.parallels ?? {}],
  ] as const) {
    for (const [containerId, entry] of Object.entries(entries)) {
      const container = nodes.get(containerId)
      const path = `${kind}s.${containerId}`
      if (container?.block.type !== kind) {
        report.add(
          'error',
          'UNKNOWN_CONTAINER',
          path,
          container?.block ?? null,
          `There is no ${kind} block with the id "${containerId}".`,
        )
        continue
      }
      for (const id of entry.nodes ?? []) {
        const inner = nodes.get(id)
        const said = parents.get(id)
        if (!inner) {
          if (!Object.hasOwn(document.blocks, id))
            report.add(
              'error',
              'UNKNOWN_BLOCK',
              `${path}.nodes`,
              container.block,
              `There is no block with the id "${id}".`,
            )
        } else if (said !== undefined && said !== containerId) {
          report.add(
            'error',
            'TWO_CONTAINERS',
            `${path}.nodes`,
            inner.block,
            `The block belongs to "${said}" and to "${containerId}". It can be in only one of them.`,
          )
        } else parents.set(id, containerId)
      }
    }
  }
  return parents
}

/** The number of containers around each block; infinite when they form a cycle. Visits each block once. */
function depthsOf(ids: Iterable<string>, parents: ReadonlyMap<string, string>): Map<string, number> {
  const depths = new Map<string, number>()
  for (const id of ids) {
    const chain: string[] = []
    let at: string | undefined = id
    for (; at !== undefined && !depths.has(at); at = parents.get(at)) {
      // If the walk returns to a block of its own chain, it finds this value, which stands for a cycle.
      depths.set(at, Number.POSITIVE_INFINITY)
      chain.push(at)
    }
    let depth = at === undefined ? -1 : (depths.get(at) as number)
    for (const each of chain.reverse()) {
      depth += 1
      depths.set(each, depth)
    }
  }
  return depths
}
