import { createContext } from 'react'

/** How small the canvas is: what can be read on a card. */
export type ZoomLevel = 'near' | 'middle' | 'far' | 'farther' | 'tiny'

/**
 * From `far` on, a card shows its icon and its name only; from `farther` on, its name in one line; at last, no name
 * fits into it.
 */
export function zoomLevelAt(zoom: number): ZoomLevel {
  if (zoom >= 0.65) return 'near'
  if (zoom >= 0.4) return 'middle'
  if (zoom >= 0.3) return 'far'
  return zoom >= 0.13 ? 'farther' : 'tiny'
}

/**
 * How much larger than usual names and lines are drawn on the canvas, so that names have at least 11 pixels on the
 * screen. Grows in steps, because each change lays out all names again.
 */
export function enlargementAt(zoom: number): number {
  const wanted = nameLeast / (nameSize * zoom)
  return wanted <= 1 ? 1 : Number((step ** Math.ceil(Math.log(wanted) / Math.log(step))).toFixed(3))
}

/** The size of names at full zoom, as `.card-name` in the style sheet. */
const nameSize = 13
const nameLeast = 11.05
const step = 1.08

/** Whether cards are too small for their details and ports. */
export const IsFar = createContext(false)
