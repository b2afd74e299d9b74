import { withContainer } from './containers.ts'
import {
  type Block,
  childrenOf,
  containerHandles,
  type Document,
  type Edge,
  handleOf,
  isContainer,
  isTrigger,
  type Params,
  portsOf,
} from './document.ts'

type ProposedEdge = { source: string; target: string; sourceHandle?: string | null | undefined }

/** Why two blocks cannot be connected, as text for people; undefined when they can. */
export function connectionError(
  document: Document,
  { source, target, sourceHandle }: ProposedEdge,
): string | undefined {
  const [from, to] = [document.blocks[source], document.blocks[target]]
  if (!from || !to) return 'One of the blocks no longer exists.'
  if (source === target) return 'A block cannot connect to itself. Use a loop block instead.'
  if (isTrigger(to)) return 'A trigger starts a run and accepts no incoming connections.'
  const isInner = to.parentId === source
  if (!isInner && (from.parentId ?? null) !== (to.parentId ?? null)) {
    return 'A connection cannot cross the border of a loop or parallel block.'
  }
  const handle = handleOf(document, { source, target, sourceHandle: sourceHandle ?? null })
  if (!portsOf(from).some((port) => port.handle === handle))
    return `The block “${from.name}” has no output “${handle}”.`
  if (!isInner && (sourceHandle ?? '').endsWith('-start-source'))
    return 'This output connects only to blocks inside the container.'
  const isThere = document.edges.some(
    (edge) => edge.source === source && edge.target === target && handleOf(document, edge) === handle,
  )
  if (isThere) return 'These blocks are already connected.'
  if (!isInner && leadsTo(document, target, source))
    return 'This connection would create a cycle. Use a loop block instead.'
  return undefined
}

export function canConnect(document: Document, proposed: ProposedEdge): boolean {
  return connectionError(document, proposed) === undefined
}

export function connect(
  document: Document,
  {
    id,
    source,
    sourceHandle,
    target,
  }: Required<Pick<Edge, 'source' | 'target'>> & { id: string; sourceHandle: string },
): Document {
  if (!canConnect(document, { source, target, sourceHandle })) return document
  if (document.edges.some((edge) => edge.id === id)) return document
  const handle = handleOf(document, { source, target, sourceHandle })
  return {
    ...document,
    edges: [...document.edges, { id, source, target, sourceHandle: handle, targetHandle: 'target' }],
  }
}

/** Replaces a line by two: into the block and out of it, by its first output. Leaves the line if it cannot lead in. */
export function splice(
  document: Document,
  { id, onEdge, edgeId }: { id: string; onEdge: string; edgeId: string },
): Document {
  const line = document.edges.find((edge) => edge.id === onEdge)
  const block = document.blocks[id]
  if (!line || !block) return document
  const without = { ...document, edges: document.edges.filter((edge) => edge !== line) }
  const into = connect(without, {
    ...{ id: `${edgeId}a`, source: line.source, sourceHandle: handleOf(document, line), target: id },
  })
  if (into === without) return document
  const out = portsOf(block).find(({ kind }) => kind === 'source' || kind === 'branch')
  if (!out) return into
  return connect(into, { id: `${edgeId}b`, source: id, sourceHandle: out.handle, target: line.target })
}

/** Whether no line leads into a block or out of it. A trigger does not count: no line can lead into it. */
export function isLoose(document: Document, id: string): boolean {
  const block = document.blocks[id]
  return !!block && !isTrigger(block) && !document.edges.some(({ source, target }) => source === id || target === id)
}

/** The container whose inside a line is drawn in; null for the canvas itself. */
export function parentOfEdge(document: Document, { target }: Pick<Edge, 'target'>): string | null {
  return document.blocks[target]?.parentId ?? null
}

/**
 * Called after blocks were added to a container. If it was empty, connects its start to every added block without an
 * incoming edge, because a container without a first block cannot run.
 */
