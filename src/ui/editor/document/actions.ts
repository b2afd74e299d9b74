import { useReactFlow, useStoreApi } from '@xyflow/react'
import { useMemo } from 'react'
import { useToast } from '../../parts/toast.tsx'
import { type CanvasNode, measuredSizes } from '../canvas/canvas-nodes.ts'
import { fitOptions } from '../canvas/fit-options.ts'
import { cardWidth, noteSize, placesOf, sizesOf } from '../canvas/geometry.ts'
import { viewOf } from '../canvas/opening-view.ts'
import type { BlockType } from '../editing.tsx'
import { useEditing } from '../editing.tsx'
import { autoLayout } from './auto-layout.ts'
import { absolutePosition, type Document, isTrigger, type Point } from './document.ts'
import { type Fragment, fragmentText, freshFragment, readFragment, takeFragment } from './fragment.ts'
import { freshId } from './fresh-id.ts'
import { newBlock, openPort, type Place } from './new-block.ts'

export type Actions = ReturnType<typeof useActions>

/** All canvas actions, shared by keyboard shortcuts, menus and the command palette. */
export function useActions() {
  const { draft, types, readOnly } = useEditing()
  const flow = useReactFlow<CanvasNode>()
  const store = useStoreApi()
  const toast = useToast()
  return useMemo(() => {
    const now = () => draft.state()
    const measured = () => measuredSizes(flow.getNodes())
    const sizes = (document: Document = now().document) => sizesOf(document, measured())
    /** Fits the whole document into view, including blocks that are not drawn yet. */
    const fit = () => {
      const { width, height } = store.getState()
      const places = placesOf(now().document, measured())
      const view = viewOf(places.values(), { width, height })
      if (flow.getNodes().length >= places.size) void flow.fitView(fitOptions)
      else if (view) void flow.setViewport(view, { duration: fitOptions.duration })
    }
    const middle = (): Point => {
      const box = document.querySelector('.react-flow')?.getBoundingClientRect()
      if (!box) return { x: 0, y: 0 }
      return flow.screenToFlowPosition({ x: box.x + box.width / 2 - cardWidth / 2, y: box.y + box.height / 2 - 40 })
    }
    /** Focuses a new node as soon as it is measured and nothing covers it. */
    const focusNode = (id: string, tries = 30) => {
      const node = document.querySelector<HTMLElement>(`.react-flow__node[data-id="${CSS.escape(id)}"]`)
      node?.focus({ preventScroll: true })
      const isDone = node !== null && document.activeElement === node
      if (!isDone && tries > 0) requestAnimationFrame(() => focusNode(id, tries - 1))
    }
    /** Scrolls the canvas just far enough to show a block. Waits two frames for the side panels to take their place. */
    const reveal = (id: string) => {
      requestAnimationFrame(() =>
        requestAnimationFrame(() => {
          const box = document.querySelector('.react-flow')?.getBoundingClientRect()
          const node = document.querySelector(`.react-flow__node[data-id="${CSS.escape(id)}"]`)?.getBoundingClientRect()
          if (!box || !node) return
          const dx = shift(node.left, node.right, box.left, box.right)
          const dy = shift(node.top, node.bottom, box.top, box.bottom)
          const { x, y, zoom } = flow.getViewport()
          if (dx !== 0 || dy !== 0) void flow.setViewport({ x: x + dx, y: y + dy, zoom }, { duration: 160 })
        }),
      )
    }
    const insert = (fragment: Fragment, by: Point) => {
      const { document } = now()
      const fresh = freshFragment(fragment, document, { newId: freshId, by })
      const ids = [
        ...Object.keys(fresh.blocks).filter((id) => !fresh.blocks[id]?.parentId),
        ...Object.keys(fresh.notes),
      ]
      if (ids.length === 0)
        return toast.show({ text: 'A workflow can have only one trigger of each type.', tone: 'error' })
      draft.perform({ kind: 'insert', fragment: fresh })
      draft.select(ids)
      if (ids[0]) reveal(ids[0])
    }
    const chosen = () => [...now().selected]
    const chosenBlocks = () => chosen().filter((id) => now().document.blocks[id])
    return {
      focusNode,
      reveal,
      add(type: Pick<BlockType, 'type' | 'label'>, place: Place): void {
        if (readOnly) return
        const { document } = now()
        const { edit, id } = newBlock(type, place, document, sizes(document))
        draft.perform(edit)
        if (!now().document.blocks[id]) return
        draft.select([id])
        focusNode(id)
        reveal(id)
      },
      /** Where a block goes when it is added without a position: after the selected block, otherwise in the middle. */
      nextPlace(isTriggerType: boolean): Place {
        const { document } = now()
        const [only, ...others] = chosenBlocks()
        const block = only === undefined || others.length > 0 ? undefined : document.blocks[only]
        const from = block && !isTriggerType ? openPort(document, block) : undefined
        return from ? { from } : { point: middle() }
      },
      addByType(type: string, place: Place): void {
        const found = types.get(type)
        if (found) this.add(found, place)
      },
      addNote(): void {
        if (readOnly) return
        const id = freshId()
        draft.perform({ kind: 'note', note: { id, text: '', position: middle(), ...noteSize } })
        draft.select([id])
      },
      remove(): void {
        if (readOnly) return
        const { document, selectedEdges } = now()
        const notes = chosen().filter((id) => document.notes?.[id])
        draft.perform({ kind: 'remove', blocks: chosenBlocks(), edges: [...selectedEdges], notes })
      },
      duplicate(): void {
        if (!readOnly && chosen().length > 0) insert(takeFragment(now().document, chosen()), { x: 40, y: 60 })
      },
      copyText(): string | undefined {
        return chosen().length === 0 ? undefined : fragmentText(takeFragment(now().document, chosen()))
      },
      /** Returns false when the text contains no blocks. */
      paste(text: string): boolean {
        if (readOnly) return false
        const fragment = readFragment(text)
        if (!fragment) return false
        const points = [
          ...Object.values(fragment.blocks).filter(({ parentId }) => !parentId || !fragment.blocks[parentId]),
          ...Object.values(fragment.notes),
        ].map(({ position }) => position ?? { x: 0, y: 0 })
        const isHere = Object.keys(fragment.blocks).some((id) => now().document.blocks[id])
        const corner = { x: Math.min(...points.map(({ x }) => x)), y: Math.min(...points.map(({ y }) => y)) }
        const at = middle()
        insert(fragment, isHere ? { x: 40, y: 60 } : { x: at.x - corner.x, y: at.y - corner.y })
        return true
      },
      toggle(): void {
        const blocks = chosenBlocks().flatMap((id) => now().document.blocks[id] ?? [])
        if (readOnly || blocks.length === 0) return
        const enabled = !blocks.some((block) => block.enabled ?? true)
        draft.perform({ kind: 'enable', ids: blocks.map(({ id }) => id), enabled })
      },
      selectAll(): void {
        const { document } = now()
        draft.select([
          ...Object.values(document.blocks)
            .filter(({ parentId }) => !parentId)
            .map(({ id }) => id),
          ...Object.keys(document.notes ?? {}),
        ])
      },
      tidy(): void {
        if (readOnly) return
        const { document } = now()
        draft.perform({ kind: 'move', to: autoLayout(document, measured()) })
        requestAnimationFrame(fit)
      },
      fit,
      zoomIn: () => void flow.zoomIn({ duration: 120 }),
      zoomOut: () => void flow.zoomOut({ duration: 120 }),
      undo: () => draft.undo(),
      redo: () => draft.redo(),
      /** Selects the next block in a direction: along connections sideways, otherwise by position. */
      walk(direction: 'left' | 'right' | 'up' | 'down'): void {
        const { document } = now()
        const [from] = chosenBlocks()
        const next = from === undefined ? firstBlock(document) : neighbour(document, from, direction)
        if (!next) return
        draft.select([next])
        focusNode(next)
        reveal(next)
      },
      goTo(id: string): void {
        draft.select([id])
        reveal(id)
      },
    }
  }, [draft, types, readOnly, flow, store, toast])
}

/**
 * How far something must move to fit within bounds plus some margin. If it is too large, its start is aligned with the
 * bounds.
 */
function shift(from: number, to: number, low: number, high: number): number {
  if (from < low + room || to - from > high - low - 2 * room)
    return from < low + room || to > high - room ? low + room - from : 0
  return to > high - room ? high - room - to : 0
}

/** Margin between a block and the edge of the canvas. */
const room = 40

function firstBlock({ blocks }: Document): string | undefined {
  const all = Object.values(blocks)
  return (all.find(isTrigger) ?? all[0])?.id
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
