import type { Point } from '../../document/document.ts'

/** The line below the first of some points of the page that has one, also where a block covers it. */
export function lineUnder(points: readonly Point[]): string | undefined {
  for (const { x, y } of points) {
    for (const element of document.elementsFromPoint(x, y)) {
      const id = element.closest('.react-flow__edge')?.getAttribute('data-id')
      if (id) return id
    }
  }
  return undefined
}
