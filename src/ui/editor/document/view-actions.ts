import type { useStoreApi } from '@xyflow/react'
import { measuredSizes } from '../canvas/canvas-nodes.ts'
import { fitOptions } from '../canvas/fit-options.ts'
import { cardWidth, placesOf } from '../canvas/geometry.ts'
import { viewOf, zoomLeast } from '../canvas/opening-view.ts'
import type { Portions } from '../canvas/view/portions.ts'
import { drawnIds, type Flow, focusNode, revealNode } from '../canvas/view/show-node.ts'
import type { Draft } from '../save/draft.ts'
import { absolutePosition, type Document, firstBlock, homeOf, type Point } from './document.ts'

/** Actions that change only what is in view or selected. */
export function viewActions(draft: Draft, flow: Flow, store: ReturnType<typeof useStoreApi>, portions: Portions) {
  const now = () => draft.state()
  const reveal = (id: string) => revealNode(flow, () => now().document, id)
  /**
   * Brings a block or note into view, large enough to read. Works for those that are not drawn yet. `share`: the left
   * part of the canvas that nothing covers.
   */
  const show = (id: string, share: number) => {
    afterPanels(() => {
      const place = placesOf(now().document, measuredSizes(flow.getNodes())).get(id)
      if (!place) return
      const { width, height } = store.getState()
      const view = flow.getViewport()
      const zoom = view.zoom < readableZoom ? 1 : view.zoom
      // The head of a container is enough.
      const size = { width: Math.min(place.width, 2 * cardWidth), height: Math.min(place.height, 200) }
      const [left, top] = [place.x * view.zoom + view.x, place.y * view.zoom + view.y]
      const [right, bottom] = [left + size.width * view.zoom, top + size.height * view.zoom]
      const isSeen = left > 0 && top > 0 && right < width * share && bottom < height
      if (isSeen && zoom === view.zoom) return reveal(id)
      const x = (width * share) / 2 - (place.x + size.width / 2) * zoom
      const y = height / 2 - (place.y + size.height / 2) * zoom
      void flow.setViewport({ x, y, zoom }, { duration: 160 })
    })
  }
  /** Whether the view shows the whole document. */
  const isWhole = () => {
    const { width, height } = store.getState()
    const { x, y, zoom } = flow.getViewport()
    return [...placesOf(now().document, measuredSizes(flow.getNodes())).values()].every((place) => {
      const [left, top] = [place.x * zoom + x, place.y * zoom + y]
      return left >= 0 && top >= 0 && left + place.width * zoom <= width && top + place.height * zoom <= height
    })
  }
  const fit = () => {
    const { width, height, setMinZoom } = store.getState()
    const places = placesOf(now().document, measuredSizes(flow.getNodes()))
    const view = viewOf(places.values(), { width, height }, 0)
    if (!view) return
    setMinZoom(Math.min(zoomLeast, view.zoom))
    const drawn = drawnIds()
    const coming = Object.keys(now().document.blocks).filter((id) => !drawn.has(id))
    portions.hold(coming, fitOptions.duration)
    void flow.setViewport(view, { duration: fitOptions.duration })
  }
  return {
    focusNode,
    reveal,
    /** Fits the whole document into view, including blocks that are not drawn yet. A huge one lowers the least zoom. */
    fit,
    /** The same, after the canvas has drawn new blocks. */
    fitSoon: () => afterPanels(fit),
    /** A panel takes a part of the canvas: a document that was in view as a whole stays so. */
    keepWhole(): void {
      if (isWhole()) afterPanels(() => isWhole() || fit())
    },
    zoomIn: () => void flow.zoomIn({ duration: 120 }),
    zoomOut: () => void flow.zoomOut({ duration: 120 }),
    /** The top left corner of a card in the middle of the view. */
    middle(): Point {
      const box = document.querySelector('.react-flow')?.getBoundingClientRect()
      if (!box) return { x: 0, y: 0 }
      return flow.screenToFlowPosition({ x: box.x + box.width / 2 - cardWidth / 2, y: box.y + box.height / 2 - 40 })
    },
    /** The top left corner of a first block that leaves room for the next ones. */
    beginning(): Point {
      const box = document.querySelector('.react-flow')?.getBoundingClientRect()
      if (!box) return { x: 0, y: 0 }
      return flow.screenToFlowPosition({ x: box.x + Math.max(72, box.width * 0.12), y: box.y + box.height * 0.2 })
    },
    selectAll(): void {
      const { document } = now()
      const outermost = Object.values(document.blocks).filter(({ parentId }) => !parentId)
      draft.select([...outermost.map(({ id }) => id), ...Object.keys(document.notes ?? {})])
    },
    /** Selects the next block in a direction: along connections sideways, otherwise by position. */
    walk(direction: 'left' | 'right' | 'up' | 'down'): void {
      const { document, selected } = now()
      const from = [...selected].find((id) => document.blocks[id])
      const next = from === undefined ? firstBlock(document) : neighbour(document, from, direction)
      if (!next) return
      draft.select([next])
      focusNode(next)
      reveal(next)
    },
    /** Focuses the block at which the keyboard enters the canvas. */
    focusHome(): void {
      const { document, selected } = now()
      const home = homeOf(document, selected)
      if (home === undefined) return
      reveal(home)
      focusNode(home)
    },
    /** Selects a block or note and shows it at a size at which it can be read. */
    goTo(id: string, share = 1): void {
      draft.select([id])
      show(id, share)
    },
  }
}

/** Below this zoom, names and summaries on cards are hard to read. */
const readableZoom = 0.7

/** Waits two frames for the side panels to take their place. */
function afterPanels(run: () => void): void {
  requestAnimationFrame(() => requestAnimationFrame(run))
}

function neighbour(document: Document, from: string, direction: 'left' | 'right' | 'up' | 'down'): string | undefined {
  const along = document.edges.flatMap(({ source, target }) => {
    if (direction === 'right') return source === from ? [target] : []
    return direction === 'left' && target === from ? [source] : []
  })
  if (along[0]) return along[0]
  const at = absolutePosition(document, from)
  const far = Object.keys(document.blocks).flatMap((id) => {
    if (id === from) return []
    const { x, y } = absolutePosition(document, id)
    const [dx, dy] = [x - at.x, y - at.y]
    const ahead = { left: -dx, right: dx, up: -dy, down: dy }[direction]
    const aside = direction === 'left' || direction === 'right' ? Math.abs(dy) : Math.abs(dx)
    return ahead > 0 ? [{ id, distance: ahead + 2 * aside }] : []
  })
  return far.toSorted((a, b) => a.distance - b.distance)[0]?.id
}
