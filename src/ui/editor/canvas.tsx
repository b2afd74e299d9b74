import {
  applyEdgeChanges,
  applyNodeChanges,
  Background,
  BackgroundVariant,
  type EdgeChange,
  MiniMap,
  type NodeChange,
  type OnConnectEnd,
  ReactFlow,
  useReactFlow,
} from '@xyflow/react'
import { type DragEvent, useCallback, useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react'
import { useToast } from '../parts/toast.tsx'
import { BlockCard } from './block-node.tsx'
import { dropTarget, moveEdits } from './canvas-moves.ts'
import { type CanvasEdge, type CanvasNode, edgesOf, measuredSizes, nodesOf } from './canvas-nodes.ts'
import { ContainerCard } from './container-node.tsx'
import { EdgeClick } from './edge-click.ts'
import { useEditing } from './editing.tsx'
import { FlowLine } from './flow-edge.tsx'
import { freshId } from './fresh-id.ts'
import { cardWidth, containerAt, gridSize, sizesOf } from './geometry.ts'
import type { Place } from './new-block.ts'
import { NoteCard } from './note-node.tsx'
import { dragType } from './palette.tsx'
import { PortClick } from './port-handle.tsx'
import { mayConnect, whyNot } from './wiring.ts'

const nodeTypes = { block: BlockCard, container: ContainerCard, note: NoteCard }
const edgeTypes = { flow: FlowLine }

/** The workflow as it is drawn. All it changes it changes by edits of the draft. */
export function Canvas({
  onOffer,
  onAdd,
  showMap,
}: {
  /** Offers blocks for a place, at a point of the page. */
  onOffer: (place: Place, at: { x: number; y: number }) => void
  onAdd: (type: string, place: Place) => void
  showMap: boolean
}) {
  const { draft, readOnly } = useEditing()
  const state = useSyncExternalStore(draft.watch, draft.state)
  const { document, selected, selectedEdges } = state
  const [nodes, setNodes] = useState<CanvasNode[]>(() => nodesOf(document, [], selected))
  const [edges, setEdges] = useState<CanvasEdge[]>(() => edgesOf(document, [], selectedEdges))
  const dragging = useRef(false)
  const flow = useReactFlow()
  const toast = useToast()
  const [target, setTarget] = useState<string | null>(null)

  useLayoutEffect(() => {
    if (!dragging.current) setNodes((before) => nodesOf(document, before, selected))
    setEdges((before) => edgesOf(document, before, selectedEdges))
  }, [document, selected, selectedEdges])

  const onNodesChange = useCallback(
    (changes: NodeChange<CanvasNode>[]) => {
      let next = applyNodeChanges(changes, nodes)
      if (changes.some(({ type }) => type === 'select')) {
        const ids = next.filter((node) => node.selected).map(({ id }) => id)
        draft.select(ids, ids.length > 0 && !dragging.current ? [] : draft.state().selectedEdges)
      }
      if (changes.some(({ type }) => type === 'dimensions') && !dragging.current) {
        next = nodesOf(draft.state().document, next, draft.state().selected)
      }
      setNodes(next)
      const moved = changes.flatMap((change) =>
        change.type === 'position' && change.dragging === false ? [change.id] : [],
      )
      if (moved.length === 0 || readOnly) return
      const wasDragged = dragging.current
      dragging.current = false
      setTarget(null)
      const now = draft.state().document
      const edits = moveEdits(now, sizesOf(now, measuredSizes(next)), next, moved, wasDragged)
      draft.perform(edits, wasDragged ? undefined : `push ${moved.join()}`)
      // What was not moved after all goes back to where the document has it.
      setNodes((before) => nodesOf(draft.state().document, before, draft.state().selected))
    },
    [nodes, draft, readOnly],
  )
  const onEdgesChange = useCallback(
    (changes: EdgeChange<CanvasEdge>[]) => {
      const next = applyEdgeChanges(changes, edges)
      setEdges(next)
      if (changes.some(({ type }) => type === 'select')) {
        draft.select(
          draft.state().selected,
          next.filter((edge) => edge.selected).map(({ id }) => id),
        )
      }
    },
    [edges, draft],
  )
  const onConnectEnd: OnConnectEnd = (event, connection) => {
    const { fromHandle, fromNode, toNode, isValid } = connection
    if (readOnly || isValid || !fromHandle?.id || !fromNode || fromHandle.type !== 'source') return
    const from = { source: fromNode.id, sourceHandle: fromHandle.id }
    if (toNode && toNode.id !== fromNode.id && toNode.type !== 'note') {
      // Dropped on the block and not on its small way in: that is what was meant.
      const wish = { ...from, target: toNode.id }
      const reason = whyNot(document, wish)
      if (!reason) draft.perform({ kind: 'connect', id: freshId(), ...wish })
      else if (toNode.type !== 'container') toast.show({ text: reason, tone: 'error' })
      if (!reason || toNode.type !== 'container') return
    }
    const pointer = 'changedTouches' in event ? event.changedTouches[0] : event
    if (!pointer || toNode?.id === fromNode.id) return
    const at = { x: pointer.clientX, y: pointer.clientY }
    const point = flow.screenToFlowPosition(at)
    onOffer({ from, point: { x: point.x, y: point.y - 26 } }, at)
  }
  const onDrop = (event: DragEvent) => {
    const type = event.dataTransfer.getData(dragType)
    if (!type || readOnly) return
    event.preventDefault()
    const pointer = flow.screenToFlowPosition({ x: event.clientX, y: event.clientY })
    const parentId = containerAt(document, sizesOf(document, measuredSizes(nodes)), pointer, new Set())
    onAdd(type, { point: { x: pointer.x - cardWidth / 2, y: pointer.y - 26 }, parentId })
  }
  const offerAt = (place: Place) => (element: HTMLElement) => {
    const { right, top } = element.getBoundingClientRect()
    onOffer(place, { x: right + 12, y: top - 12 })
  }
  return (
    <PortClick value={(from, element) => readOnly || offerAt({ from })(element)}>
      <EdgeClick value={(onEdge, element) => readOnly || offerAt({ onEdge })(element)}>
        <ReactFlow
          nodes={
            target === null
              ? nodes
              : nodes.map((node) => (node.id === target ? { ...node, className: 'drop-target' } : node))
          }
          edges={edges}
          nodeTypes={nodeTypes}
          edgeTypes={edgeTypes}
          onNodesChange={onNodesChange}
          onEdgesChange={onEdgesChange}
          onNodeDragStart={() => {
            dragging.current = true
          }}
          onSelectionDragStart={() => {
            dragging.current = true
          }}
          onNodeDrag={(_, node) => {
            const known = new Map(nodes.map((one) => [one.id, one]))
            const found = dropTarget(document, sizesOf(document, measuredSizes(nodes)), known, node.id)
            setTarget(found === (document.blocks[node.id]?.parentId ?? null) ? null : found)
          }}
          onConnect={({ source, sourceHandle, target: to }) =>
            draft.perform({
              kind: 'connect',
              id: freshId(),
              source,
              sourceHandle: sourceHandle ?? 'source',
              target: to,
            })
          }
          onConnectEnd={onConnectEnd}
          isValidConnection={(wish) => mayConnect(document, wish)}
          onDragOver={(event) => {
            if (!event.dataTransfer.types.includes(dragType)) return
            event.preventDefault()
            event.dataTransfer.dropEffect = 'copy'
          }}
          onDrop={onDrop}
          onPaneClick={() => draft.select([])}
          nodesDraggable={!readOnly}
          nodesConnectable={!readOnly}
          deleteKeyCode={null}
          multiSelectionKeyCode={['Shift', 'Meta', 'Control']}
          selectionKeyCode="Shift"
          snapToGrid
          snapGrid={[gridSize, gridSize]}
          connectionRadius={26}
          minZoom={0.1}
          maxZoom={2}
          fitView
          fitViewOptions={fitOptions}
          zoomOnDoubleClick={false}
          panOnScroll
          proOptions={{ hideAttribution: true }}
          aria-label="Canvas"
        >
          <Background variant={BackgroundVariant.Dots} gap={20} size={1.2} color="var(--line-strong)" />
          {showMap && <MiniMap pannable zoomable className="map" ariaLabel="Map of the canvas" />}
        </ReactFlow>
      </EdgeClick>
    </PortClick>
  )
}

export const fitOptions = { padding: 0.18, maxZoom: 1, duration: 200 }
