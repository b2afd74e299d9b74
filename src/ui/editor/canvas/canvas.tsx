import { MiniMap, ReactFlow, useStore } from '@xyflow/react'
import {
  type CSSProperties,
  type ReactNode,
  startTransition,
  useDeferredValue,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'
import { useEditing } from '../editing.tsx'
import { BlockCard } from './block-node.tsx'
import { type CanvasNow, useCanvasHandlers } from './canvas-handlers.ts'
import { type CanvasEdge, type CanvasNode, edgesOf, nodesOf } from './canvas-nodes.ts'
import { ContainerCard } from './container-node.tsx'
import { DotGrid } from './dot-grid.tsx'
import { gridSize, type Size } from './geometry.ts'
import { EdgeClick } from './lines/edge-click.ts'
import { FlowLine } from './lines/flow-line.tsx'
import { PointedLine, PointedLineContext } from './lines/pointed-line.ts'
import { NoteCard } from './notes/note-node.tsx'
import { openingView, zoomLeast } from './opening-view.ts'
import { PortClick } from './port-handle.tsx'
import { useTabOrder } from './view/tab-order.ts'
import { enlargementAt, IsFar, zoomLevelAt } from './view/zoom-level.ts'

type CanvasProps = {
  /** Offers blocks for a place, at a point on the page. */
  onOffer: CanvasNow['onOffer']
  onAdd: CanvasNow['onAdd']
  /** Called when a block is clicked, but not when it is dragged. */
  onBlock?: (id: string) => void
  showMap: boolean
  /** Called when the blocks in view are drawn. */
  onDrawn?: () => void
  /** Shown above the blocks, which can still be dropped there. */
  children?: ReactNode
}

/** The canvas with the workflow. It changes the document only through edits of the draft. */
export function Canvas(props: CanvasProps) {
  const box = useRef<HTMLDivElement>(null)
  const [size, setSize] = useState<Size>()
  // The first viewport depends on the size of the canvas. A large workflow is rendered in slices of a few milliseconds,
  // after the panels around it.
  useLayoutEffect(() => {
    const { clientWidth, clientHeight } = box.current!
    startTransition(() => setSize({ width: clientWidth || innerWidth, height: clientHeight || innerHeight }))
  }, [])
  return (
    <div ref={box} className="h-full w-full">
      {size && <Flow {...props} size={size} />}
    </div>
  )
}

function Flow({ onOffer, onAdd, onBlock, showMap, onDrawn, children, size }: CanvasProps & { size: Size }) {
  const { draft, portions, readOnly } = useEditing()
  const { document, selected, selectedEdges } = useSyncExternalStore(draft.watch, draft.state)
  const [nodes, setNodes] = useState<CanvasNode[]>(() => nodesOf(document, [], selected))
  const [edges, setEdges] = useState<CanvasEdge[]>(() => edgesOf(document, [], selectedEdges))
  const [target, setTarget] = useState<string | null>(null)
  const [line, setLine] = useState<string>()
  const [pointed] = useState(() => new PointedLine())
  const held = useSyncExternalStore(portions.watch, portions.held)
  const root = useRef<HTMLDivElement>(null)
  const [view] = useState(() => openingView(document, size))
  const level = useStore(({ transform }) => zoomLevelAt(transform[2]))
  const enlargement = useStore(({ transform }) => enlargementAt(transform[2]))
  const wantsFar = level !== 'near' && level !== 'middle'
  // Many cards may come into view at once when the canvas becomes smaller: small cards at once, full ones in between.
  const wasFar = useDeferredValue(wantsFar)
  const isFar = wantsFar || wasFar
  const scale = useMemo(() => ({ '--enlargement': enlargement }) as CSSProperties, [enlargement])
  useTabOrder()
  const { isDragging, onPort, onInsert, ...handlers } = useCanvasHandlers({
    ...{ nodes, edges, setNodes, setEdges, setTarget, setLine, onOffer, onAdd, onBlock },
  })
  useLayoutEffect(() => {
    if (!isDragging()) setNodes((before) => unlessSame(before, nodesOf(document, before, selected)))
    setEdges((before) => unlessSame(before, edgesOf(document, before, selectedEdges)))
  }, [document, selected, selectedEdges, isDragging])
  useEffect(() => {
    const frame = requestAnimationFrame(() => onDrawn?.())
    return () => cancelAnimationFrame(frame)
  }, [onDrawn])
  const drawn = useMemo(
    () => (held.size === 0 ? nodes : nodes.map((node) => (held.has(node.id) ? { ...node, hidden: true } : node))),
    [held, nodes],
  )
  const shown =
    target === null ? drawn : drawn.map((node) => (node.id === target ? { ...node, className: 'drop-target' } : node))
  const lines = useMemo(() => {
    const drawn = held.size === 0 ? edges : edges.filter(({ source, target }) => !held.has(source) && !held.has(target))
    return line === undefined
      ? drawn
      : drawn.map((edge) => (edge.id === line ? { ...edge, className: 'drop-line' } : edge))
  }, [held, line, edges])
  return (
    <PortClick value={onPort}>
      <EdgeClick value={onInsert}>
        <PointedLineContext value={pointed}>
          <IsFar value={isFar}>
            <ReactFlow
              ref={root}
              className={level}
              style={scale}
              nodes={shown}
              edges={lines}
              {...handlers}
              {...settings}
              defaultViewport={view}
              onPaneMouseMove={({ target }) => {
                if (target instanceof Element && !target.closest('.react-flow__edge, .line-tools'))
                  pointed.enter(undefined)
              }}
              onMove={() => root.current?.classList.add('moving')}
              onMoveEnd={() => root.current?.classList.remove('moving')}
              nodesDraggable={!readOnly}
              nodesConnectable={!readOnly}
              aria-label="Canvas"
            >
              <DotGrid />
              {showMap && <MiniMap pannable zoomable className="map" ariaLabel="Minimap" />}
              {children}
            </ReactFlow>
          </IsFar>
        </PointedLineContext>
      </EdgeClick>
    </PortClick>
  )
}

/** A new list would be compared with the previous one item by item, also when the canvas was only just opened. */
function unlessSame<Item>(before: Item[], after: Item[]): Item[] {
  return before.length === after.length && after.every((item, at) => item === before[at]) ? before : after
}

/** Defined outside the component, because React Flow compares these objects by identity. */
const settings = {
  // Large workflows would be slow to draw and to move. Sizes and ports are computed, so that lines to blocks that are
  // out of view are right.
  onlyRenderVisibleElements: true,
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
