import type { Viewport } from '@xyflow/react'
import { useEffect, useMemo, useState } from 'react'
import type { Document, Point } from '../document/document.ts'
import type { CanvasEdge, CanvasNode } from './canvas-nodes.ts'
import { type Box, placesOf, type Size } from './geometry.ts'
import { sightOf } from './opening-view.ts'

/**
 * Draws a newly opened workflow step by step: visible nodes first, then the rest in the following frames, nearest
 * first. A change, or a selection that is not drawn yet, draws everything immediately.
 */
export function useProgressiveNodes(
  { nodes, edges, document, selected }: Drawn,
  view: Viewport,
  size: Size,
): { nodes: CanvasNode[]; edges: CanvasEdge[]; isDone: boolean } {
  const [opened] = useState(document)
  const [order] = useState(() => drawingOrder(nodes, document, sightOf(view, size)))
  const [count, setCount] = useState(order.first)
  const waiting = useMemo(() => new Set(order.ids.slice(count)), [order, count])
  const isDone = waiting.size === 0 || document !== opened || [...selected].some((id) => waiting.has(id))
  useEffect(() => {
    if (isDone) return setCount(order.ids.length)
    // Wait for the frame that draws the current nodes.
    const frame = requestAnimationFrame(() => setCount(count + atOnce))
    return () => cancelAnimationFrame(frame)
  }, [isDone, count, order])
  const here = useMemo(() => (isDone ? nodes : nodes.filter(({ id }) => !waiting.has(id))), [isDone, nodes, waiting])
  const lines = useMemo(
    () => (isDone ? edges : edges.filter(({ source, target }) => !waiting.has(source) && !waiting.has(target))),
    [isDone, edges, waiting],
  )
  return { nodes: here, edges: lines, isDone }
}

type Drawn = {
  nodes: CanvasNode[]
  edges: CanvasEdge[]
  document: Document
  selected: ReadonlySet<string>
}

/** Nodes added per frame, which then takes about 50 ms. A smaller number makes the total time longer. */
const atOnce = 40

/**
 * The drawing order: nearest to the middle first, but containers before their contents. `first` is the number of
 * visible nodes.
 */
export function drawingOrder(
  nodes: readonly Pick<CanvasNode, 'id' | 'parentId'>[],
  document: Document,
  sight: Box,
): { ids: string[]; first: number } {
  const places = placesOf(document)
  const known = new Map(nodes.map((node) => [node.id, node]))
  const middle = { x: sight.x + sight.width / 2, y: sight.y + sight.height / 2 }
  const away = nodes.map((node) => {
    const box = places.get(node.id) ?? { x: 0, y: 0, width: 0, height: 0 }
    return { node, isSeen: overlap(box, sight), distance: distance(middle, box) }
  })
  const ids = new Set<string>()
  const seen = new Set<string>()
  const add = (node: Pick<CanvasNode, 'id' | 'parentId'>) => {
    // An invalid document may have a cycle of containers.
    if (seen.has(node.id)) return
    seen.add(node.id)
    const parent = node.parentId === undefined ? undefined : known.get(node.parentId)
    if (parent) add(parent)
    ids.add(node.id)
  }
  for (const { node } of away.filter(({ isSeen }) => isSeen)) add(node)
  const first = ids.size
  for (const { node } of away.toSorted((a, b) => a.distance - b.distance)) add(node)
  return { ids: [...ids], first }
}

function overlap(a: Box, b: Box): boolean {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
}

function distance(from: Point, box: Box): number {
  return Math.hypot(from.x - (box.x + box.width / 2), from.y - (box.y + box.height / 2))
}
