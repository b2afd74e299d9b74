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
  for (const node of nodes.values()) {
    const chain = chainOf(node.id, parents)
    if (chain === undefined) {
      report.add(
        'error',
        'CONTAINER_CYCLE',
        `blocks.${node.id}.parentId`,
        node.block,
        'The block is inside itself, because its containers form a cycle.',
      )
    }
    const body = chain === undefined ? undefined : nodes.get(parents.get(node.id) ?? '')?.body
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
      node.body.depth = (chain?.length ?? 0) + 1
      if (node.body.depth > limits.nestingMax) {
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
          if (!(id in document.blocks))
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

/** The containers around a block, innermost first; undefined when they form a cycle. */
function chainOf(id: string, parents: Map<string, string>): string[] | undefined {
  const chain: string[] = []
  for (let parent = parents.get(id); parent !== undefined; parent = parents.get(parent)) {
    if (parent === id || chain.includes(parent)) return undefined
    chain.push(parent)
  }
  return chain
}
