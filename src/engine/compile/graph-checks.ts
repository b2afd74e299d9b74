import type { GraphNode } from './graph.ts'
import type { Report } from './report.ts'

export function checkBody(node: GraphNode, report: Report): void {
  const path = `blocks.${node.id}`
  if (!node.body?.nodes.length) {
    report.add('error', 'EMPTY_CONTAINER', path, node.block, `The ${node.block.type} has no blocks inside.`)
  } else if (!node.body.nodes.some((inner) => inner.isStart)) {
    report.add(
      'error',
      'CONTAINER_WITHOUT_START',
      path,
      node.block,
      `The ${node.block.type} has no first block: connect its Start with the first block inside it.`,
    )
  }
}

export function checkTriggers(nodes: Map<string, GraphNode>, report: Report): void {
  const triggers = [...nodes.values()].filter((node) => node.definition.kind === 'trigger')
  if (triggers.length === 0)
    report.add(
      'error',
      'NO_TRIGGER',
      'blocks',
      null,
      'The workflow has no trigger, so nothing can start it. Add an api_trigger or another trigger.',
    )
  const seen = new Set<string>()
  for (const { id, block } of triggers) {
    if (seen.has(block.type))
      report.add(
        'error',
        'DUPLICATE_TRIGGER',
        `blocks.${id}`,
        block,
        `The workflow has more than one trigger of the type ${block.type}. Remove all but one.`,
      )
    seen.add(block.type)
  }
}

export function checkCycles(nodes: Map<string, GraphNode>, report: Report): void {
  const left = new Map([...nodes.values()].map((node) => [node, node.incoming]))
  const ready = [...nodes.values()].filter((node) => node.incoming === 0)
  for (let node = ready.pop(); node; node = ready.pop()) {
    left.delete(node)
    for (const { target } of node.outgoing) {
      const count = (left.get(target) ?? 0) - 1
      left.set(target, count)
      if (count === 0) ready.push(target)
    }
  }
  // Blocks after a cycle are left too. Remove them from the end, so that the finding names only the cycle itself.
  for (let peeled = true; peeled; ) {
    peeled = false
    for (const node of left.keys()) {
      if (!node.outgoing.some(({ target }) => left.has(target))) peeled = left.delete(node)
    }
  }
  const [first] = left.keys()
  if (!first) return
  const names = [...left.keys()].map((node) => `"${node.block.name}"`).join(', ')
  report.add(
    'error',
    'CYCLE',
    `blocks.${first.id}`,
    first.block,
    `These blocks form a cycle: ${names}. To repeat blocks, put them into a loop.`,
  )
}

export function checkReach(nodes: Map<string, GraphNode>, report: Report): void {
  const reached = new Set<GraphNode>()
  const open = [...nodes.values()].filter((node) => node.definition.kind === 'trigger')
  for (let node = open.pop(); node; node = open.pop()) {
    if (reached.has(node)) continue
    reached.add(node)
    open.push(...node.outgoing.map(({ target }) => target))
    if (node.body) open.push(...node.body.nodes.filter((inner) => inner.isStart))
  }
  for (const node of nodes.values()) {
    if (!reached.has(node))
      report.add(
        'warning',
        'UNREACHABLE',
        `blocks.${node.id}`,
        node.block,
        `No trigger leads to "${node.block.name}": it never runs.`,
      )
  }
}
