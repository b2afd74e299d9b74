import { around, containerPadding, type Size, type Sizes, sizesOf, snap } from '../canvas/geometry.ts'
import {
  type Block,
  childrenByParent,
  childrenOf,
  type Document,
  handleOf,
  isContainer,
  isTrigger,
  type Point,
  portsOf,
  positionOf,
} from './document.ts'

const columnGap = 90
const rowGap = 40

/**
 * Positions for all blocks, from left to right in execution order. Each block is to the right of its predecessors, in
 * the order of their output ports and vertically as close to them as possible. The contents of a container are laid out
 * first.
 */
export function autoLayout(document: Document, measured: Sizes = new Map()): Record<string, Point> {
  const sizes = new Map(sizesOf(document, measured))
  const places: Record<string, Point> = {}
  const children = childrenByParent(document)
  const layOut = (parentId: string | null, depth: number): void => {
    const blocks = children.get(parentId) ?? []
    for (const block of blocks) {
      if (!isContainer(block) || depth > 20) continue
      layOut(block.id, depth + 1)
      const inner = (children.get(block.id) ?? []).map(({ id }) => ({ at: places[id]!, size: sizes.get(id)! }))
      sizes.set(block.id, around(inner))
    }
    const origin = parentId === null ? originOf(blocks) : { x: containerPadding.left, y: containerPadding.top }
    Object.assign(places, arrange(document, blocks, sizes, origin))
  }
  layOut(null, 0)
  return places
}

/**
 * Gives every block a position. The service stores 0 for blocks created by a program, so they would all overlap. Blocks
 * with a position stay; the others are placed below them, in execution order.
 */
export function placeBlocks(document: Document): Document {
  if (Object.values(document.blocks).filter(isAtZero).length < 2) return document
  let next = document
  const place = (parentId: string | null, depth: number): void => {
    for (const block of childrenOf(next, parentId)) if (isContainer(block) && depth <= 20) place(block.id, depth + 1)
    const blocks = childrenOf(next, parentId)
    const unplaced = blocks.filter(isAtZero)
    // A single block at 0 is fine on the canvas, but inside a container it would cover the title.
    if (unplaced.length === 0 || (parentId === null && unplaced.length === 1)) return
    const sizes = sizesOf(next)
    const bottoms = blocks.flatMap((block) =>
      isAtZero(block) ? [] : [snap(positionOf(block).y + sizes.get(block.id)!.height + rowGap)],
    )
    const corner = parentId === null ? { x: 0, y: 0 } : { x: containerPadding.left, y: containerPadding.top }
    const places = arrange(next, unplaced, sizes, { x: corner.x, y: Math.max(corner.y, ...bottoms) })
    const placed = unplaced.map((block) => [block.id, { ...block, position: places[block.id]! }] as const)
    next = { ...next, blocks: { ...next.blocks, ...Object.fromEntries(placed) } }
  }
  place(null, 0)
  return next
}

function isAtZero(block: Block): boolean {
  const { x, y } = positionOf(block)
  return x === 0 && y === 0
}

/** The current top left corner, so that the layout stays in place. */
function originOf(blocks: readonly Block[]): Point {
  const points = blocks.map(positionOf)
  return { x: snap(Math.min(...points.map(({ x }) => x), 0)), y: snap(Math.min(...points.map(({ y }) => y), 0)) }
}

/** An edge between two blocks of the layout. `rank`: its output port, from above -0.5 (first) to below 0.5 (last). */
type Link = { source: string; target: string; rank: number }

function arrange(document: Document, blocks: readonly Block[], sizes: Sizes, origin: Point): Record<string, Point> {
  const ids = new Set(blocks.map(({ id }) => id))
  const links = document.edges.flatMap((edge): Link[] => {
    if (!ids.has(edge.source) || !ids.has(edge.target)) return []
    const ports = portsOf(document.blocks[edge.source]!)
    const at = ports.findIndex(({ handle }) => handle === handleOf(document, edge))
    return [{ source: edge.source, target: edge.target, rank: (at + 0.5) / Math.max(ports.length, 1) - 0.5 }]
  })
  const columns = columnsOf(blocks, links)
  order(columns, links)
  const tops = new Map<string, number>()
  const places: Record<string, Point> = {}
  let left = origin.x
  for (const column of columns) {
    placeColumn(column, links, sizes, tops)
    for (const id of column) places[id] = { x: left, y: tops.get(id)! }
    left += Math.max(...column.map((id) => sizes.get(id)!.width)) + columnGap
  }
  const top = Math.min(...tops.values())
  for (const point of Object.values(places)) point.y = snap(point.y - top + origin.y)
  return places
}

