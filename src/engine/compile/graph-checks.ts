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
      'The workflow has no trigger, so nothing can start it. Add an API trigger or another trigger.',
    )
  const seen = new Set<string>()
  for (const { id, block, definition } of triggers) {
    if (seen.has(block.type))
      report.add(
        'error',
        'DUPLICATE_TRIGGER',
        `blocks.${id}`,
        block,
        `The workflow has more than one block of the type ${definition.label}. Remove all but one.`,
      )
    seen.add(block.type)
  }
}

export function checkCycles(nodes: Map<string, GraphNode>, report: Report): void {
  const forwards = (node: GraphNode) => node.outgoing.map(({ target }) => target)
  const behind = peel(new Set(nodes.values()), forwards)
  if (behind.size === 0) return
  // Blocks behind a cycle are left too. Remove them from the end, so that the finding names only the cycle itself.
  const sources = new Map<GraphNode, GraphNode[]>(Array.from(behind, (node) => [node, []]))
  for (const node of behind) for (const { target } of node.outgoing) sources.get(target)?.push(node)
  const cycle = peel(behind, (node) => sources.get(node) ?? [])
  const [first] = cycle
  if (!first) return
  const names = [...cycle].slice(0, namesMax).map((node) => `"${node.block.name}"`)
  const more = cycle.size > namesMax ? ` and ${cycle.size - namesMax} more` : ''
  report.add(
    'error',
    'CYCLE',
    `blocks.${first.id}`,
    first.block,
    `These blocks form a cycle: ${names.join(', ')}${more}. To repeat blocks, put them into a loop.`,
  )
}

/** More names in a finding do not help the reader. */
export const namesMax = 20

/** The nodes that are left after repeatedly removing those to which no remaining node leads. Linear. */
function peel(nodes: ReadonlySet<GraphNode>, next: (node: GraphNode) => readonly GraphNode[]): Set<GraphNode> {
  const incoming = new Map<GraphNode, number>()
  for (const node of nodes) for (const target of next(node)) incoming.set(target, (incoming.get(target) ?? 0) + 1)
  const left = new Set(nodes)
  const ready = [...nodes].filter((node) => !incoming.has(node))
  for (let node = ready.pop(); node; node = ready.pop()) {
    left.delete(node)
    for (const target of next(node)) {
      const count = (incoming.get(target) ?? 0) - 1
      incoming.set(target, count)
      if (count === 0) ready.push(target)
    }
  }
  return left
}

export function checkReach(nodes: Map<string, GraphNode>, report: Report): void {
  const reached = reachOf([...nodes.values()].filter((node) => node.definition.kind === 'trigger'))
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

/** Finds `response` blocks that run only when the caller already has a response. */
export function checkResponses(nodes: Map<string, GraphNode>, report: Report): void {
  const triggers = [...nodes.values()].filter(
    ({ definition, block }) => definition.kind === 'trigger' && block.enabled !== false,
  )
  const atOnce = ({ definition, block }: GraphNode) => definition.respondsAtOnce?.(block.params ?? {}) === true
  const [early] = triggers.filter(atOnce)
  if (!early) return
  const late = reachOf(triggers.filter((node) => !atOnce(node)))
  for (const node of reachOf(triggers.filter(atOnce))) {
    const { id, block } = node
    if (block.type !== 'response' || block.enabled === false || late.has(node)) continue
    const message =
      `"${block.name}" sends no response, because "${early.block.name}" responds before the run. ` +
      `Set Respond of "${early.block.name}" to “With the response of the workflow”.`
    report.add('warning', 'UNSENT_RESPONSE', `blocks.${id}`, block, message)
  }
}

function reachOf(triggers: readonly GraphNode[]): ReadonlySet<GraphNode> {
  const reached = new Set<GraphNode>()
  const open = [...triggers]
  for (let node = open.pop(); node; node = open.pop()) {
    if (reached.has(node)) continue
    reached.add(node)
    for (const { target } of node.outgoing) open.push(target)
    for (const inner of node.body?.nodes ?? []) if (inner.isStart) open.push(inner)
  }
  return reached
}
