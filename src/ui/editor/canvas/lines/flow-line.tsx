import { BaseEdge, type EdgeProps, getBezierPath, getSmoothStepPath } from '@xyflow/react'
import { memo, useSyncExternalStore } from 'react'
import { classes } from '../../../parts/class-names.ts'
import { useEditing } from '../../editing.tsx'
import type { CanvasEdge } from '../canvas-nodes.ts'
import { lineCount } from './line-count.ts'
import { LineTools } from './line-tools.tsx'
import { usePointed } from './pointed-line.ts'

/**
 * A connection. During a run it shows whether the run took it. On hover it offers to insert a block or to remove it.
 */
export const FlowLine = memo(function FlowLine(props: EdgeProps<CanvasEdge>) {
  const { id, source, target, sourceX, sourceY, targetX, targetY, sourcePosition, targetPosition, selected, data } =
    props
  const { run, draft, readOnly } = useEditing()
  const [isPointed, pointed] = usePointed(id)
  const state = useSyncExternalStore(run.watch, () => {
    const { blocks, phase } = run.state()
    if (phase === 'idle') return 'idle'
    const [from, to] = [blocks.get(source)?.status, blocks.get(target)?.status]
    if (to === 'running') return 'flowing'
    const isTaken = from !== undefined && from !== 'skipped' && to !== undefined && to !== 'skipped'
    return isTaken ? 'taken' : 'quiet'
  })
  const count = useSyncExternalStore(run.watch, () => {
    const { blocks, phase } = run.state()
    if (phase === 'idle') return undefined
    const isOnly = () => draft.state().document.edges.filter((edge) => edge.target === target).length === 1
    const counted = lineCount({ from: blocks.get(source), to: blocks.get(target), handle: data?.handle ?? '', isOnly })
    return counted && `${counted.text} ${counted.title}`
  })
  const ends = { sourceX, sourceY, targetX, targetY, sourcePosition, targetPosition }
  // A line back to the left, such as to the next row of a long layout, goes around the blocks.
  const isBack = targetX < sourceX - 60 && data?.handle !== 'error'
  const [path, x, y] = isBack
    ? getSmoothStepPath({ ...ends, borderRadius: 14, offset: 24 })
    : getBezierPath({ ...ends, curvature: 0.3 })
  // The direction of the line in its middle.
  const along = isBack ? { x: 1, y: 0 } : { x: targetX - sourceX, y: 2 * (targetY - sourceY) }
  return (
    // The buttons are rendered in a portal, but their events bubble up to this element, so hovering them keeps the line
    // active.
    <g onPointerEnter={() => pointed.enter(id)} onPointerLeave={() => pointed.leave(id)}>
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
      {count && !isPointed && !selected && (
        <text x={x} y={y} className="line-count">
          <title>{count.slice(count.indexOf(' ') + 1)}</title>
          {count.slice(0, count.indexOf(' '))}
        </text>
      )}
      {!readOnly && (isPointed || selected) && <LineTools {...{ id, x, y, along, isPointed }} />}
    </g>
  )
})
