import { type EditedDocument, type EditedEdge, edgeKey } from './change.ts'
import { own } from './same-value.ts'

/**
 * Makes a merged document valid: every container of a block exists, every connection has two ends on the same level,
 * and the `added` connections close no cycle. In time linear to the document.
 */
export function repair<Doc extends EditedDocument>(document: Doc, added: ReadonlySet<string>): Doc {
  const nested = withParents(document)
  const { blocks } = nested
  const ends = nested.edges.filter(({ source, target }) => own(blocks, source) && own(blocks, target))
  const edges = added.size === 0 ? ends : withoutCycles(ends, added, nested)
  const named = withOwnIds(edges)
  return named === edges && edges.length === nested.edges.length ? nested : { ...nested, edges: named }
}

/** Two people may have made connections with the same ID. */
function withOwnIds<Edge extends EditedEdge>(edges: Edge[]): Edge[] {
  const ids = new Set<string>()
  let isChanged = false
  const named = edges.map((edge) => {
    if (edge.id === undefined || !ids.has(edge.id)) {
      ids.add(edge.id ?? '')
      return edge
    }
    isChanged = true
    return { ...edge, id: edgeKey(edge) }
  })
  return isChanged ? named : edges
}

/** Moves blocks to the canvas whose container is missing, or is inside them. */
function withParents<Doc extends EditedDocument>(document: Doc): Doc {
  const { blocks } = document
  const outer = new Set<string>()
  const settled = new Set<string>()
  for (const [first, { parentId: outside }] of Object.entries(blocks)) {
    if (outside === undefined || outside === null) continue
    const way = new Set<string>()
    for (let id = first; !settled.has(id); ) {
      way.add(id)
      const parentId = own(blocks, id)?.parentId ?? null
      if (parentId === null) break
      const parent = own(blocks, parentId)
      const isContainer = parent?.type === 'loop' || parent?.type === 'parallel'
      if (!isContainer || way.has(parentId)) {
        outer.add(id)
        break
      }
      id = parentId
    }
    for (const id of way) settled.add(id)
  }
  if (outer.size === 0) return document
  const moved = [...outer].map((id) => {
    const { parentId: _, ...block } = blocks[id]!
    return [id, block] as const
  })
  return { ...document, blocks: { ...blocks, ...Object.fromEntries(moved) } }
}

/**
 * Drops the added connections inside every group of blocks that lead to one another. My connections alone form no
 * cycle, so each cycle contains an added one.
 */
function withoutCycles<Edge extends EditedEdge>(
  edges: readonly Edge[],
  added: ReadonlySet<string>,
  { blocks }: EditedDocument,
): Edge[] {
  const isInner = ({ source, target }: EditedEdge) => own(blocks, target)?.parentId === source
  const bySource = Map.groupBy(
    edges.filter((edge) => !isInner(edge)),
    ({ source }) => source,
  )
  const groups = groupsOf(Object.keys(blocks), (id) => (bySource.get(id) ?? []).map(({ target }) => target))
  return edges.filter(
    (edge) => isInner(edge) || !added.has(edgeKey(edge)) || groups.get(edge.source) !== groups.get(edge.target),
  )
}

/** The strongly connected group of each node: Tarjan's algorithm with a stack of its own, because paths may be long. */
function groupsOf(nodes: readonly string[], next: (node: string) => readonly string[]): Map<string, number> {
  const order = new Map<string, number>()
  const low = new Map<string, number>()
  const groups = new Map<string, number>()
  const open: string[] = []
  for (const first of nodes) {
    if (order.has(first)) continue
    const stack = [{ node: first, targets: next(first), at: 0 }]
    order.set(first, order.size)
    low.set(first, order.get(first)!)
    open.push(first)
    for (let frame = stack.at(-1); frame; frame = stack.at(-1)) {
      const target = frame.targets[frame.at]
      frame.at += 1
      if (target === undefined) {
        stack.pop()
        const outer = stack.at(-1)
        if (outer) low.set(outer.node, Math.min(low.get(outer.node)!, low.get(frame.node)!))
        if (low.get(frame.node) !== order.get(frame.node)) continue
        for (let node = open.pop(); node !== undefined; node = open.pop()) {
          groups.set(node, order.get(frame.node)!)
          if (node === frame.node) break
        }
      } else if (!order.has(target)) {
        order.set(target, order.size)
        low.set(target, order.get(target)!)
        open.push(target)
        stack.push({ node: target, targets: next(target), at: 0 })
      } else if (!groups.has(target)) {
        low.set(frame.node, Math.min(low.get(frame.node)!, order.get(target)!))
      }
    }
  }
  return groups
}