/** Puts each block one column to the right of its farthest predecessor. Triggers come first. */
function columnsOf(blocks: readonly Block[], links: readonly Link[]): string[][] {
  const depth = new Map<string, number>()
  const depthOf = (id: string, path: ReadonlySet<string>): number => {
    const known = depth.get(id)
    if (known !== undefined) return known
    if (path.has(id)) return 0
    const before = links.filter(({ target }) => target === id)
    const at = Math.max(-1, ...before.map(({ source }) => depthOf(source, new Set(path).add(id)))) + 1
    depth.set(id, at)
    return at
  }
  const columns: string[][] = []
  const sorted = blocks.toSorted(
    (a, b) => Number(isTrigger(b)) - Number(isTrigger(a)) || positionOf(a).y - positionOf(b).y,
  )
  for (const { id } of sorted) {
    const at = depthOf(id, new Set())
    while (columns.length <= at) columns.push([])
    columns[at]!.push(id)
  }
  return columns
}

/** Orders each column by its predecessors, then by its successors, a few times. */
function order(columns: string[][], links: readonly Link[]): void {
  for (let sweep = 0; sweep < 4; sweep += 1) {
    const forward = sweep % 2 === 0
    for (const column of forward ? columns : columns.toReversed()) {
      const rows = new Map(columns.flatMap((ids) => ids.map((id, row) => [id, row] as const)))
      /** The average row of the neighbours in the direction of the sweep. */
      const pull = (id: string) => {
        const near = links.filter(({ source, target }) => (forward ? target : source) === id)
        if (near.length === 0) return rows.get(id)!
        const sum = near.reduce(
          (total, { source, target, rank }) => total + rows.get(forward ? source : target)! + rank * 0.9,
          0,
        )
        return sum / near.length
      }
      const pulls = new Map(column.map((id) => [id, pull(id)]))
      column.sort((a, b) => pulls.get(a)! - pulls.get(b)!)
    }
  }
}

/** Centres each block vertically on its predecessors, and moves blocks apart where they would overlap. */
function placeColumn(column: readonly string[], links: readonly Link[], sizes: Sizes, tops: Map<string, number>): void {
  const wanted = column.map((id) => {
    const from = links.filter(({ source, target }) => target === id && tops.has(source))
    if (from.length === 0) return undefined
    const middles = from.map(({ source }) => tops.get(source)! + sizes.get(source)!.height / 2)
    const isBranch = from.length === 1 && hasSeveralTargets(links, from[0]!.source)
    const spread = isBranch ? from[0]!.rank * (sizes.get(id)!.height + rowGap) : 0
    return middles.reduce((sum, middle) => sum + middle, 0) / middles.length - sizes.get(id)!.height / 2 + spread
  })
  let bottom = Number.NEGATIVE_INFINITY
  const pushed: number[] = []
  for (const [at, id] of column.entries()) {
    const size: Size = sizes.get(id)!
    const top = Math.max(wanted[at] ?? (bottom === Number.NEGATIVE_INFINITY ? 0 : bottom), bottom)
    pushed.push(top)
    bottom = top + size.height + rowGap
  }
  // Blocks are only pushed down, so the whole column then moves up by the average.
  const shifts = pushed.flatMap((top, at) => (wanted[at] === undefined ? [] : [top - wanted[at]!]))
  const shift = shifts.length === 0 ? 0 : shifts.reduce((sum, each) => sum + each, 0) / shifts.length
  for (const [at, id] of column.entries()) tops.set(id, pushed[at]! - shift)
}

function hasSeveralTargets(links: readonly Link[], source: string): boolean {
  return new Set(links.filter((link) => link.source === source).map(({ target }) => target)).size > 1
}
