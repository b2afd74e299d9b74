import type { ReactFlowInstance } from '@xyflow/react'
import type { Document } from '../../document/document.ts'
import { type CanvasNode, measuredSizes } from '../canvas-nodes.ts'
import { placesOf } from '../geometry.ts'

export type Flow = ReactFlowInstance<CanvasNode>

/** The element of a block or note; undefined while it is out of view. */
export function nodeElement(id: string): HTMLElement | undefined {
  return document.querySelector<HTMLElement>(`.react-flow__node[data-id="${CSS.escape(id)}"]`) ?? undefined
}

/** The blocks and notes that are drawn. */
export function drawnIds(): Set<string | null> {
  return new Set([...document.querySelectorAll('.react-flow__node')].map((node) => node.getAttribute('data-id')))
}

/** Focuses a node as soon as it is drawn and nothing covers it. */
export function focusNode(id: string, tries = 60): void {
  const node = nodeElement(id)
  node?.focus({ preventScroll: true })
  const isDone = node !== undefined && document.activeElement === node
  if (!isDone && tries > 0) requestAnimationFrame(() => focusNode(id, tries - 1))
}

/**
 * Scrolls the canvas just far enough to show a block or note, which need not be drawn. Waits two frames for the side
 * panels to take their place.
 */
export function revealNode(flow: Flow, documentNow: () => Document, id: string): void {
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      const box = document.querySelector('.react-flow')?.getBoundingClientRect()
      const place = placesOf(documentNow(), measuredSizes(flow.getNodes())).get(id)
      if (!box || !place) return
      const { x, y, zoom } = flow.getViewport()
      const dx = shift(x + place.x * zoom, x + (place.x + place.width) * zoom, box.width)
      const dy = shift(y + place.y * zoom, y + (place.y + place.height) * zoom, box.height)
      if (dx !== 0 || dy !== 0) void flow.setViewport({ x: x + dx, y: y + dy, zoom }, { duration: 160 })
    }),
  )
}

/**
 * How far something must move to fit within a length plus some margin. If it is too large, its start is aligned with
 * the beginning.
 */
function shift(from: number, to: number, length: number): number {
  const isAway = from < room || to > length - room
  if (from < room || to - from > length - 2 * room) return isAway ? room - from : 0
  return to > length - room ? length - room - to : 0
}

/** Margin between a block and the edge of the canvas. */
const room = 40
