import {
  applyEdgeChanges,
  applyNodeChanges,
  type Connection,
  type EdgeChange,
  type IsValidConnection,
  type Node,
  type NodeChange,
  type OnConnectEnd,
  useReactFlow,
} from '@xyflow/react'
import { type Dispatch, type DragEvent, type SetStateAction, useMemo, useRef } from 'react'
import { useToast } from '../../parts/toast.tsx'
import { isContainer } from '../document/document.ts'
import { freshId } from '../document/fresh-id.ts'
import type { Place } from '../document/new-block.ts'
import { canConnect, connectionError } from '../document/wiring.ts'
import { useEditing } from '../editing.tsx'
import { dragType } from '../palette/palette.tsx'
import { dropTarget, moveEdits } from './canvas-moves.ts'
import { type CanvasEdge, type CanvasNode, measuredSizes, nodesOf } from './canvas-nodes.ts'
import { cardWidth, containerAt, sizesOf } from './geometry.ts'

/** The current state that the handlers work on. */
export type CanvasNow = {
  nodes: CanvasNode[]
  edges: CanvasEdge[]
  setNodes: Dispatch<SetStateAction<CanvasNode[]>>
  setEdges: Dispatch<SetStateAction<CanvasEdge[]>>
  /** Highlights the container that a dragged block would be dropped into. */
  setTarget: (id: string | null) => void
  onOffer: (place: Place, at: { x: number; y: number }) => void
  onAdd: (type: string, place: Place) => void
  onBlock: ((id: string) => void) | undefined
}

/**
 * The event handlers of the canvas. They keep their identity for its whole lifetime: a new handler would redraw every
 * block and line on each frame of a drag.
 */
export function useCanvasHandlers(now: CanvasNow) {
  const { draft, readOnly } = useEditing()
  const flow = useReactFlow()
  const toast = useToast()
  const latest = useRef(now)
  latest.current = now
  return useMemo(() => {
    let isDragging = false
    const start = () => {
      isDragging = true
    }
    const sizes = () => sizesOf(draft.state().document, measuredSizes(latest.current.nodes))
    const offer = (place: Place, element: HTMLElement) => {
      const { right, top } = element.getBoundingClientRect()
      if (!readOnly) latest.current.onOffer(place, { x: right + 12, y: top - 12 })
    }
    return {
      isDragging: () => isDragging,
      onNodeDragStart: start,
      onSelectionDragStart: start,
      onNodesChange(changes: NodeChange<CanvasNode>[]) {
        const { nodes, setNodes, setTarget } = latest.current
        let next = applyNodeChanges(changes, nodes)
        if (changes.some(({ type }) => type === 'select')) {
          const ids = next.filter((node) => node.selected).map(({ id }) => id)
          draft.select(ids, ids.length > 0 && !isDragging ? [] : draft.state().selectedEdges)
        }
        if (changes.some(({ type }) => type === 'dimensions') && !isDragging) {
          next = nodesOf(draft.state().document, next, draft.state().selected)
        }
        latest.current = { ...latest.current, nodes: next }
        setNodes(next)
        const moved = changes.flatMap((change) =>
          change.type === 'position' && change.dragging === false ? [change.id] : [],
        )
        if (moved.length === 0 || readOnly) return
        const wasDragged = isDragging
        isDragging = false
        setTarget(null)
        const { document } = draft.state()
        const edits = moveEdits(document, sizes(), next, moved, wasDragged)
        draft.perform(edits, wasDragged ? undefined : `push ${moved.join()}`)
        // Nodes that did not move in the end return to their position in the document.
        setNodes((before) => nodesOf(draft.state().document, before, draft.state().selected))
      },
      onEdgesChange(changes: EdgeChange<CanvasEdge>[]) {
        const next = applyEdgeChanges(changes, latest.current.edges)
        latest.current = { ...latest.current, edges: next }
        latest.current.setEdges(next)
        if (!changes.some(({ type }) => type === 'select')) return
        const ids = next.filter((edge) => edge.selected).map(({ id }) => id)
        draft.select(draft.state().selected, ids)
      },
      onNodeClick: (_: unknown, { id }: Node) => latest.current.onBlock?.(id),
      onNodeDrag(_: unknown, node: Node) {
        const { document } = draft.state()
        if (!Object.values(document.blocks).some(isContainer)) return
        const known = new Map(latest.current.nodes.map((one) => [one.id, one]))
        const found = dropTarget(document, sizes(), known, node.id)
        latest.current.setTarget(found === (document.blocks[node.id]?.parentId ?? null) ? null : found)
      },
      onConnect({ source, sourceHandle, target }: Connection) {
        draft.perform({ kind: 'connect', id: freshId(), source, sourceHandle: sourceHandle ?? 'source', target })
      },
      onConnectEnd: ((event, { fromHandle, fromNode, toNode, isValid }) => {
        if (readOnly || isValid || !fromHandle?.id || !fromNode || fromHandle.type !== 'source') return
        const from = { source: fromNode.id, sourceHandle: fromHandle.id }
        if (toNode && toNode.id !== fromNode.id && toNode.type !== 'note') {
          // Dropping a line anywhere on a block counts as dropping it on the input port.
          const proposed = { ...from, target: toNode.id }
          const reason = connectionError(draft.state().document, proposed)
          if (!reason) draft.perform({ kind: 'connect', id: freshId(), ...proposed })
          else if (toNode.type !== 'container') toast.show({ text: reason, tone: 'error' })
          if (!reason || toNode.type !== 'container') return
        }
        const pointer = 'changedTouches' in event ? event.changedTouches[0] : event
        if (!pointer || toNode?.id === fromNode.id) return
        const at = { x: pointer.clientX, y: pointer.clientY }
        const point = flow.screenToFlowPosition(at)
        latest.current.onOffer({ from, point: { x: point.x, y: point.y - 26 } }, at)
      }) satisfies OnConnectEnd as OnConnectEnd,
      isValidConnection: ((proposed) =>
        canConnect(draft.state().document, proposed)) satisfies IsValidConnection as IsValidConnection,
      onDragOver(event: DragEvent) {
        if (!event.dataTransfer.types.includes(dragType)) return
        event.preventDefault()
        event.dataTransfer.dropEffect = 'copy'
      },
      onDrop(event: DragEvent) {
        const type = event.dataTransfer.getData(dragType)
        if (!type || readOnly) return
        event.preventDefault()
        const pointer = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY })
        const parentId = containerAt(draft.state().document, sizes(), pointer, new Set())
        latest.current.onAdd(type, { point: { x: pointer.x - cardWidth / 2, y: pointer.y - 26 }, parentId })
      },
      onPaneClick: () => draft.select([]),
      onPort: (from: { source: string; sourceHandle: string }, element: HTMLElement) => offer({ from }, element),
      onInsert: (onEdge: string, element: HTMLElement) => offer({ onEdge }, element),
    }
  }, [draft, readOnly, flow, toast])
}
