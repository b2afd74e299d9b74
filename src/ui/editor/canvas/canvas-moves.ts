import { absolutePosition, type Document, isTrigger, type Point, withInner } from '../document/document.ts'
import type { Edit } from '../document/edit.ts'
import { freshId } from '../document/fresh-id.ts'
import { placeInLine } from '../document/make-room.ts'
import { parentOfEdge } from '../document/wiring.ts'
import type { CanvasNode } from './canvas-nodes.ts'
import { cardWidth, clampInside, containerAt, type Sizes, snap } from './geometry.ts'

/** The position of a node on the canvas during a drag, before the document is updated. */
export function placeOnCanvas(nodes: ReadonlyMap<string, CanvasNode>, id: string): Point {
  const point = { x: 0, y: 0 }
  let at = nodes.get(id)
  for (let depth = 0; at && depth < 50; depth += 1) {
    point.x += at.position.x
    point.y += at.position.y
    at = at.parentId ? nodes.get(at.parentId) : undefined
  }
  return point
}

/** The container that a dragged node would be dropped into; null for the canvas itself. */
export function dropTarget(
  document: Document,
  sizes: Sizes,
  nodes: ReadonlyMap<string, CanvasNode>,
  id: string,
): string | null {
  const block = document.blocks[id]
  if (!block || isTrigger(block)) return null
  const at = placeOnCanvas(nodes, id)
  const size = sizes.get(id) ?? { width: cardWidth, height: 74 }
  const middle = { x: at.x + size.width / 2, y: at.y + Math.min(size.height / 2, 40) }
  return containerAt(document, sizes, middle, withInner(document, [id]))
}

/** Turns moved nodes into edits: new positions, and moves into or out of containers. */
export function moveEdits(
  document: Document,
  sizes: Sizes,
  nodes: readonly CanvasNode[],
  moved: readonly string[],
  mayNest: boolean,
): Edit[] {
  const known = new Map(nodes.map((node) => [node.id, node]))
  const kept: Record<string, Point> = {}
  const nested = new Map<string | null, Record<string, Point>>()
  for (const id of moved) {
    const node = known.get(id)
    if (!node) continue
    const parent = document.blocks[id]?.parentId ?? null
    const target = mayNest && document.blocks[id] ? dropTarget(document, sizes, known, id) : parent
    if (target === parent) {
      kept[id] = clampInside(node.position, parent)
      continue
    }
    const at = placeOnCanvas(known, id)
    const origin = target === null ? { x: 0, y: 0 } : placeOnCanvas(known, target)
    const places = nested.get(target) ?? {}
    places[id] = clampInside({ x: snap(at.x - origin.x), y: snap(at.y - origin.y) }, target)
    nested.set(target, places)
  }
  return [
    ...(Object.keys(kept).length > 0 ? [{ kind: 'move', to: kept } as const] : []),
    ...[...nested].map(([parentId, to]) => ({ kind: 'nest', parentId, to }) as const),
  ]
}

/** The edits that put a dragged unconnected block into a line, with its old connections unchanged: it has none. */
export function spliceEdits(
  document: Document,
  sizes: Sizes,
  nodes: readonly CanvasNode[],
  id: string,
  onEdge: string,
): Edit[] {
  const size = sizes.get(id)
  const line = document.edges.find((edge) => edge.id === onEdge)
  if (!size || !line || withInner(document, [id]).has(line.target)) return []
  const at = placeOnCanvas(new Map(nodes.map((node) => [node.id, node])), id)
  const parentId = parentOfEdge(document, line)
  const origin = parentId === null ? { x: 0, y: 0 } : absolutePosition(document, parentId)
  const wanted = { x: at.x - origin.x, y: at.y - origin.y }
  const place = placeInLine(document, sizes, onEdge, size, { wanted, id })
  if (!place) return []
  return [
    { kind: 'nest', parentId, to: { [id]: place.position } },
    ...(Object.keys(place.moves).length > 0 ? [{ kind: 'move', to: place.moves } as const] : []),
    { kind: 'splice', id, onEdge, edgeId: freshId() },
  ]
}
