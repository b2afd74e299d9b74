import { BaseEdge, EdgeLabelRenderer, type EdgeProps, getBezierPath } from '@xyflow/react'
import { Plus, Trash2 } from 'lucide-react'
import { memo, useContext, useState, useSyncExternalStore } from 'react'
import { classes } from '../../parts/class-names.ts'
import { useEditing } from '../editing.tsx'
import type { CanvasEdge } from './canvas-nodes.ts'
import { EdgeClick } from './edge-click.ts'

/**
 * A connection. During a run it shows whether the run took it. On hover it offers to insert a block or to remove it.
 */
export const FlowLine = memo(function FlowLine(props: EdgeProps<CanvasEdge>) {
  const { id, source, target, sourceX, sourceY, targetX, targetY, sourcePosition, targetPosition, selected, data } =
    props
  const { draft, run, readOnly } = useEditing()
  const onInsert = useContext(EdgeClick)
  const [isPointed, setIsPointed] = useState(false)
  const state = useSyncExternalStore(run.watch, () => {
    const { blocks, phase } = run.state()
    if (phase === 'idle') return 'idle'
    const [from, to] = [blocks.get(source)?.status, blocks.get(target)?.status]
    if (to === 'running') return 'flowing'
    const isTaken = from !== undefined && from !== 'skipped' && to !== undefined && to !== 'skipped'
    return isTaken ? 'taken' : 'quiet'
  })
  const ends = { sourceX, sourceY, targetX, targetY, sourcePosition, targetPosition }
  const [path, labelX, labelY] = getBezierPath({ ...ends, curvature: 0.3 })
  return (
    // The buttons are rendered in a portal, but their events bubble up to this element, so hovering them keeps the line
    // active.
    <g onPointerEnter={() => setIsPointed(true)} onPointerLeave={() => setIsPointed(false)}>
      <BaseEdge
        id={id}
        path={path}
        interactionWidth={22}
        className={classes(
          'flow-line',
          data?.handle === 'error' && 'flow-error',
          selected && 'flow-selected',
          `flow-${state}`,
        )}
      />
      {!readOnly && (isPointed || selected) && (
        <EdgeLabelRenderer>
          <div
            style={{ transform: `translate(-50%, -50%) translate(${labelX}px, ${labelY}px)` }}
            className="edge-tools nodrag nopan"
          >
            <button
              type="button"
              aria-label="Insert block"
              title="Insert block"
              onClick={(event) => onInsert(id, event.currentTarget)}
            >
              <Plus size={13} />
            </button>
            <button
              type="button"
              aria-label="Remove connection"
              title="Remove connection"
              onClick={() => draft.perform({ kind: 'remove', edges: [id] })}
            >
              <Trash2 size={12} />
            </button>
          </div>
        </EdgeLabelRenderer>
      )}
    </g>
  )
})
