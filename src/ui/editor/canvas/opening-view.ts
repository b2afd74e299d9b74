import { getViewportForBounds, type Viewport } from '@xyflow/react'
import { type Document, isTrigger } from '../document/document.ts'
import { fitOptions } from './fit-options.ts'
import { type Box, placesOf, type Size } from './geometry.ts'

/** The viewport in which a workflow opens. */
export function openingView(document: Document, canvas: Size): Viewport {
  const places = placesOf(document)
  const ids = openingBlocks(document, canvas, places) ?? [...places.keys()]
  return (
    viewOf(
      ids.flatMap((id) => places.get(id) ?? []),
      canvas,
    ) ?? { x: 0, y: 0, zoom: 1 }
  )
}

/** The viewport that shows all boxes, if its zoom may be that small; undefined when there are none. */
export function viewOf(boxes: Iterable<Box>, { width, height }: Size, zoomFrom = zoomLeast): Viewport | undefined {
  const around = boundsOf([...boxes])
  if (around.width < 0) return undefined
  const { maxZoom, padding } = fitOptions
  return getViewportForBounds(around, width, height, zoomFrom, maxZoom, padding)
}

/**
 * The blocks to show when a workflow opens: undefined for all of them if they are readable at that zoom level,
 * otherwise the blocks near the trigger that fit.
 */
export function openingBlocks(document: Document, canvas: Size, places = placesOf(document)): string[] | undefined {
  const boxes = Object.values(document.blocks).map((block) => {
    const box = places.get(block.id)!
    return { block, box, left: box.x, top: box.y, right: box.x + box.width, bottom: box.y + box.height }
  })
  const first = boxes.find(({ block }) => isTrigger(block)) ?? boxes.toSorted((a, b) => a.left - b.left)[0]
  if (!first) return undefined
  const room = { width: canvas.width / zoomMin, height: canvas.height / zoomMin }
  const { width, height } = boundsOf(boxes.map(({ box }) => box))
  if (width <= room.width && height <= room.height) return undefined
  // Only blocks to the right of the trigger count, and the same distance above and below it.
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

function boundsOf(boxes: readonly Box[]): Box {
  const x = Math.min(...boxes.map((box) => box.x))
  const y = Math.min(...boxes.map((box) => box.y))
  const width = Math.max(...boxes.map((box) => box.x + box.width)) - x
  return { x, y, width, height: Math.max(...boxes.map((box) => box.y + box.height)) - y }
}

/** The smallest zoom level at which cards are readable. */
const zoomMin = 0.6

/** The smallest zoom level, unless the whole workflow needs a smaller one. */
export const zoomLeast = 0.1
