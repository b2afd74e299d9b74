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
  withInner,
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
 * Positions for some blocks, and for the contents of the containers among them. The blocks of each container keep their
 * top left corner.
 */
export function tidyBlocks(document: Document, ids: readonly string[], measured: Sizes): Record<string, Point> {
  const whole = autoLayout(document, measured)
  const chosen = ids.flatMap((id) => document.blocks[id] ?? [])
  const inner = withInner(document, ids)
  const places: Record<string, Point> = {}
  const own = new Set(ids)
  for (const id of inner) if (!own.has(id) && whole[id]) places[id] = whole[id]
  const settled = { ...document, blocks: { ...document.blocks } }
  for (const [id, position] of Object.entries(places)) settled.blocks[id] = { ...settled.blocks[id]!, position }
  const sizes = sizesOf(settled, measured)
  for (const blocks of Map.groupBy(chosen, ({ parentId }) => parentId ?? null).values()) {
    const points = blocks.map(positionOf)
    const corner = { x: Math.min(...points.map(({ x }) => x)), y: Math.min(...points.map(({ y }) => y)) }
    Object.assign(places, arrange(document, blocks, sizes, corner))
  }
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
type Links = { bySource: ReadonlyMap<string, readonly Link[]>; byTarget: ReadonlyMap<string, readonly Link[]> }

function arrange(document: Document, blocks: readonly Block[], sizes: Sizes, origin: Point): Record<string, Point> {
  const ids = new Set(blocks.map(({ id }) => id))
  const list = document.edges.flatMap((edge): Link[] => {
    if (!ids.has(edge.source) || !ids.has(edge.target)) return []
    const ports = portsOf(document.blocks[edge.source]!)
    const at = ports.findIndex(({ handle }) => handle === handleOf(document, edge))
    return [{ source: edge.source, target: edge.target, rank: (at + 0.5) / Math.max(ports.length, 1) - 0.5 }]
  })
  const links = {
    bySource: Map.groupBy(list, ({ source }) => source),
    byTarget: Map.groupBy(list, ({ target }) => target),
  }
  const columns = columnsOf(blocks, links)
  order(columns, links)
  const tops = new Map<string, number>()
  for (const column of columns) placeColumn(column, links, sizes, tops)
  const places: Record<string, Point> = {}
  let top = origin.y
  for (const row of rowsOf(columns, sizes, tops)) {
    const shift = top - Math.min(...row.flat().map((id) => tops.get(id)!))
    let left = origin.x
    for (const column of row) {
      for (const id of column) places[id] = { x: left, y: snap(tops.get(id)! + shift) }
      left += widthOf(column, sizes)
    }
    top = Math.max(...row.flat().map((id) => places[id]!.y + sizes.get(id)!.height)) + betweenRows
  }
  return places
}

function widthOf(column: readonly string[], sizes: Sizes): number {
  return Math.max(...column.map((id) => sizes.get(id)!.width)) + columnGap
}

/**
 * Breaks a long strip into rows, like a text, so that all of it can be seen at once. A workflow that fits on a few
 * screens stays one row.
 */
function rowsOf(columns: readonly string[][], sizes: Sizes, tops: ReadonlyMap<string, number>): string[][][] {
  const widths = columns.map((column) => widthOf(column, sizes))
  const width = widths.reduce((sum, each) => sum + each, 0)
  const ends = columns.flat().map((id) => tops.get(id)! + sizes.get(id)!.height)
  const height = Math.max(...ends) - Math.min(...tops.values()) + betweenRows
  if (width < longFrom || width < height * 3) return columns.length > 0 ? [columns.slice()] : []
  const rowWidth = Math.max(longFrom / 2, Math.sqrt(width * height * screenRatio))
  const rows: string[][][] = [[]]
  let left = 0
  for (const [at, column] of columns.entries()) {
    if (left > 0 && left + widths[at]! > rowWidth) {
      rows.push([])
      left = 0
    }
    rows.at(-1)!.push(column)
    left += widths[at]!
  }
  return rows
}

const longFrom = 6_000
const screenRatio = 1.7
/** Leaves space for the lines between the rows. */
const betweenRows = 90

/** Puts each block one column to the right of its farthest predecessor. Triggers come first. */
function columnsOf(blocks: readonly Block[], { bySource, byTarget }: Links): string[][] {
  const depth = new Map(blocks.map(({ id }) => [id, 0]))
  const waiting = new Map(blocks.map(({ id }) => [id, byTarget.get(id)?.length ?? 0]))
  const ready = blocks.flatMap(({ id }) => (waiting.get(id) === 0 ? [id] : []))
  // Grows while it is read. Blocks of a cycle, which is invalid, stay in the first column.
  for (const id of ready) {
    for (const { target } of bySource.get(id) ?? []) {
      depth.set(target, Math.max(depth.get(target)!, depth.get(id)! + 1))
      const left = waiting.get(target)! - 1
      waiting.set(target, left)
      if (left === 0) ready.push(target)
    }
  }
  const columns: string[][] = []
  const sorted = blocks.toSorted(
    (a, b) => Number(isTrigger(b)) - Number(isTrigger(a)) || positionOf(a).y - positionOf(b).y,
  )
  for (const { id } of sorted) {
    const at = depth.get(id)!
    while (columns.length <= at) columns.push([])
    columns[at]!.push(id)
  }
  return columns.filter((column) => column.length > 0)
}

/** Orders each column by its predecessors, then by its successors, a few times. */
function order(columns: string[][], { bySource, byTarget }: Links): void {
  const rows = new Map(columns.flatMap((ids) => ids.map((id, row) => [id, row] as const)))
  for (let sweep = 0; sweep < 4; sweep += 1) {
    const forward = sweep % 2 === 0
    for (const column of forward ? columns : columns.toReversed()) {
      /** The average row of the neighbours in the direction of the sweep. */
      const pull = (id: string) => {
        const near = (forward ? byTarget : bySource).get(id) ?? []
        if (near.length === 0) return rows.get(id)!
        const sum = near.reduce(
          (total, { source, target, rank }) => total + rows.get(forward ? source : target)! + rank * 0.9,
          0,
        )
        return sum / near.length
      }
      const pulls = new Map(column.map((id) => [id, pull(id)]))
      column.sort((a, b) => pulls.get(a)! - pulls.get(b)!)
      for (const [row, id] of column.entries()) rows.set(id, row)
    }
  }
}

/** Centres each block vertically on its predecessors, and moves blocks apart where they would overlap. */
function placeColumn(column: readonly string[], links: Links, sizes: Sizes, tops: Map<string, number>): void {
  const wanted = column.map((id) => {
    const from = (links.byTarget.get(id) ?? []).filter(({ source }) => tops.has(source))
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

function hasSeveralTargets({ bySource }: Links, source: string): boolean {
  return new Set(bySource.get(source)?.map(({ target }) => target)).size > 1
}
