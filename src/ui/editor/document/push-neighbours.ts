import { type Sizes, sizesOf } from '../canvas/geometry.ts'
import { type Block, childrenOf, type Document, isContainer, type Point, positionOf } from './document.ts'
import { applyEdit, type Edit } from './edit.ts'

/**
 * Adds moves to edits that put blocks into containers. A container that grows over a neighbour pushes everything right
 * of it to the right, and everything below it down, as far as needed.
 */
export function withRoom(document: Document, edits: readonly Edit[], measured: Sizes): Edit[] {
  if (!edits.some(({ kind }) => kind === 'add' || kind === 'nest' || kind === 'splice' || kind === 'insert'))
    return [...edits]
  const before = sizesOf(document, measured)
  let after = edits.reduce(applyEdit, document)
  const to: Record<string, Point> = {}
  for (const container of innermostFirst(after)) {
    const [old, box] = [
      before.get(container.id),
      { ...positionOf(container), ...sizesOf(after, measured).get(container.id)! },
    ]
    if (!old || (box.width <= old.width && box.height <= old.height)) continue
    const [right, bottom] = [box.x + old.width, box.y + old.height]
    const others = childrenOf(after, container.parentId ?? null)
      .filter(({ id }) => id !== container.id)
      .map((block) => ({ id: block.id, ...positionOf(block), ...sizesOf(after, measured).get(block.id)! }))
    const behind = others.filter(({ x }) => x >= right)
    const below = others.filter(({ y }) => y >= bottom)
    const isInRows = ({ y, height }: { y: number; height: number }) =>
      y < box.y + box.height + rowGap && y + height > box.y - rowGap
    const isInColumns = ({ x, width }: { x: number; width: number }) => x < box.x + box.width && x + width > box.x
    const byX = needed(
      behind.filter(isInRows).map(({ x }) => ({ from: right, to: x })),
      box.x + box.width,
      columnGap,
    )
    const byY = needed(
      below.filter((each) => each.x < right && isInColumns(each)).map(({ y }) => ({ from: bottom, to: y })),
      box.y + box.height,
      rowGap,
    )
    // All blocks on a side move by the same distance, so none of them covers another one afterwards.
    const moves: Record<string, Point> = {}
    for (const { id, x, y } of others) {
      const [dx, dy] = [x >= right ? byX : 0, y >= bottom ? byY : 0]
      if (dx > 0 || dy > 0) moves[id] = { x: x + dx, y: y + dy }
    }
    Object.assign(to, moves)
    after = applyEdit(after, { kind: 'move', to: moves })
  }
  return Object.keys(to).length > 0 ? [...edits, { kind: 'move', to }] : [...edits]
}

/**
 * How far neighbours must move so that the nearest keeps its distance from the new edge of a container: at most the
 * distance it had, so that nothing moves that is far enough away.
 */
function needed(distances: readonly { from: number; to: number }[], edge: number, gap: number): number {
  const most = Math.max(0, ...distances.map(({ from, to }) => edge + Math.min(to - from, gap) - to))
  return Math.ceil(most / 10) * 10
}

const columnGap = 60
const rowGap = 30

/** Containers, those inside others first: an outer one grows with its inner ones. */
function innermostFirst(document: Document): Block[] {
  const depth = (block: Block): number => {
    let count = 0
    for (let at: Block | undefined = block; at?.parentId && count < 50; at = document.blocks[at.parentId]) count += 1
    return count
  }
  return Object.values(document.blocks)
    .filter(isContainer)
    .toSorted((a, b) => depth(b) - depth(a))
}
