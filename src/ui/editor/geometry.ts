import {
  absolutePosition,
  type Block,
  childrenOf,
  type Document,
  isContainer,
  type Point,
  portsOf,
  positionOf,
} from './document.ts'

export type Size = { width: number; height: number }
export type Box = Point & Size

/**
 * Cards are all of one width. How high one is, the browser measures when it is drawn: it is this, unless letters are
 * larger than the page asks for.
 */
export const cardWidth = 224
const headHeight = 56
const summaryHeight = 29
const cardHeight = headHeight + summaryHeight
const portRowHeight = 28

/** Room around the blocks in a container, and above them for its title. */
export const containerPadding = { left: 120, right: 40, top: 60, bottom: 40 }
const containerMin: Size = { width: 400, height: 180 }

/** Distance of lines on the canvas; positions snap to it. */
export const gridSize = 10

export type Sizes = ReadonlyMap<string, Size>

/** Sizes of all blocks: measured ones where there are some, containers around what is in them. */
export function sizesOf(document: Document, measured: Sizes = new Map()): Map<string, Size> {
  const sizes = new Map<string, Size>()
  const sizeOf = (block: Block, depth: number): Size => {
    const known = sizes.get(block.id)
    if (known) return known
    const size =
      isContainer(block) && depth < 20
        ? around(
            childrenOf(document, block.id).map((child) => ({ at: positionOf(child), size: sizeOf(child, depth + 1) })),
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
  // Its expressions say what a condition does.
  const height = block.type === 'condition' ? headHeight : cardHeight
  return { width: cardWidth, height: height + branches * portRowHeight }
}

/** A note's size, where the document says none. */
export const noteSize: Size = { width: 220, height: 120 }

export function sizeOfNote({ width, height }: Partial<Size>): Size {
  return { width: width ?? noteSize.width, height: height ?? noteSize.height }
}

/** Where everything stands on the canvas, notes too. */
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

/** The innermost container that a point lies in, `not` and what is in them apart. */
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

/** How large a new block of a type is. */
export function sizeOfNew(block: Pick<Block, 'type' | 'params'>): Size {
  return isContainer(block) ? around([]) : estimate(block)
}

/** A place for something new of a size: where it is wanted, or below whatever lies there already. */
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