export function connectStart(document: Document, parentId: string, ids: readonly string[]): Document {
  const container = document.blocks[parentId]
  if (container?.type !== 'loop' && container?.type !== 'parallel') return document
  const added = new Set(ids)
  if (childrenOf(document, parentId).some(({ id }) => !added.has(id))) return document
  const { start } = containerHandles[container.type]
  const targets = new Set(document.edges.map(({ target }) => target))
  return ids
    .filter((id) => !targets.has(id))
    .reduce(
      (next, id) => connect(next, { id: `start-${id}`, source: parentId, sourceHandle: start, target: id }),
      document,
    )
}

/** Whether a path leads from one block to another. */
function leadsTo(document: Document, from: string, to: string): boolean {
  const bySource = Map.groupBy(document.edges, ({ source }) => source)
  const seen = new Set<string>()
  const next = [from]
  for (let at = next.pop(); at !== undefined; at = next.pop()) {
    if (at === to) return true
    if (seen.has(at)) continue
    seen.add(at)
    for (const { target } of bySource.get(at) ?? []) next.push(target)
  }
  return false
}

/** Removes edges without an output port, into a trigger, or across the border of a container. */
export function dropLooseEdges(document: Document): Document {
  const edges = document.edges.filter((edge) => {
    const [from, to] = [document.blocks[edge.source], document.blocks[edge.target]]
    if (!from || !to || isTrigger(to)) return false
    const isInner = to.parentId === edge.source
    // The edge led out of the container to a block that is now inside it.
    if (isInner && (edge.sourceHandle ?? '').endsWith('-end-source')) return false
    if (!isInner && (from.parentId ?? null) !== (to.parentId ?? null)) return false
    if (!isInner && isStart(edge.sourceHandle)) return false
    return portsOf(from).some(({ handle }) => handle === handleOf(document, edge))
  })
  return edges.length === document.edges.length ? document : { ...document, edges }
}

function isStart(handle: string | null | undefined): boolean {
  return Object.values(containerHandles).some(({ start }) => start === handle)
}

/** Connects the two neighbours of a block that is about to be removed. */
export function heal(document: Document, id: string): Document {
  const incoming = document.edges.filter(({ target }) => target === id)
  const outgoing = document.edges.filter((edge) => edge.source === id)
  const [before, after] = [incoming[0], outgoing[0]]
  if (!before || !after || incoming.length > 1 || outgoing.length > 1) return document
  if (!['source', 'loop-end-source', 'parallel-end-source'].includes(handleOf(document, after))) return document
  const without = { ...document, edges: document.edges.filter((edge) => edge !== before && edge !== after) }
  return connect(without, {
    id: before.id ?? `${before.source}-${after.target}`,
    source: before.source,
    sourceHandle: before.sourceHandle ?? 'source',
    target: after.target,
  })
}

/**
 * Changes the type of a block. Its ID, name, position and connections stay, so that references keep working.
 */
export function convert(
  document: Document,
  { id, type, params }: { id: string; type: string; params: Params },
): Document {
  const before = document.blocks[id]
  if (!before || before.type === type || isContainer(before)) return document
  const { origin: _, ...kept } = before
  const block: Block = { ...kept, type, params }
  if (isTrigger(block) && !mayStart(document, block)) return document
  const ports = portsOf(block)
  const edges = document.edges.map((edge) => {
    if (edge.source !== id || ports.some(({ handle }) => handle === handleOf(document, edge))) return edge
    const next = ports.find(({ kind }) => kind === 'source') ?? ports.find(({ kind }) => kind === 'branch')
    return next ? { ...edge, sourceHandle: next.handle } : edge
  })
  return dropLooseEdges(withContainer({ ...document, edges, blocks: { ...document.blocks, [id]: block } }, block))
}

/** Whether a block can become this trigger. A workflow has at most one trigger of each type. */
function mayStart({ blocks, edges }: Document, { id, type, parentId }: Block): boolean {
  const isFirst = !edges.some(({ target }) => target === id)
  return isFirst && !parentId && !Object.values(blocks).some((one) => one.type === type)
}
