import { MiniMap, ReactFlow, useStore } from '@xyflow/react'
import { useLayoutEffect, useRef, useState, useSyncExternalStore } from 'react'
import { BlockCard } from './block-node.tsx'
import { type CanvasNow, useCanvasHandlers } from './canvas-handlers.ts'
import { type CanvasEdge, type CanvasNode, edgesOf, nodesOf } from './canvas-nodes.ts'
import { ContainerCard } from './container-node.tsx'
import { DotGrid } from './dot-grid.tsx'
import { EdgeClick } from './edge-click.ts'
import { useEditing } from './editing.tsx'
import { fitOptions } from './fit-options.ts'
import { FlowLine } from './flow-edge.tsx'
import { gridSize } from './geometry.ts'
import { NoteCard } from './note-node.tsx'
import { openingBlocks } from './opening-view.ts'
import { PortClick } from './port-handle.tsx'

/** The workflow as it is drawn. All it changes it changes by edits of the draft. */
export function Canvas({
  onOffer,
  onAdd,
  onBlock,
  showMap,
}: {
  /** Offers blocks for a place, at a point of the page. */
  onOffer: CanvasNow['onOffer']
  onAdd: CanvasNow['onAdd']
  /** A block was clicked, not dragged. */
  onBlock?: (id: string) => void
  showMap: boolean
}) {
  const { draft, readOnly } = useEditing()
  const { document, selected, selectedEdges } = useSyncExternalStore(draft.watch, draft.state)
  const [nodes, setNodes] = useState<CanvasNode[]>(() => nodesOf(document, [], selected))
  const [edges, setEdges] = useState<CanvasEdge[]>(() => edgesOf(document, [], selectedEdges))
  const [target, setTarget] = useState<string | null>(null)
  const root = useRef<HTMLDivElement>(null)
  const [opening] = useState(() => {
    const nodes = openingBlocks(document, {
      width: innerWidth < 768 ? innerWidth : innerWidth - 280,
      height: innerHeight - 140,
    })
    return { ...fitOptions, duration: 0, ...(nodes ? { nodes: nodes.map((id) => ({ id })) } : {}) }
  })
  const isFar = useStore(({ transform }) => transform[2] < farBelow)
  const { isDragging, onPort, onInsert, ...handlers } = useCanvasHandlers({
    ...{ nodes, edges, setNodes, setEdges, setTarget, onOffer, onAdd, onBlock },
  })
  useLayoutEffect(() => {
    if (!isDragging()) setNodes((before) => nodesOf(document, before, selected))
    setEdges((before) => edgesOf(document, before, selectedEdges))
  }, [document, selected, selectedEdges, isDragging])
  const shown =
    target === null ? nodes : nodes.map((node) => (node.id === target ? { ...node, className: 'drop-target' } : node))
  return (
    <PortClick value={onPort}>
      <EdgeClick value={onInsert}>
        <ReactFlow
          ref={root}
          className={isFar ? 'far' : ''}
          nodes={shown}
          edges={edges}
          {...handlers}
          {...settings}
          fitViewOptions={opening}
          onMove={() => root.current?.classList.add('moving')}
          onMoveEnd={() => root.current?.classList.remove('moving')}
          nodesDraggable={!readOnly}
          nodesConnectable={!readOnly}
          aria-label="Canvas"
        >
          <DotGrid />
          {showMap && <MiniMap pannable zoomable className="map" ariaLabel="Map of the canvas" />}
        </ReactFlow>
      </EdgeClick>
    </PortClick>
  )
}

/** The zoom below which nobody can read what stands on cards: it is not drawn then. */
const farBelow = 0.4

/** Outside, so that they are the same objects each time: the canvas looks at whether they are. */
const settings = {
  nodeTypes: { block: BlockCard, container: ContainerCard, note: NoteCard },
  edgeTypes: { flow: FlowLine },
  deleteKeyCode: null,
  multiSelectionKeyCode: ['Shift', 'Meta', 'Control'],
  selectionKeyCode: 'Shift',
  snapToGrid: true,
  snapGrid: [gridSize, gridSize] as [number, number],
  connectionRadius: 26,
  minZoom: 0.1,
  maxZoom: 2,
  // Moving blocks about is no look into them: the inspector comes with a click.
  selectNodesOnDrag: false,
  fitView: true,
  zoomOnDoubleClick: false,
  panOnScroll: true,
  proOptions: { hideAttribution: true },
}
