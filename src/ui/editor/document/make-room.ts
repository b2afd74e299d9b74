import { cardWidth, clampInside, containerPadding, freePlace, type Size, type Sizes, snap } from '../canvas/geometry.ts'
import { childrenOf, type Document, type Point, positionOf } from './document.ts'
import { parentOfEdge } from './wiring.ts'

/** Where a block goes that is put into a line, and where the blocks behind the line move to. */
export type LinePlace = { parentId: string | null; position: Point; moves: Record<string, Point> }

/**
 * The place of a block in a line: at `wanted` if given (relative to the container), otherwise between the two ends. If
 * the gap is too small, everything from the end of the line on moves to the right.
 */
export function placeInLine(
  document: Document,
  sizes: Sizes,
  onEdge: string,
  own: Size,
  { wanted, id }: { wanted?: Point; id?: string } = {},
): LinePlace | undefined {
  const line = document.edges.find((edge) => edge.id === onEdge)
  const [from, to] = [line && document.blocks[line.source], line && document.blocks[line.target]]
  if (!line || !from || !to) return undefined
  const parentId = parentOfEdge(document, line)
  const isFromStart = to.parentId === from.id
  const width = sizes.get(from.id)?.width ?? cardWidth
  const least = isFromStart ? containerPadding.left : positionOf(from).x + width + gap
  const end = positionOf(to)
  const isForward = isFromStart || end.x > positionOf(from).x
  const inLine = { x: least, y: isFromStart ? end.y : positionOf(from).y }
  const place = clampInside({ x: snap(wanted?.x ?? inLine.x), y: snap(wanted?.y ?? inLine.y) }, parentId)
  if (!isForward) return { parentId, position: freePlace(document, sizes, parentId, place, own), moves: {} }
  // A block that was dropped over one of the ends goes next to it.
  place.x = Math.max(place.x, snap(least))
  const isAside = place.y > end.y + (sizes.get(to.id)?.height ?? 0) + 20 || place.y + own.height + 20 < end.y
  const needed = isAside ? 0 : Math.ceil((place.x + own.width + gap - end.x) / 10) * 10
  const moves: Record<string, Point> = {}
  for (const block of needed > 0 ? childrenOf(document, parentId) : []) {
    const { x, y } = positionOf(block)
    if (x >= end.x && block.id !== id && block.id !== from.id) moves[block.id] = { x: x + needed, y }
  }
  const others = Object.entries(document.blocks).filter(([other]) => other !== id)
  const moved = others.map(([other, block]) => [other, moves[other] ? { ...block, position: moves[other] } : block])
  const cleared: Document = { ...document, blocks: Object.fromEntries(moved) }
  return { parentId, position: freePlace(cleared, sizes, parentId, place, own), moves }
}

/** The least distance between a new block in a line and its neighbours. */
const gap = 60
