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
import { isContainer, type Point } from '../document/document.ts'
import { freshId } from '../document/fresh-id.ts'
import type { Place } from '../document/new-block.ts'
import { withRoom } from '../document/push-neighbours.ts'
import { canConnect, connectionError, isLoose } from '../document/wiring.ts'
import { useEditing } from '../editing.tsx'
import { dragType, triggerDragType } from '../palette/palette.tsx'
import { dropTarget, moveEdits, spliceEdits } from './canvas-moves.ts'
import { type CanvasEdge, type CanvasNode, measuredSizes, nodesOf } from './canvas-nodes.ts'
import { cardWidth, containerAt, sizesOf } from './geometry.ts'
import { lineUnder } from './lines/line-under.ts'

/** The current state that the handlers work on. */
export type CanvasNow = {
  nodes: CanvasNode[]
  edges: CanvasEdge[]
  setNodes: Dispatch<SetStateAction<CanvasNode[]>>
  setEdges: Dispatch<SetStateAction<CanvasEdge[]>>
  /** Highlights the container that a dragged block would be dropped into. */
  setTarget: (id: string | null) => void
  /** Highlights the line that a dragged block would be put into. */
  setLine: (id: string | undefined) => void
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
    /** The line under a dragged unconnected block: under the pointer, or under the middle of its header. */
    const lineBelow = (id: string, pointer: Point): string | undefined => {
      const { document } = draft.state()
      const header = isLoose(document, id) && globalThis.document.querySelector(`[data-id="${CSS.escape(id)}"]`)
      if (readOnly || !header) return undefined
      const { x, y, width } = header.getBoundingClientRect()
      const found = lineUnder([pointer, { x: x + width / 2, y: y + 26 * flow.getZoom() }])
      return document.edges.some((edge) => edge.id === found) ? found : undefined
    }
    let line: string | undefined
    const aim = (found: string | undefined) => {
      if (found === line) return
      line = found
      latest.current.setLine(found)
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
        const [onEdge, [only, ...others]] = [line, moved]
        isDragging = false
        setTarget(null)
        aim(undefined)
        const { document } = draft.state()
        const known = sizes()
        const intoLine =
          wasDragged && onEdge && only && others.length === 0 ? spliceEdits(document, known, next, only, onEdge) : []
        const edits = intoLine.length > 0 ? intoLine : moveEdits(document, known, next, moved, wasDragged)
        draft.perform(withRoom(document, edits, known), wasDragged ? undefined : `push ${moved.join()}`)
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
      onNodeDrag(event: { clientX?: number; clientY?: number; touches?: TouchList }, node: Node, dragged: Node[]) {
        const { document } = draft.state()
        const { clientX = 0, clientY = 0 } = event.touches?.[0] ?? event
        const onEdge = dragged.length === 1 ? lineBelow(node.id, { x: clientX, y: clientY }) : undefined
        aim(onEdge)
        if (onEdge) return latest.current.setTarget(null)
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
        const at = { x: event.clientX, y: event.clientY }
        const isTriggerType = event.dataTransfer.types.includes(triggerDragType)
        aim(isTriggerType || readOnly ? undefined : lineUnder([at]))
        const point = flow.screenToFlowPosition(at)
        const into = isTriggerType || line ? null : containerAt(draft.state().document, sizes(), point, new Set())
        latest.current.setTarget(into)
      },
      onDragLeave(event: DragEvent) {
        if (event.relatedTarget instanceof Element && event.currentTarget.contains(event.relatedTarget)) return
        aim(undefined)
        latest.current.setTarget(null)
      },
      onDrop(event: DragEvent) {
        const type = event.dataTransfer.getData(dragType)
        const onEdge = line
        aim(undefined)
        latest.current.setTarget(null)
        if (!type || readOnly) return
        event.preventDefault()
        const pointer = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY })
        const point = { x: pointer.x - cardWidth / 2, y: pointer.y - 26 }
        if (onEdge) return latest.current.onAdd(type, { point, onEdge })
        const isTriggerType = event.dataTransfer.types.includes(triggerDragType)
        const parentId = isTriggerType ? null : containerAt(draft.state().document, sizes(), pointer, new Set())
        latest.current.onAdd(type, { point, parentId })
      },
      onPaneClick: () => draft.select([]),
      onPort: (from: { source: string; sourceHandle: string }, element: HTMLElement) => offer({ from }, element),
      onInsert: (onEdge: string, element: HTMLElement) => offer({ onEdge }, element),
    }
  }, [draft, readOnly, flow, toast])
}
