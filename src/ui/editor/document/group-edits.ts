import { deepMap } from '../../../domain/edits/deep-map.ts'
import { around, containerPadding, type Sizes } from '../canvas/geometry.ts'
import {
  type Block,
  containerHandles,
  type Document,
  type Edge,
  freeName,
  handleOf,
  isTrigger,
  normaliseName,
  type Point,
  portsOf,
  positionOf,
  withInner,
} from './document.ts'
import type { Edit } from './edit.ts'
import { freshId } from './fresh-id.ts'
import { mapReferences } from './references.ts'

/** Selected blocks of one container that can be replaced by one block, or the reason why they cannot. */
export type Group =
  | {
      blocks: Block[]
      parentId: string | null
      /** The blocks that run first. */
      entries: string[]
      /** The outputs outside that lead in: every one leads to all entries. */
      sources: { source: string; sourceHandle: string }[]
      /** The blocks outside that run next. */
      targets: string[]
      /** The lines into the group and out of it. */
      crossing: Edge[]
    }
  | { reason: string }

/**
 * Checks that selected blocks can become one: they are in the same container, all of them start together, and all that
 * leave lead to the same blocks whatever happens inside.
 */
export function groupOf(document: Document, ids: Iterable<string>): Group {
  const chosen = new Set([...ids].filter((id) => document.blocks[id]))
  // The contents of a chosen container are part of it.
  const blocks = [...chosen]
    .map((id) => document.blocks[id]!)
    .filter((block) => !hasChosenParent(document, block, chosen))
  const [first] = blocks
  if (!first) return { reason: 'Select at least one block.' }
  const trigger = blocks.find(isTrigger)
  if (trigger) return { reason: `“${trigger.name}” is a trigger and must stay in this workflow.` }
  const parentId = first.parentId ?? null
  if (blocks.some((block) => (block.parentId ?? null) !== parentId))
    return { reason: 'Some of the selected blocks are inside a loop or parallel block, the others are not.' }
  const own = new Set(blocks.map(({ id }) => id))
  const incoming = document.edges.filter((edge) => own.has(edge.target) && !own.has(edge.source))
  const outgoing = document.edges.filter((edge) => own.has(edge.source) && !own.has(edge.target))
  const inside = document.edges.filter((edge) => own.has(edge.source) && own.has(edge.target))
  const led = new Set(inside.map(({ target }) => target))
  const heads = blocks.map(({ id }) => id).filter((id) => !led.has(id))
  const entries = incoming.length > 0 ? [...new Set(incoming.map(({ target }) => target))] : heads
  const portOf = (edge: Edge) => `${edge.source} ${handleOf(document, edge)}`
  const byEntry = Map.groupBy(incoming, ({ target }) => target)
  const sourceSets = entries.map((id) => setOf((byEntry.get(id) ?? []).map(portOf)))
  if (new Set(sourceSets).size > 1)
    return { reason: 'Different outputs lead to different blocks of the selection. Select blocks that start together.' }
  const sources = [...new Map(incoming.map((edge) => [portOf(edge), edge])).values()].map((edge) => ({
    source: edge.source,
    sourceHandle: handleOf(document, edge),
  }))
  const leaving = outgoing.find((edge) => isAlternative(document, edge))
  if (leaving) {
    const { name } = document.blocks[leaving.source]!
    return { reason: `A branch of “${name}” leaves the selection. Select the blocks that it leads to as well.` }
  }
  const targetSets = [...Map.groupBy(outgoing, ({ source }) => source).values()].map((edges) =>
    setOf(edges.map(({ target }) => target)),
  )
  if (new Set(targetSets).size > 1)
    return { reason: 'The selection leads to different blocks from different places. Select those blocks as well.' }
  const deadEnd = outgoing.length > 0 && deadEndOf(document, blocks, inside, setOfIds(outgoing))
  if (deadEnd)
    return {
      reason: `A branch of “${deadEnd.name}” ends inside the selection, so that the next blocks would always run.`,
    }
  return {
    ...{ blocks, parentId, entries, sources },
    targets: [...new Set(outgoing.map(({ target }) => target))],
    crossing: [...incoming, ...outgoing],
  }
}

function hasChosenParent(document: Document, block: Block, chosen: ReadonlySet<string>): boolean {
  let at: Block | undefined = block
  for (let depth = 0; at?.parentId && depth < 50; depth += 1) {
    if (chosen.has(at.parentId)) return true
    at = document.blocks[at.parentId]
  }
  return false
}

function setOf(names: readonly string[]): string {
  return JSON.stringify([...new Set(names)].toSorted())
}

function setOfIds(outgoing: readonly Edge[]): ReadonlySet<string> {
  return new Set(outgoing.map(({ source }) => source))
}

/** Whether a line is taken only sometimes when its block ran: a branch, or the way on an error. */
function isAlternative(document: Document, edge: Edge): boolean {
  const handle = handleOf(document, edge)
  const source = document.blocks[edge.source]!
  return portsOf(source).some((port) => port.handle === handle && (port.kind === 'branch' || port.kind === 'error'))
}

/** A block with a way that leads to none of the exits, although another way may lead there. */
function deadEndOf(
  document: Document,
  blocks: readonly Block[],
  inside: readonly Edge[],
  exits: ReadonlySet<string>,
): Block | undefined {
  const byTarget = Map.groupBy(inside, ({ target }) => target)
  /** Blocks from which a path leads to an exit. */
  const leading = new Set(exits)
  for (const id of leading) for (const { source } of byTarget.get(id) ?? []) leading.add(source)
  const bySource = Map.groupBy(inside, ({ source }) => source)
  return blocks.find((block) => {
    const own = bySource.get(block.id) ?? []
    return portsOf(block).some((port) => {
      const next = own.filter((edge) => handleOf(document, edge) === port.handle)
      const isWay = port.kind === 'branch' || (port.kind === 'error' && next.length > 0)
      return isWay && !next.some(({ target }) => leading.has(target))
    })
  })
}

