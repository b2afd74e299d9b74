import { absolutePosition, type Document, isTrigger } from './document.ts'
import { type Size, sizesOf } from './geometry.ts'

/**
 * The blocks that are brought into view when a workflow is opened: all of them (undefined) when they can be read then,
 * else those around its beginning that fit into a canvas of about this size.
 */
export function openingBlocks(document: Document, canvas: Size): string[] | undefined {
  const sizes = sizesOf(document)
  const boxes = Object.values(document.blocks).map((block) => {
    const at = absolutePosition(document, block.id)
    const { width, height } = sizes.get(block.id)!
    return { block, left: at.x, top: at.y, right: at.x + width, bottom: at.y + height }
  })
  const first = boxes.find(({ block }) => isTrigger(block)) ?? boxes.toSorted((a, b) => a.left - b.left)[0]
  if (!first) return undefined
  const room = { width: canvas.width / zoomMin, height: canvas.height / zoomMin }
  const width = Math.max(...boxes.map(({ right }) => right)) - Math.min(...boxes.map(({ left }) => left))
  const height = Math.max(...boxes.map(({ bottom }) => bottom)) - Math.min(...boxes.map(({ top }) => top))
  if (width <= room.width && height <= room.height) return undefined
  // What lies right of the beginning counts, and what lies above it as much as what lies below.
  const middle = (first.top + first.bottom) / 2
  const near = boxes.filter(
    ({ left, right, top, bottom }) =>
      left >= first.left - 20 &&
      right <= first.left + room.width &&
      top >= middle - room.height / 2 &&
      bottom <= middle + room.height / 2,
  )
  return [...new Set([first, ...near].map(({ block }) => block.id))]
}

/** What stands on a card can be read from here on. */
const zoomMin = 0.6
