import { type Box, containerAt, type Sizes, sizeOfNote, sizesOf } from '../canvas/geometry.ts'
import {
  absolutePosition,
  type Block,
  childrenOf,
  type Document,
  isContainer,
  type Point,
  positionOf,
} from './document.ts'
import { applyEdit, type Edit } from './edit.ts'

/**
 * Adds moves to edits that put blocks into containers. A container that grows over a neighbour pushes everything right
 * of it to the right, and everything below it down, as far as needed. Notes count as blocks of the container that their
 * middle is in, and move with it.
 */
export function withRoom(document: Document, edits: readonly Edit[], measured: Sizes): Edit[] {
  if (!edits.some(({ kind }) => kind === 'add' || kind === 'nest' || kind === 'splice' || kind === 'insert'))
    return [...edits]
  const before = sizesOf(document, measured)
  const homes = homesOfNotes(document, before)
  let after = edits.reduce(applyEdit, document)
  const to: Record<string, Point> = {}
  for (const container of innermostFirst(after)) {
    const [old, box] = [
      before.get(container.id),
      { ...positionOf(container), ...sizesOf(after, measured).get(container.id)! },
    ]
    if (!old || (box.width <= old.width && box.height <= old.height)) continue
    const [right, bottom] = [box.x + old.width, box.y + old.height]
    const blocks = childrenOf(after, container.parentId ?? null)
      .filter(({ id }) => id !== container.id)
      .map((block) => ({ id: block.id, ...positionOf(block), ...sizesOf(after, measured).get(block.id)! }))
    const others = [...blocks, ...notesIn(after, container.parentId ?? null, homes)]
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
    const moveNote = (id: string, dx: number, dy: number) => {
      const { x, y } = after.notes![id]!.position
      moves[id] = { x: x + dx, y: y + dy }
    }
    for (const { id, x, y } of others) {
      const [dx, dy] = [x >= right ? byX : 0, y >= bottom ? byY : 0]
      if (dx === 0 && dy === 0) continue
      if (homes.has(id)) moveNote(id, dx, dy)
      else moves[id] = { x: x + dx, y: y + dy }
      for (const [note, home] of homes) if (isIn(after, home, id)) moveNote(note, dx, dy)
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

/** The container in which the middle of each note is; null: none. */
function homesOfNotes(document: Document, sizes: Sizes): Map<string, string | null> {
  return new Map(
    Object.values(document.notes ?? {}).map((note) => {
      const { width, height } = sizeOfNote(note)
      const middle = { x: note.position.x + width / 2, y: note.position.y + height / 2 }
      return [note.id, containerAt(document, sizes, middle, new Set())]
    }),
  )
}

/** The notes of a container, or of none, with their places in it. */
function notesIn(
  document: Document,
  parentId: string | null,
  homes: ReadonlyMap<string, string | null>,
): (Box & { id: string })[] {
  const origin = parentId === null ? { x: 0, y: 0 } : absolutePosition(document, parentId)
  return Object.values(document.notes ?? {})
    .filter(({ id }) => homes.get(id) === parentId)
    .map((note) => {
      const { x, y } = note.position
      return { id: note.id, x: x - origin.x, y: y - origin.y, ...sizeOfNote(note) }
    })
}

/** Whether a container is another one, or inside it. */
function isIn({ blocks }: Document, containerId: string | null, outerId: string): boolean {
  let at = containerId
  for (let depth = 0; at !== null && at !== outerId && depth < 50; depth += 1) at = blocks[at]?.parentId ?? null
  return at === outerId
}

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
