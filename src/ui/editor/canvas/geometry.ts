import {
  absolutePosition,
  type Block,
  childrenByParent,
  childrenOf,
  type Document,
  isContainer,
  type Point,
  portsOf,
  positionOf,
} from '../document/document.ts'

export type Size = { width: number; height: number }
export type Box = Point & Size

/**
 * All cards have the same width. Heights are computed here; the browser measures a different one only if the user
 * enlarges the font.
 */
export const cardWidth = 224
const headHeight = 56
const summaryHeight = 29
const cardHeight = headHeight + summaryHeight
const portRowHeight = 28

/** Space around the blocks in a container, including its title. */
export const containerPadding = { left: 120, right: 40, top: 60, bottom: 40 }
const containerMin: Size = { width: 400, height: 180 }

/** Distance of the grid lines that positions snap to. */
export const gridSize = 10

export type Sizes = ReadonlyMap<string, Size>

/** Sizes of all blocks: measured if available, otherwise computed. Containers fit their contents. */
export function sizesOf(document: Document, measured: Sizes = new Map()): Map<string, Size> {
  const sizes = new Map<string, Size>()
  const children = childrenByParent(document)
  const sizeOf = (block: Block, depth: number): Size => {
    const known = sizes.get(block.id)
    if (known) return known
    const size =
      isContainer(block) && depth < 20
        ? around(
            (children.get(block.id) ?? []).map((child) => ({ at: positionOf(child), size: sizeOf(child, depth + 1) })),
          )
        : (measured.get(block.id) ?? estimate(block))
    sizes.set(block.id, size)
    return size
  }
  for (const block of Object.values(document.blocks)) sizeOf(block, 0)
  return sizes
}

export function around(inner: readonly { at: Point; size: Size }[]): Size {
  const { right, bottom } = containerPadding
  return {
    width: Math.max(containerMin.width, ...inner.map(({ at, size }) => at.x + size.width + right)),
    height: Math.max(containerMin.height, ...inner.map(({ at, size }) => at.y + size.height + bottom)),
  }
}

function estimate(block: Pick<Block, 'type' | 'params'>): Size {
  const branches = portsOf(block).filter(({ kind }) => kind === 'branch').length
  // The expressions of a condition replace the summary line.
  const height = block.type === 'condition' ? headHeight : cardHeight
  return { width: cardWidth, height: height + branches * portRowHeight }
}

/** The default size of a note. */
export const noteSize: Size = { width: 220, height: 120 }

export function sizeOfNote({ width, height }: Partial<Size>): Size {
  return { width: width ?? noteSize.width, height: height ?? noteSize.height }
}

/** Positions and sizes of all blocks and notes on the canvas. */
export function placesOf(document: Document, measured?: Sizes): Map<string, Box> {
  const sizes = sizesOf(document, measured)
  const places = new Map<string, Box>()
  for (const id of Object.keys(document.blocks)) {
    places.set(id, { ...absolutePosition(document, id), ...sizes.get(id)! })
  }
  for (const note of Object.values(document.notes ?? {})) {
    places.set(note.id, { ...note.position, ...sizeOfNote(note) })
  }
  return places
}

/** The innermost container at a point, except those in `not`. */
export function containerAt(document: Document, sizes: Sizes, point: Point, not: ReadonlySet<string>): string | null {
  let found: { id: string; area: number } | undefined
  for (const block of Object.values(document.blocks)) {
    const size = sizes.get(block.id)
    if (!isContainer(block) || !size || not.has(block.id)) continue
    const at = absolutePosition(document, block.id)
    const isInside = point.x >= at.x && point.x <= at.x + size.width && point.y >= at.y && point.y <= at.y + size.height
    const area = size.width * size.height
    if (isInside && (!found || area < found.area)) found = { id: block.id, area }
  }
  return found?.id ?? null
}

/** The size of a new block of a type. */
export function sizeOfNew(block: Pick<Block, 'type' | 'params'>): Size {
  return isContainer(block) ? around([]) : estimate(block)
}

/** A free place for a new block: the wanted position, or the first free one below it. */
export function freePlace(document: Document, sizes: Sizes, parentId: string | null, wanted: Point, own: Size): Point {
  const others = childrenOf(document, parentId).map((block) => ({ at: positionOf(block), size: sizes.get(block.id) }))
  const place = { x: snap(wanted.x), y: snap(wanted.y) }
  for (let tries = 0; tries < 60; tries += 1) {
    const hit = others.find(
      ({ at, size }) =>
        size &&
        place.x < at.x + size.width + 20 &&
        place.x + own.width + 20 > at.x &&
        place.y < at.y + size.height + 20 &&
        place.y + own.height + 20 > at.y,
    )
    if (!hit) return place
    place.y = snap(hit.at.y + (hit.size?.height ?? cardHeight) + 30)
  }
  return place
}

export function snap(value: number): number {
  return Math.round(value / gridSize) * gridSize
}