/** The edits that put selected blocks into a new loop or parallel, with a warning; or why that is impossible. */
export function wrapEdits(
  document: Document,
  ids: Iterable<string>,
  type: 'loop' | 'parallel',
  label: string,
  sizes: Sizes,
): { edits: Edit[]; id: string; warning?: string } | { reason: string } {
  const group = groupOf(document, ids)
  if ('reason' in group) return group
  const answer = group.blocks.find(({ type: own }) => own === 'response')
  if (answer) return { reason: `“${answer.name}” ends the run and cannot be repeated.` }
  const id = freshId()
  const points = group.blocks.map(positionOf)
  const corner = { x: Math.min(...points.map(({ x }) => x)), y: Math.min(...points.map(({ y }) => y)) }
  const to: Record<string, Point> = {}
  for (const block of group.blocks) {
    const { x, y } = positionOf(block)
    to[block.id] = { x: x - corner.x + containerPadding.left, y: y - corner.y + containerPadding.top }
  }
  const size = around(group.blocks.map((block) => ({ at: to[block.id]!, size: sizes.get(block.id)! })))
  const name = freeName(document, label)
  const container: Block = {
    ...{ id, type, name, enabled: true, params: {} },
    position: { x: corner.x - 40, y: corner.y - containerPadding.top },
    ...(group.parentId === null ? {} : { parentId: group.parentId }),
  }
  const { start, end } = containerHandles[type]
  const right = Math.max(...group.blocks.map((block) => positionOf(block).x + (sizes.get(block.id)?.width ?? 0)))
  const grown = Math.max(0, container.position!.x + size.width - right)
  const outside = Object.values(document.blocks).filter(
    (block) => (block.parentId ?? null) === group.parentId && !to[block.id] && positionOf(block).x >= right,
  )
  const moves = Object.fromEntries(outside.map((block) => [block.id, shifted(positionOf(block), grown)]))
  const edits: Edit[] = [
    { kind: 'remove', edges: group.crossing.flatMap((edge) => edge.id ?? []) },
    ...(outside.length > 0 && grown > 0 ? [{ kind: 'move', to: moves } as const] : []),
    { kind: 'add', block: container, edgeId: freshId() },
    { kind: 'nest', parentId: id, to },
    ...group.entries.map(
      (target) => ({ kind: 'connect', id: freshId(), source: id, sourceHandle: start, target }) as const,
    ),
    ...group.sources.map((from) => ({ kind: 'connect', id: freshId(), ...from, target: id }) as const),
    ...group.targets.map(
      (target) => ({ kind: 'connect', id: freshId(), source: id, sourceHandle: end, target }) as const,
    ),
    ...outerItems(document, group, type),
  ]
  const warning = readersOutside(document, group.blocks, name)
  return { edits, id, ...(warning === undefined ? {} : { warning }) }
}

function shifted({ x, y }: Point, by: number): Point {
  return { x: x + Math.ceil(by / 10) * 10, y }
}

/** Inside a new loop, `<loop.…>` means the new one. References to the one around it get its name instead. */
function outerItems(
  document: Document,
  { blocks, parentId }: Exclude<Group, { reason: string }>,
  type: string,
): Edit[] {
  let outer = parentId === null ? undefined : document.blocks[parentId]
  while (outer && outer.type !== type) outer = outer.parentId ? document.blocks[outer.parentId] : undefined
  if (!outer) return []
  const name = normaliseName(outer.name)
  const rename = (text: string) =>
    mapReferences(text, (reference) => (reference.name === type ? `<${name}${reference.path}>` : undefined))
  const edits: Edit[] = []
  // Inner containers of the same kind have their own items.
  const visit = (block: Block) => {
    const params = deepMap(block.params ?? {}, rename)
    if (block.params && params !== block.params)
      edits.push({ kind: 'set', id: block.id, params: params as Record<string, unknown> })
    const settings = document.loops?.[block.id] ?? document.parallels?.[block.id]
    // The condition of a loop belongs to its own iterations.
    const { condition: _, ...outside } = { condition: undefined, ...settings }
    const read = block.type === type ? outside : settings
    const changed = read && deepMap(read, rename)
    if (changed !== read) edits.push({ kind: 'container', id: block.id, settings: changed as Record<string, unknown> })
    if (block.type === type) return
    for (const child of Object.values(document.blocks)) if (child.parentId === block.id) visit(child)
  }
  for (const block of blocks) visit(block)
  return edits
}

/** Outside a container, the outputs of the blocks inside are always null. */
function readersOutside(document: Document, blocks: readonly Block[], container: string): string | undefined {
  const inner = withInner(
    document,
    blocks.map(({ id }) => id),
  )
  const names = new Set([...inner].map((id) => normaliseName(document.blocks[id]!.name)))
  const reader = Object.values(document.blocks).find((block) => {
    if (inner.has(block.id)) return false
    let isFound = false
    deepMap([block.params, document.loops?.[block.id], document.parallels?.[block.id]], (text) =>
      mapReferences(text, ({ name }) => {
        isFound ||= names.has(name)
        return undefined
      }),
    )
    return isFound
  })
  return reader && `“${reader.name}” reads a block that is now repeated. Let it read the results of “${container}”.`
}
