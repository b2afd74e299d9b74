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
export const headHeight = 56
export const summaryHeight = 29
/** The middle of a card's title, where its input and its output are. */
export const titleMiddle = 26
const cardHeight = headHeight + summaryHeight
export const branchHeight = 28

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
  return { width: cardWidth, height: height + branches * branchHeight }
}

/** The default size of a note. */
export const noteSize: Size = { width: 220, height: 120 }

/** The smallest size of a note that a person can choose. */
export const noteLeast: Size = { width: 120, height: 60 }

export function sizeOfNote({ width, height }: { width?: number | undefined; height?: number | undefined }): Size {
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

/**
 * The nearest place inside a container that covers neither its title nor its start: right of the start, or below it.
 * On the canvas itself, every place is free.
 */
export function clampInside({ x, y }: Point, parentId: string | null): Point {
  if (parentId === null) return { x, y }
  const inside = { x: Math.max(x, 20), y: Math.max(y, containerPadding.top) }
  return inside.y >= belowStart ? inside : { x: Math.max(inside.x, besideStart), y: inside.y }
}

/** Where the start of a container ends, with some space for its line. */
const besideStart = 110
const belowStart = 120

/**
 * The free place nearest to the wanted one for something of a size, among boxes that must not be covered. `least` is
 * the top left limit inside a container.
 */
export function freeSpot(boxes: readonly Box[], wanted: Point, own: Size, least?: Point): Point {
  const isFree = ({ x, y }: Point) =>
    (!least || (x >= least.x && y >= least.y)) &&
    !boxes.some(
      (box) =>
        x < box.x + box.width + 20 &&
        box.x < x + own.width + 20 &&
        y < box.y + box.height + 20 &&
        box.y < y + own.height + 20,
    )
  const start = { x: snap(wanted.x), y: snap(wanted.y) }
  for (let ring = 0; ring < ringsMax; ring += 1) {
    for (const [dx, dy] of ringOf(ring)) {
      const place = { x: start.x + dx * ringStep, y: start.y + dy * ringStep }
      if (isFree(place)) return place
    }
  }
  const bottom = Math.max(start.y, ...boxes.map((box) => box.y + box.height + 30))
  return { x: Math.max(start.x, least?.x ?? start.x), y: snap(bottom) }
}

const ringStep = 40
const ringsMax = 40

/** The steps to the places of one ring around a point: nearest first, below and right before above and left. */
function ringOf(ring: number): [number, number][] {
  if (ring === 0) return [[0, 0]]
  const steps: [number, number][] = []
  for (let along = -ring; along <= ring; along += 1) {
    steps.push([along, ring], [ring, along], [along, -ring], [-ring, along])
  }
  return steps.toSorted((a, b) => Math.hypot(...a) - Math.hypot(...b) || b[1] - a[1] || b[0] - a[0])
}

export function snap(value: number): number {
  return Math.round(value / gridSize) * gridSize
}
