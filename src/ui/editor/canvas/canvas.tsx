import { MiniMap, ReactFlow, useStore } from '@xyflow/react'
import { useEffect, useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react'
import { useEditing } from '../editing.tsx'
import { BlockCard } from './block-node.tsx'
import { type CanvasNow, useCanvasHandlers } from './canvas-handlers.ts'
import { type CanvasEdge, type CanvasNode, edgesOf, nodesOf } from './canvas-nodes.ts'
import { ContainerCard } from './container-node.tsx'
import { DotGrid } from './dot-grid.tsx'
import { EdgeClick } from './edge-click.ts'
import { FlowLine } from './flow-edge.tsx'
import { gridSize, type Size } from './geometry.ts'
import { NoteCard } from './note-node.tsx'
import { openingView, zoomLeast } from './opening-view.ts'
import { PortClick } from './port-handle.tsx'
import { useProgressiveNodes } from './progressive-nodes.ts'

type CanvasProps = {
  /** Offers blocks for a place, at a point on the page. */
  onOffer: CanvasNow['onOffer']
  onAdd: CanvasNow['onAdd']
  /** Called when a block is clicked, but not when it is dragged. */
  onBlock?: (id: string) => void
  showMap: boolean
  /** Called when the whole workflow is drawn. */
  onWhole?: () => void
}

/** The canvas with the workflow. It changes the document only through edits of the draft. */
export function Canvas(props: CanvasProps) {
  const box = useRef<HTMLDivElement>(null)
  const [size, setSize] = useState<Size>()
  // The first viewport depends on the size of the canvas.
  useLayoutEffect(() => {
    const { clientWidth, clientHeight } = box.current!
    setSize({ width: clientWidth || innerWidth, height: clientHeight || innerHeight })
  }, [])
  return (
    <div ref={box} className="h-full w-full">
      {size && <Flow {...props} size={size} />}
    </div>
  )
}

function Flow({ onOffer, onAdd, onBlock, showMap, onWhole, size }: CanvasProps & { size: Size }) {
  const { draft, readOnly } = useEditing()
  const { document, selected, selectedEdges } = useSyncExternalStore(draft.watch, draft.state)
  const [nodes, setNodes] = useState<CanvasNode[]>(() => nodesOf(document, [], selected))
  const [edges, setEdges] = useState<CanvasEdge[]>(() => edgesOf(document, [], selectedEdges))
  const [target, setTarget] = useState<string | null>(null)
  const root = useRef<HTMLDivElement>(null)
  const [view] = useState(() => openingView(document, size))
  const isFar = useStore(({ transform }) => transform[2] < farBelow)
  const { isDragging, onPort, onInsert, ...handlers } = useCanvasHandlers({
    ...{ nodes, edges, setNodes, setEdges, setTarget, onOffer, onAdd, onBlock },
  })
  useLayoutEffect(() => {
    if (!isDragging()) setNodes((before) => nodesOf(document, before, selected))
    setEdges((before) => edgesOf(document, before, selectedEdges))
  }, [document, selected, selectedEdges, isDragging])
  const drawn = useProgressiveNodes({ nodes, edges, document, selected }, view, size)
  useEffect(() => {
    if (drawn.isDone) onWhole?.()
  }, [drawn.isDone, onWhole])
  const shown =
    target === null
      ? drawn.nodes
      : drawn.nodes.map((node) => (node.id === target ? { ...node, className: 'drop-target' } : node))
  return (
    <PortClick value={onPort}>
      <EdgeClick value={onInsert}>
        <ReactFlow
          ref={root}
          className={isFar ? 'far' : ''}
          nodes={shown}
          edges={drawn.edges}
          {...handlers}
          {...settings}
          defaultViewport={view}
          onMove={() => root.current?.classList.add('moving')}
          onMoveEnd={() => root.current?.classList.remove('moving')}
          nodesDraggable={!readOnly}
          nodesConnectable={!readOnly}
          aria-label="Canvas"
        >
          <DotGrid />
          {showMap && <MiniMap pannable zoomable className="map" ariaLabel="Minimap" />}
        </ReactFlow>
      </EdgeClick>
    </PortClick>
  )
}

/** Below this zoom level, text on cards is unreadable and is not drawn. */
const farBelow = 0.4

/** Defined outside the component, because React Flow compares these objects by identity. */
const settings = {
  nodeTypes: { block: BlockCard, container: ContainerCard, note: NoteCard },
  edgeTypes: { flow: FlowLine },
  deleteKeyCode: null,
  multiSelectionKeyCode: ['Shift', 'Meta', 'Control'],
  selectionKeyCode: 'Shift',
  snapToGrid: true,
  snapGrid: [gridSize, gridSize] as [number, number],
  connectionRadius: 26,
  minZoom: zoomLeast,
  maxZoom: 2,
  // Dragging a block does not select it; the inspector opens on click only.
  selectNodesOnDrag: false,
  zoomOnDoubleClick: false,
  panOnScroll: true,
  proOptions: { hideAttribution: true },
}
